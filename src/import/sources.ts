import { explainSyntax, SyntaxProblem } from '../core/error.js';
import { parseJson } from '../core/json.js';
import { isId } from '../core/schema.js';
import { isObject, plural, sha256 } from '../core/text.js';
import { FRONTMATTER, readYaml } from '../core/yaml.js';

export interface Taken {
  notes: Section[];
  tasks: Task[];
  /** Number of tasks that are done, deferred, or without an id or a title. forge has no evidence for a done one. */
  skipped: number;
  /** The lines that cannot be read. The others are taken. */
  problem?: string | undefined;
}

export interface Section {
  text: string;
  /** If the text does not begin with its heading: the task's id, or '' without a heading. */
  section?: string;
}

export interface Task {
  id: string;
  name: string;
  description: string;
  /** In the words of its tool. */
  status: string;
  blockedBy: string[];
  /** 1 (most urgent) to 4. */
  priority?: number | undefined;
}

const SKIPPED = new Set(['closed', 'tombstone', 'done', 'completed', 'cancelled', 'deferred']);
const STARTED = new Set(['in_progress', 'in-progress', 'in progress']);

/** The status of its feature, if it has another one than a new feature. */
export function statusOf({ status, blockedBy }: Task): 'in_progress' | 'blocked' | undefined {
  if (STARTED.has(status.toLowerCase())) return 'in_progress';
  return status.toLowerCase() === 'blocked' && blockedBy.length === 0 ? 'blocked' : undefined;
}

/** A tool to import from. `files`: paths in the project; a * in a file's name matches anything. */
export interface Source {
  name: string;
  files: readonly string[];
  read: (text: string) => Taken;
}

type Fields = Readonly<Record<string, unknown>>;

/** Longer sections are split between paragraphs. */
const MAX_NOTE = 2000;

