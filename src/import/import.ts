import { dirname, join, posix, relative } from 'node:path';
import * as z from 'zod/mini';
import { ForgeError, SyntaxProblem, unlessFailed } from '../core/error.js';
import { listFolder, readTarget, realPath } from '../core/files.js';
import { checkInput, decodeProse, findTwin } from '../core/schema.js';
import { oneLine, oneOf } from '../core/text.js';
import { type Feature, planFeature } from '../feature/rules.js';
import { readFeatures, updateFeatures } from '../feature/store.js';
import { cleanForeign, type Guard, loadGuard, readable, refuseFound } from '../guard/guard.js';
import { readMemory, storeRecords } from '../ledger/memory.js';
import { readNotes } from '../note/note.js';
import { type Context, madeBy, requireSupervisor, timestamp } from '../project/project.js';
import { type Section, SOURCES, type Source, statusOf, type Taken, type Task } from './sources.js';

const ImportInput = z.strictObject({
  from: z.optional(z.array(z.string())),
  /** False: return the plan and store nothing. */
  apply: z.optional(z.boolean()),
});

export interface ImportedFile {
  file: string;
  source: string;
  notes: number;
  features: string[];
  /** Number of notes and features that exist already. */
  known: number;
  /** Number of tasks that are done, deferred, or without an id or a title. */
  skipped: number;
  /** Number of texts in which secrets or personal data were replaced. */
  masked?: number | undefined;
  problem?: string | undefined;
}

export interface Imported {
  applied: boolean;
  files: ImportedFile[];
}

const MAX_BYTES = 8 * 1024 * 1024;

interface Plan {
  files: ImportedFile[];
  notes: (Section & { source: string; removes?: string[] })[];
  features: (Feature & { source: string })[];
}

/** AGT-05: imports notes and tasks of other tools. Each record names its file. Repeating it adds only what changed. */
export async function importMemory(
  context: Context,
  raw: z.infer<typeof ImportInput> = {},
): Promise<Imported> {
  const { from, apply = true } = checkInput(ImportInput, raw);
  requireSupervisor(context, 'what features are judged by');
  const sources = chosen(from);
  const files = await Promise.all(filesOf(context, sources).map((file) => readSource(context, file)));
  if (!apply) return { applied: false, files: planImport(context, files).files };
  const guard = await loadGuard(context.world.env, context);
  return context.disk.withLock(() => store(context, guard, planImport(context, files)));
}

function store(context: Context, guard: Guard, { files, notes, features }: Plan): Imported {
  for (const one of [...notes, ...features]) {
    const found = guard.scanBytes('.json', Buffer.from(JSON.stringify(one)));
    if (found.length > 0) refuseFound(context, one.source, found);
  }
  if (features.length > 0) updateFeatures(context, (present) => [...present, ...features]);
  const made = { tier: 'note' as const, kind: 'note', at: timestamp(context), ...madeBy(context) };
  if (notes.length > 0)
    storeRecords(
      context,
      notes.map((note) => ({ ...made, ...note })),
    );
  return { applied: notes.length + features.length > 0 && !context.disk.dryRun, files };
}

function chosen(names: readonly string[] = []): readonly Source[] {
  const all = SOURCES.map(({ name }) => name);
  const wanted = names.map((name) => oneOf(all, name, '--from', 'import.source'));
  return SOURCES.filter(({ name }) => names.length === 0 || wanted.includes(name));
}

type SourceFile = { source: Source; file: string };
type Read = SourceFile & Taken & Pick<ImportedFile, 'masked'>;

const filesOf = ({ layout }: Context, sources: readonly Source[]): SourceFile[] =>
  sources.flatMap((source) =>
    source.files.flatMap((pattern) => expand(layout.root, pattern).map((file) => ({ source, file }))),
  );

/** Whether another tool keeps something here that could be imported. */
export const hasSources = (context: Context): boolean => filesOf(context, SOURCES).length > 0;

