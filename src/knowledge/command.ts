import { type Call, command, type Group, given, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { escapeControls, oneLine, oneOf, plural } from '../core/text.js';
import type { EditedArchitecture, Learning, Note, Observed, ShownArchitecture } from '../index.js';
import { describeObserved } from '../project/project.js';
import { ANY_TASK, describeLearning } from './rules.js';

function fed({ invariants }: Pick<ShownArchitecture, 'invariants'>, style: Style): string {
  if (invariants.length > 0) return `${plural(invariants.length, 'invariant')} for every briefing`;
  return style.warn('nothing for the briefing: no list below a heading "Invariants"');
}

export const architectureGroup: Group = [
  command<ShownArchitecture>({
    name: 'show',
    summary: 'Show architecture.md; the list below its heading "Invariants" is part of every briefing',
    example: 'forge architecture show',
    run: (call) => call.forge().architecture.show(),
    render: (shown, style) =>
      `${shown.text.trimEnd()}\n\n${style.dim(`${shown.path}:`)} ${fed(shown, style)}`,
  }),
  command<EditedArchitecture>({
    name: 'edit',
    args: ['[file]'],
    summary: "Edit architecture.md in git's editor, or replace it by a file, or by stdin (-)",
    example: 'forge architecture edit',
    writes: true,
    run: async (call, file) =>
      call.forge().architecture.edit({ text: file === undefined ? file : await call.file(file) }),
    render: (edited, style) =>
      edited.changed
        ? `${style.good('✓')} ${edited.path}  ${fed(edited, style)}`
        : `${edited.path} is as it was`,
  }),
];

type Added = { learning: Learning; duplicate: boolean } | Observed;

function showAdded(value: Added | Note, style: Style): string {
  if ('observed' in value) return describeObserved(value.observed);
  const [kind, id, text] =
    'learning' in value
      ? [value.learning.kind, value.learning.id, describeLearning(value.learning)]
      : ['note', value.id.slice(0, 12), value.text];
  return `${style.good('✓')} ${kind} ${id}  ${oneLine(text, 400)}${value.duplicate ? '  (known already)' : ''}`;
}

const DETAILS: readonly OptionSpec[] = [
  { flags: '--context <text>', help: 'when it holds (success and failure)' },
  { flags: '--resolution <text>', help: 'what helped (failure)' },
];

/** Refuses a detail that the kind has no field for. */
function checkDetails({ options }: Call, kind: string): void {
  for (const [name, kinds] of Object.entries({ context: ['success', 'failure'], resolution: ['failure'] }))
    if (options[name] !== undefined && !kinds.includes(kind))
      throw usage('knowledge.detail', `--${name} is for ${kinds.join(' and ')}, not for ${kind}.`, {
        field: name,
      });
}

async function add(call: Call, kind: string, text: string): Promise<Added> {
  const { context: about = ANY_TASK, resolution = '' } = call.options as Record<string, string | undefined>;
  const { knowledge } = call.forge();
  const known = oneOf(LEARNINGS, kind, 'Kind', 'knowledge.kind');
  checkDetails(call, known);
  if (known === 'invariant') return knowledge.add({ kind: known, text });
  const context = await call.text(about);
  if (known === 'success') return knowledge.add({ kind: known, context, approach: text });
  return knowledge.add({ kind: known, context, issue: text, resolution: await call.text(resolution) });
}

const LEARNINGS = ['success', 'failure', 'invariant'] as const;
const KINDS = {
  success: 'what worked',
  failure: 'what did not work',
  invariant: 'what always holds',
  note: 'anything else worth keeping',
};
const NAMES = Object.keys(KINDS);

async function kindOf({ options, interactive }: Call, text: string): Promise<string> {
  const { as } = options as { as?: string };
  const hint = `forge learn "${/^[^"$`\\\n]{1,100}$/.test(text) ? text : 'TEXT'}" --as success`;
  if (as !== undefined) return oneOf(NAMES, as, '--as', 'learn.kind', { hint });
  if (!interactive) throw usage('learn.kind', `Say what it is: ${NAMES.join(' | ')}.`, { field: 'as', hint });
  const { choose } = await import('../cli/prompt.js');
  const lines = Object.entries(KINDS).map(([name, what]) => `${name.padEnd(9)}  ${what}`);
  const chosen = await choose('What is it?', lines, lines[0] as string);
  return NAMES[lines.indexOf(chosen)] as string;
}

export const learnGroup: Group = [
  command<Added | Note>({
    name: 'learn',
    args: ['<text>'],
    summary: 'Keep a lesson. Later briefings show it. Asks for its kind, or takes --as',
    example: 'forge learn "Port 0 lets two test runs share a machine" --as success',
    options: [
      {
        flags: '--as <kind>',
        help: Object.entries(KINDS)
          .map(([name, what]) => `${name}: ${what}`)
          .join('; '),
        values: { words: NAMES },
      },
      ...DETAILS,
    ],
    writes: true,
    run: async (call, argument) => {
      const text = await call.text(argument as string);
      const kind = await kindOf(call, text);
      if (kind !== 'note') return add(call, kind, text);
      checkDetails(call, kind);
      return call.forge().note.add({ text });
    },
    render: showAdded,
  }),
];