/** In the order of the preview. Formats as of 2026: Cline's memory bank, beads 0.2x, Task Master 0.2x, Backlog.md 1.x. */
export const SOURCES: readonly Source[] = [
  { name: 'claude', files: ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'], read: readMarkdown },
  { name: 'agents', files: ['AGENTS.md'], read: readMarkdown },
  { name: 'gemini', files: ['GEMINI.md'], read: readMarkdown },
  { name: 'cursor', files: ['.cursor/rules/*.mdc', '.cursorrules'], read: readCursor },
  { name: 'progress', files: ['claude-progress.txt', 'claude-progress.md'], read: readMarkdown },
  { name: 'features', files: ['feature_list.json'], read: readFeatureList },
  { name: 'memory-bank', files: ['memory-bank/*.md', '.memory-bank/*.md'], read: readMarkdown },
  { name: 'beads', files: ['.beads/issues.jsonl', '.beads/beads.jsonl'], read: readBeads },
  { name: 'task-master', files: ['.taskmaster/tasks/tasks.json', 'tasks/tasks.json'], read: readTaskMaster },
  { name: 'backlog', files: ['backlog/tasks/*.md'], read: readBacklog },
];

/** Its fields are no YAML: a glob begins with `*`. A value may go on in indented lines or items. */
function readCursor(text: string): Taken {
  const [, fields = '', body = text] = FRONTMATTER.exec(text) ?? [];
  const read = (name: string, separator: string): string => {
    const [, value = ''] = new RegExp(`^${name}:(.*(?:\\r?\\n[ \\t-].*)*)`, 'm').exec(fields) ?? [];
    const lines = value.split('\n').map((line) => line.replace(/^\s*(?:- +)?["'[]*|["'\],]*\s*$/g, ''));
    return lines.filter((line) => !/^(?:[>|][-+]?)?$/.test(line)).join(separator);
  };
  const globs = read('globs', ', ').replaceAll(/["']/g, '');
  return readMarkdown(body, [globs && `For ${globs}`, read('description', ' ')].filter(Boolean).join(': '));
}

/** One note per section, with its headings, then the scope. Skips forge's own block, comments and `@path` imports. */
export function readMarkdown(text: string, scope = ''): Taken {
  const notes: Section[] = [];
  const path: string[] = [];
  let body: string[] = [];
  let fence = '';
  const close = (): void => {
    const content = body.join('\n').trim();
    body = [];
    if (content === '') return;
    const heading = path.filter(Boolean).join(' › ');
    const section = heading === '' ? { section: '' } : {};
    for (const part of parts(content))
      notes.push({ text: [heading, scope, part].filter(Boolean).join('\n\n'), ...section });
  };
  for (const line of stripComments(text.replaceAll('\r\n', '\n')).split('\n')) {
    const [, ticks] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    if (ticks && (fence === '' || ticks.startsWith(fence))) fence = fence === '' ? ticks : '';
    const [, level, title] = fence === '' ? (/^(#{1,6})\s+(.+?)(?:\s+#+)?\s*$/.exec(line) ?? []) : [];
    if (level === undefined || title === undefined) {
      body.push(line);
      continue;
    }
    close();
    path.length = level.length - 1;
    path[level.length - 1] = title;
  }
  close();
  return { notes, tasks: [], skipped: 0 };
}

const stripComments = (text: string): string =>
  text.replaceAll(/<!--[\s\S]*?-->/g, '').replaceAll(/^@\S+$/gm, '');

/** Joins paragraphs up to the maximum length of a note. */
function parts(text: string): string[] {
  const found: string[] = [];
  for (const paragraph of text.split(/\n{2,}/)) {
    const last = found.at(-1);
    if (last !== undefined && last.length + paragraph.length + 2 <= MAX_NOTE)
      found[found.length - 1] = `${last}\n\n${paragraph}`;
    else found.push(...(paragraph.match(new RegExp(`[\\s\\S]{1,${MAX_NOTE}}`, 'gu')) ?? []));
  }
  return found.map((part) => part.trim()).filter(Boolean);
}

/** `[{category, description, steps[], passes}]` of Anthropic's harness. A passing feature still has to be verified here. */
function readFeatureList(text: string): Taken {
  const value = parseJson(text);
  return collect(
    rowsOf(Array.isArray(value) ? value : fieldsOf(value)['features']).map((row, index) => ({
      id: word(row['id']) || `FL-${index + 1}`,
      name: word(row['name']) || word(row['description']),
      description: wordsOf(row['steps'])
        .map((step) => `- ${step}`)
        .join('\n'),
      status: row['passes'] === true ? 'in_progress' : '',
      blockedBy: [],
    })),
  );
}

function readBeads(text: string): Taken {
  const broken: string[] = [];
  const rows = text.split('\n').flatMap((line, index) => {
    try {
      return line.trim() === '' ? [] : [fieldsOf(parseJson(line))];
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      broken.push(`line ${index + 1}: ${error.message}`);
      return [];
    }
  });
  const waits = new Map<string, string[]>();
  for (const row of rows)
    for (const { type, depends_on_id } of rowsOf(row['dependencies'])) {
      const ids = [word(row['id']), word(depends_on_id)];
      // An epic waits for its children.
      const [from = '', to = ''] = type === 'parent-child' ? ids.reverse() : ids;
      if (type === 'blocks' || type === 'parent-child') waits.set(from, [...(waits.get(from) ?? []), to]);
    }
  const titled = (title: string, text: string): string => (text === '' ? '' : `${title}: ${text}`);
  const taken = collect(
    rows.map((row) => ({
      id: word(row['id']),
      name: word(row['title']),
      description: [
        word(row['description']),
        ...['design', 'acceptance_criteria', 'notes'].map((field) =>
          titled(field.replace('_', ' '), word(row[field])),
        ),
        ...rowsOf(row['comments']).map(({ text }) => titled('comment', word(text))),
      ]
        .filter(Boolean)
        .join('\n\n'),
      status: word(row['status']),
      blockedBy: waits.get(word(row['id'])) ?? [],
      // Beads counts from 0 to 4.
      priority: typeof row['priority'] === 'number' ? row['priority'] + 1 : undefined,
    })),
  );
  const more = broken.length > 1 ? ` (and ${plural(broken.length - 1, 'more line')})` : '';
  return { ...taken, problem: broken[0] && broken[0] + more };
}

/** `{tasks: […]}`, or one such list per tag. Subtasks become tasks. */
function readTaskMaster(text: string): Taken {
  const value = fieldsOf(parseJson(text));
  const tags = Array.isArray(value['tasks']) ? { master: value } : value;
  const flat = Object.entries(tags).flatMap(([tag, list]) => {
    // Each tag counts from 1.
    const prefix = tag === 'master' ? 'TM-' : `TM-${tag}-`;
    return rowsOf(fieldsOf(list)['tasks']).flatMap((task) => [
      taskMaster(task, prefix, ''),
      ...rowsOf(task['subtasks']).map((sub) => taskMaster(sub, prefix, `${word(task['id'])}.`)),
    ]);
  });
  return collect(flat);
}

const PRIORITIES = new Map(['critical', 'high', 'medium', 'low'].map((name, i) => [name, i + 1]));

function taskMaster(row: Fields, prefix: string, parent: string): Task {
  const ids = wordsOf(row['dependencies']);
  return {
    id: `${prefix}${parent}${word(row['id'])}`,
    name: word(row['title']),
    description: [word(row['description']), word(row['details'])].filter(Boolean).join('\n'),
    status: word(row['status']),
    blockedBy: ids.map((id) => `${prefix}${id.includes('.') ? '' : parent}${id}`),
    priority: PRIORITIES.get(word(row['priority'])),
  };
}

/** One task per file: YAML frontmatter, then Markdown. */
function readBacklog(text: string): Taken {
  const [, yaml, body = ''] = FRONTMATTER.exec(text) ?? [];
  if (yaml === undefined)
    throw new SyntaxProblem('it does not begin with a frontmatter between two lines of ---');
  const explain = ({ message, line }: SyntaxProblem): SyntaxProblem =>
    new SyntaxProblem(message.replace(/ at line \d.*/, ''), line && line + 1);
  const row = fieldsOf(explainSyntax(readYaml, yaml, explain));
  return collect([
    {
      id: word(row['id']),
      name: word(row['title']),
      description: stripComments(body).trim(),
      status: word(row['status']),
      blockedBy: wordsOf(row['dependencies']),
      priority: PRIORITIES.get(word(row['priority']).toLowerCase()),
    },
  ]);
}

/** An id that is no valid feature id gets a hash, because ids become file names. */
function toId(id: string): string {
  if (isId(id)) return id;
  const hash = sha256(id).slice(0, 6);
  const words = id.replaceAll(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  return `${words.slice(0, 50) || 'T'}-${hash}`;
}

function collect(rows: readonly Task[]): Taken {
  const tasks = rows
    .filter(({ id, name, status }) => id !== '' && name !== '' && !SKIPPED.has(status.toLowerCase()))
    .map(({ name, blockedBy, priority, ...row }) => ({
      ...row,
      id: toId(row.id),
      name: name.split(/\s+/).join(' ').slice(0, 500),
      blockedBy: [...new Set(blockedBy)].filter((other) => other !== row.id).map(toId),
      priority: priority === undefined ? undefined : Math.min(4, Math.max(1, Math.round(priority))),
    }));
  const notes = tasks
    .filter(({ description }) => description.trim() !== '')
    .flatMap(({ id, name, description }) =>
      parts(description).map((part) => ({ text: `${id}: ${name}\n\n${part}`, section: id })),
    );
  return { notes, tasks, skipped: rows.length - tasks.length };
}

const word = (value: unknown): string =>
  typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const rowsOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const wordsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(word) : []);