/** The files that a pattern matches. It may have one *, in the file's name. */
function expand(root: string, pattern: string): string[] {
  const [begin = '', end] = pattern.split('*');
  // A file may have the folder's name.
  return unlessFailed([], () => listFolder(join(root, dirname(pattern))))
    .map((name) => posix.join(dirname(pattern), name))
    .filter((path) => (end === undefined ? path === begin : path.startsWith(begin) && path.endsWith(end)));
}

async function readSource(context: Context, { source, file }: SourceFile): Promise<Read> {
  const none = { source, file, notes: [], tasks: [], skipped: 0 };
  try {
    const path = join(context.layout.root, file);
    const [root = '', target = '..'] = [context.layout.root, path].map((one) => realPath(one) ?? undefined);
    if (relative(root, target).startsWith('..'))
      return { ...none, problem: 'it is a link to nothing, or out of the project' };
    const bytes = readTarget(path, MAX_BYTES);
    if (bytes === null) return none;
    const { notes, tasks, ...rest } = source.read(decodeProse(bytes, file));
    const texts = [...notes, ...tasks].map((one) => ('text' in one ? one.text : one.name));
    const clean = await cleanForeign(context, texts);
    const masked = clean.filter((text, i) => text !== readable(texts[i] ?? '')).length;
    const names = clean.splice(notes.length);
    return {
      ...{ ...rest, source, file, masked },
      notes: notes.map((note, i) => ({ ...note, text: clean[i] ?? '' })),
      tasks: tasks.map((task, i) => ({ ...task, name: oneLine(names[i] ?? '', 500) })),
    };
  } catch (error) {
    if (!(error instanceof SyntaxProblem) && !(error instanceof ForgeError)) throw error;
    const line = error instanceof SyntaxProblem && error.line ? `line ${error.line}: ` : '';
    return { ...none, problem: oneLine(line + error.message.replace(`${file}: `, ''), 200) };
  }
}

function planImport(context: Context, files: readonly Read[]): Plan {
  const now = timestamp(context);
  const stored = readNotes(context);
  const removed = readMemory(context).removedNotes();
  const texts = new Set([...stored.map(({ text }) => text), ...removed.map(({ record }) => record.text)]);
  const current = new Set(files.flatMap(({ notes }) => notes.map(({ text }) => text)));
  const present = readFeatures(context);
  const tasks = files.flatMap((file) => file.tasks);
  const open = new Set([...present, ...tasks].map(({ id }) => id));
  const plan: Plan = { files: [], notes: [], features: [] };
  for (const { source, file, notes, tasks, skipped, masked, problem } of files) {
    const fresh = notes.filter(({ text }) => texts.size < texts.add(text).size);
    const old = stored.filter((note) => note.source === file && !current.has(note.text));
    const planned = fresh.map((section) => {
      const same = old.filter((note) => keyOf(note) === keyOf(section));
      return { ...section, source: file, ...(same.length > 0 && { removes: same.map(({ id }) => id) }) };
    });
    plan.notes.push(...planned);
    const ids: string[] = [];
    for (const task of tasks) {
      const all = [...present, ...plan.features];
      if (findTwin(all, task.id)) continue;
      const blockedBy = task.blockedBy.filter((other) => open.has(other));
      plan.features.push({ ...toFeature(all, { ...task, blockedBy }, now), source: file });
      ids.push(task.id);
    }
    plan.files.push({
      ...{ file, source: source.name, notes: fresh.length, features: ids },
      ...{ known: notes.length - fresh.length + tasks.length - ids.length, skipped },
      ...{ masked: masked || undefined, problem },
    });
  }
  return plan;
}

/** Where in its file a note came from: by default the headings above its text. */
const keyOf = ({ text, section }: Section): string => section ?? text.split('\n\n', 1)[0] ?? '';

/** A dependency that would close a cycle is dropped. */
function toFeature(all: Feature[], task: Task, now: string): Feature {
  const { id, name, priority, blockedBy } = task;
  const change = { name, priority, status: statusOf(task) };
  try {
    return planFeature(all, id, { ...change, blocked_by: blockedBy.length > 0 ? blockedBy : undefined }, now);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    return planFeature(all, id, change, now);
  }
}