const line = (learning: Learning, style: Style): string =>
  `${style.dim(learning.id)}  ${learning.kind.padEnd(9)}  ${escapeControls(oneLine(describeLearning(learning), 400))}`;

function renderList({ learnings }: { learnings: Learning[] }, style: Style): string {
  if (learnings.length === 0)
    return 'Nothing yet. Add with: forge knowledge add success "TEXT" --context "TEXT"';
  return learnings.map((learning) => line(learning, style)).join('\n');
}

export const group: Group = [
  command<Added>({
    name: 'add',
    args: ['<kind>', '<text>'],
    values: { kind: { words: LEARNINGS } },
    summary: 'Add what worked (success), what did not (failure), or an invariant',
    example:
      'forge knowledge add failure "the port is taken in CI" --context "end-to-end tests" --resolution "use port 0"',
    options: DETAILS,
    writes: true,
    run: async (call, kind, text) => add(call, kind as string, await call.text(text as string)),
    render: showAdded,
  }),
  command<{ learnings: Learning[] }>({
    name: 'list',
    summary: 'List everything that was learned',
    example: 'forge knowledge list',
    run: (call) => call.forge().knowledge.list(),
    render: renderList,
  }),
  command<{ learnings: Learning[] }>({
    name: 'search',
    args: ['<query>'],
    summary: 'Find entries that have every word of the query',
    example: 'forge knowledge search "port CI"',
    run: async (call, query) => call.forge().knowledge.search({ query: await call.text(query as string) }),
    render: (value, style) => (value.learnings.length === 0 ? 'Nothing found.' : renderList(value, style)),
  }),
  command<{ removed: Learning; also?: Learning[] }>({
    name: 'remove',
    args: ['<id>'],
    summary: 'Remove an entry, by its id or by that of a candidate',
    example: 'forge knowledge remove 3fa9c1d20b',
    writes: true,
    run: (call, id) => call.forge().knowledge.remove({ id: id as string }),
    render: ({ removed, also = [] }, style) =>
      [removed, ...also].map((one) => `removed  ${line(one, style)}`).join('\n'),
  }),
];

const noteRow = ({ id, at, text, by }: Note, style: Style): string[] => [
  style.dim(id.slice(0, 12)),
  style.dim(style.time(at)),
  oneLine(by === undefined ? text : `${text} (by an agent)`, 200),
];

export const noteGroup: Group = [
  command<Note | Observed>({
    name: 'add',
    args: ['<text>'],
    summary: 'Keep a note for good, in the ledger',
    example: 'forge note add "The staging database is rebuilt every Monday"',
    options: [{ flags: '--replaces <id>', help: 'a note that no longer holds', values: { live: ['note'] } }],
    writes: true,
    run: async (call, text) => {
      const replaces = given<{ replaces: string }>(call, 'replaces');
      return call.forge().note.add({ text: await call.text(text as string), ...replaces });
    },
    render: showAdded,
  }),
  command<Note | Observed>({
    name: 'promote',
    args: ['<kfr-id>'],
    summary: 'Turn an entry of working memory into a note for good',
    example: 'forge note promote kfr-3',
    writes: true,
    run: (call, id) => call.forge().note.promote({ id: id as string }),
    render: (note, style) => {
      if ('observed' in note) return describeObserved(note.observed);
      const { id, from, text } = note;
      return `${style.good('✓')} ${from} is the note ${style.strong(id.slice(0, 12))} now: ${oneLine(text, 200)}`;
    },
  }),
  command<{ notes: Note[] }>({
    name: 'list',
    summary: 'List all notes, oldest first',
    example: 'forge note list --waiting',
    options: [
      {
        flags: '--waiting',
        help: 'only those for somebody: "For Ada: …", or with a question mark at the end',
      },
    ],
    run: (call) => call.forge().note.list(call.options as { waiting?: boolean }),
    render: ({ notes }, style, { waiting }) => {
      if (notes.length > 0) return columns(notes.map((note) => noteRow(note, style)));
      if (waiting) return 'No notes are waiting for anyone.';
      return 'No notes yet. Add one with: forge note add "TEXT"';
    },
  }),
  command<Note>({
    name: 'show',
    args: ['<id>'],
    summary: 'Show one note',
    example: 'forge note show 3fa9c1d2',
    run: (call, id) => call.forge().note.show({ id: id as string }),
    render: ({ id, at, session, text, by, removes = [] }, style) =>
      [
        style.dim(`${id}  ${at}  ${session ?? 'no session'}${by === undefined ? '' : '  by an agent'}`),
        ...removes.map((old) => style.dim(`replaces ${old.slice(0, 12)}`)),
        text,
      ].join('\n'),
  }),
  command<{ removed: Note }>({
    name: 'remove',
    args: ['<id>'],
    summary: 'Take a note that no longer holds out of briefings, lists and recall; the ledger keeps it',
    example: 'forge note remove 3fa9c1d2',
    writes: true,
    run: (call, id) => call.forge().note.remove({ id: id as string }),
    render: ({ removed }, style) => `removed  ${columns([noteRow(removed, style)])}`,
  }),
];
