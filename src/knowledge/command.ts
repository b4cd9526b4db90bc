import { type Call, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import type { EditedArchitecture, Learning, NewLearning, Observed, ShownArchitecture } from '../index.js';
import { describeObserved } from '../project/observe.js';
import { describeLearning } from './rules.js';

/** The part that agents get. */
function fed({ invariants }: Pick<ShownArchitecture, 'invariants'>, style: Style): string {
  if (invariants.length > 0) return `${plural(invariants.length, 'invariant')} for every briefing`;
  return style.warn('nothing for the briefing: no list below a heading "Invariants"');
}

export const architectureGroup: Group = {
  commands: [
    command<ShownArchitecture>({
      name: 'show',
      summary: 'Show architecture.md; the list below its heading "Invariants" is part of every briefing',
      example: 'forge architecture show',
      run: (call) => call.forge().architecture.show(),
      render: (shown, style) =>
        `${shown.text.trimEnd()}\n\n${style.dim(`${shown.path}: ${plural(shown.sections.length, 'section')},`)} ${fed(shown, style)}`,
    }),
    command<EditedArchitecture>({
      name: 'edit',
      args: ['[file]'],
      summary: "Edit architecture.md in git's editor, or replace it by a file, or by stdin (-)",
      example: 'forge architecture edit',
      writes: true,
      run: async (call, file) =>
        call.forge().architecture.edit(file === undefined ? {} : { text: await call.file(file) }),
      render: (edited, style) =>
        edited.changed
          ? `${style.good('✓')} ${edited.path}  ${fed(edited, style)}`
          : `${edited.path} is as it was`,
    }),
  ],
};

const line = (learning: Learning, style: Style): string =>
  `${style.dim(learning.id)}  ${learning.kind.padEnd(9)}  ${escapeControls(oneLine(describeLearning(learning), 400))}`;

function renderList({ learnings }: { learnings: Learning[] }, style: Style): string {
  if (learnings.length === 0)
    return 'Nothing yet. Add with: forge knowledge add success "TEXT" --context "TEXT"';
  return learnings.map((learning) => line(learning, style)).join('\n');
}

async function toLearning(call: Call, kind: string, argument: string): Promise<NewLearning> {
  const text = await call.text(argument);
  const { context = 'any task', resolution = '' } = call.options as { context?: string; resolution?: string };
  const about = await call.text(context);
  if (kind === 'success') return { kind, context: about, approach: text };
  if (kind === 'failure')
    return { kind, context: about, issue: text, resolution: await call.text(resolution) };
  if (kind === 'invariant') return { kind, text };
  throw usage(
    'knowledge.kind',
    `Kind: found ${JSON.stringify(oneLine(kind, 40))}, allowed: success | failure | invariant.`,
    { field: 'kind' },
  );
}

export const group: Group = {
  commands: [
    command<{ learning: Learning; duplicate: boolean } | Observed>({
      name: 'add',
      args: ['<kind>', '<text>'],
      values: { kind: { words: ['success', 'failure', 'invariant'] } },
      summary: 'Add what worked (success), what did not (failure), or an invariant',
      example:
        'forge knowledge add failure "the port is taken in CI" --context "end-to-end tests" --resolution "use port 0"',
      options: [
        { flags: '--context <text>', help: 'when it holds (success and failure)' },
        { flags: '--resolution <text>', help: 'what helped (failure)' },
      ],
      writes: true,
      run: async (call, kind, text) =>
        call.forge().knowledge.add(await toLearning(call, kind as string, text as string)),
      render: (value, style) =>
        'observed' in value
          ? describeObserved(value.observed)
          : `${line(value.learning, style)}${value.duplicate ? '  (known already)' : ''}`,
    }),
    command<{ learnings: Learning[] }>({
      name: 'list',
      summary: 'List all of it',
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
    command<{ removed: Learning }>({
      name: 'remove',
      args: ['<id>'],
      summary: 'Remove an entry',
      example: 'forge knowledge remove 3fa9c1d20b',
      writes: true,
      run: (call, id) => call.forge().knowledge.remove({ id: id as string }),
      render: ({ removed }, style) => `removed  ${line(removed, style)}`,
    }),
  ],
};
