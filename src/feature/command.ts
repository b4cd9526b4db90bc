import { type Call, type CommandSpec, command, type Group, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { quoteWord } from '../core/argv.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type {
  AddedFeature,
  Feature,
  FeatureEdit,
  FeatureList,
  FeatureResult,
  FeatureStatus,
  ImportedFeatures,
  RecordedRun,
  Selection,
  ShownFeature,
  VerifyWatch,
} from '../index.js';
import { blockersOf, describeCommit, describeStatus, STATUSES } from './rules.js';

const CHANGE_OPTIONS: readonly OptionSpec[] = [
  { flags: '--test <command>', help: 'a test of this feature alone; "none" removes all', many: true },
  {
    flags: '--blocked-by <id>',
    help: 'a feature that must pass first; "none" removes all',
    many: true,
    values: { words: ['none'], live: ['feature'] },
  },
  {
    flags: '--priority <n>',
    help: '1 (most urgent) to 4',
    number: [1, 4],
    values: { words: ['1', '2', '3', '4'] },
  },
  {
    flags: '--issue <id>',
    help: 'its issue; "none" clears it',
    values: { words: ['none'], live: ['issue'] },
  },
];

/** Only the flags that were given: an absent flag leaves its field unchanged. */
function changeOf({ options }: Call): Omit<FeatureEdit, 'id'> {
  const { test, blockedBy, priority, issue, name, status, run } = options as Record<string, never>;
  const list = (words?: string[]): string[] | undefined => words?.filter((word) => word !== 'none');
  const change = {
    ...{ name, status, priority, tests: list(test), blocked_by: list(blockedBy) },
    ...{ linear_issue: issue === 'none' ? null : issue, run: run === false ? false : undefined },
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function paint(feature: Feature, style: Style): string {
  const colors: Record<string, (text: string) => string> = {
    passing: feature.override ? style.warn : style.good,
    failing: style.bad,
    in_progress: style.warn,
  };
  return (colors[feature.status] ?? style.dim)(describeStatus(feature).padEnd(15));
}

const waysToProve = (id: string, style: Style): string =>
  columns(
    [
      [`forge feature edit ${id} --test "COMMAND"`, 'use a test that fails without the work'],
      [`forge done ${id}`, 'twice: with the work broken, then restored'],
      [`forge feature confirm ${id}`, 'accept the test (for a person)'],
    ].map(([line = '', why]) => [style.command(line), style.dim(`# ${why}`)]),
    '    ',
  );

const causeOf = (line: string | undefined, style: Style): string =>
  line === undefined ? '' : `:\n    ${style.dim(line)}`;

export function resultLine(result: FeatureResult, style: Style): string {
  const { id, status, before, duration_ms, failure, line, command, planned, not_run, unproven } = result;
  if (planned) return `${style.dim('would run')} ${id}  ${oneLine(command, 300)}`;
  const change = before === status ? status : `${before} → ${status}`;
  if (not_run) return `${style.warn('-')} ${id}  ${change}  not run (${oneLine(not_run, 200)})`;
  const took = `${(duration_ms / 1000).toFixed(1)} s`;
  if (unproven)
    return `${style.warn('!')} ${id}  ${change}  ${took}  its test passes but has never failed:\n${waysToProve(id, style)}`;
  const mark = status === 'passing' ? style.good('✓') : style.bad('✗');
  const why = failure ? `  ${oneLine(failure, 200)} (${oneLine(command, 100)})${causeOf(line, style)}` : '';
  return `${mark} ${id}  ${change}  ${took}${why}`;
}

/** The output was just printed, so a line near its end is not repeated. */
const withoutNearLine = ({ line, ...result }: FeatureResult): FeatureResult => {
  const end = (result.output ?? '').trimEnd().split('\n').slice(-10);
  return line === undefined || end.some((one) => one.includes(line)) ? result : { ...result, line };
};

/** From this width on, `list` has a column for ages. */
const WIDE = 80;

const EXAMPLE = 'forge feature add "Login works" --test "npm test -- login"';

function renderList({ features }: FeatureList, style: Style, { status }: Record<string, unknown>): string {
  if (features.length === 0 && status !== undefined) return `No feature is ${status}.`;
  if (features.length === 0) return `No features yet. Add one with: ${EXAMPLE}`;
  // A pipe gets no ages: its output stays the same. A narrow terminal has no room for them.
  const hasAges = (style.width ?? 0) >= WIDE && features.some(({ verified_at }) => verified_at);
  const age = ({ verified_at }: Feature): string => style.dim(verified_at ? style.time(verified_at) : '');
  const isPassing = ({ status }: Feature): number => (status === 'passing' ? 1 : 0);
  return columns(
    [...features]
      .sort((a, b) => isPassing(a) - isPassing(b))
      .map((feature) => [
        ...[feature.id, paint(feature, style)],
        ...(hasAges ? [age(feature)] : []),
        oneLine(feature.name, 100),
      ]),
  );
}

function describeRun({ at, commit, dirty, command, exit_code, not_run }: RecordedRun): string {
  const failure = not_run ?? (exit_code === null ? 'stopped' : `exit code ${exit_code}`);
  const isPassed = not_run === undefined && exit_code === 0;
  return `${at} ${describeCommit(commit, dirty)}: ${isPassed ? 'passed' : `${command}: ${failure}`}`;
}

function renderFeature(feature: ShownFeature, style: Style): string {
  const { tests = [], priority = '', linear_issue, last_run, last_pass, confirmed_at } = feature;
  const { verified_at, verified_commit, verified_dirty } = feature;
  const rows = [
    ['status', describeStatus(feature)],
    ['tests', tests.join('; ') || 'none'],
    ['depends on', blockersOf(feature).join(', ')],
    ['priority', String(priority)],
    ['issue', linear_issue ?? ''],
    [
      'passes since',
      verified_at && feature.status === 'passing'
        ? `${verified_at} ${describeCommit(verified_commit, verified_dirty)}`
        : '',
    ],
    ['confirmed', confirmed_at ? `${confirmed_at} by a person; its tests were never seen to fail` : ''],
    ['last run', last_run ? describeRun(last_run) : ''],
    ['last pass', last_pass ? describeRun(last_pass) : ''],
  ].filter(([, value]) => value !== '');
  return `${style.strong(feature.id)}  ${oneLine(feature.name, 200)}\n${columns(rows.map(([name = '', value = '']) => [name, oneLine(value, 300)]))}`;
}

/** The id of the session's task, if it is a feature. */
async function focused(call: Call): Promise<string[]> {
  const { task } = await call.forge().focus.show();
  const { features } = await call.forge().feature.list();
  const id = /^(\S+): /.exec(task ?? '')?.[1];
  return features.some((feature) => feature.id === id) ? [id as string] : [];
}

const verify: CommandSpec<{ results: FeatureResult[] }> = {
  name: 'verify',
  args: ['[ids...]'],
  summary:
    "Run a feature's tests (without an id: the task's): an agent's way to passing. Exit 1: one does not pass, 6: cannot run",
  example: 'forge done F-1',
  options: [{ flags: '--all', help: 'every feature that has tests' }],
  writes: true,
  run: async (call, ...given) => {
    const all = call.options.all === true;
    const ids = given.length > 0 || all ? given : await focused(call);
    const tail = call.tail();
    return call.forge().feature.verify(
      { ids, all },
      {
        ...watchTests(call),
        onOutput: tail.write,
        // Tests that pass before the work are shown in one line.
        onResult: ({ status, unproven, not_run }) =>
          tail.end(not_run !== undefined || (status !== 'passing' && unproven !== true)),
      },
    );
  },
  render: ({ results }, style) =>
    results.map((result) => resultLine(withoutNearLine(result), style)).join('\n') ||
    'No feature has tests yet.',
  exit: ({ results }, { all }) => {
    const isFailed = ({ status, planned, not_run }: FeatureResult): boolean =>
      !planned && !not_run && status !== 'passing';
    if (!all && results.some(({ refused }) => refused)) return 3;
    if (results.some(isFailed)) return 1;
    // The tests of a feature that nobody began may not be there yet.
    const isBegun = ({ status }: FeatureResult): boolean => !all || status !== 'not_implemented';
    return results.some((result) => result.not_run && isBegun(result)) ? 6 : 0;
  },
};

/** An override is a separate record, so it comes with no other change. */
async function edit(call: Call, id: string): Promise<AddedFeature> {
  const { reason } = call.options as { reason?: string };
  const change = changeOf(call);
  if (reason === undefined) return call.forge().feature.edit({ ...change, id }, watchTests(call));
  const message = '--reason explains --status passing and cannot be combined with other changes.';
  const hint = `forge feature edit ${id} --status passing --reason "TEXT"`;
  if (change.status !== 'passing' || Object.keys(change).length > 1)
    throw usage('feature.override', message, { hint });
  return call.forge().feature.override({ id, reason });
}

/** In a folder below, names where a test runs: its paths may be meant from this folder. */
function watchTests(call: Call): VerifyWatch {
  const { root } = call.forge();
  const where = call.cwd === root ? '' : `   (in ${oneLine(root, 200)})`;
  return {
    onStart: (id, line) => call.say(`${id}: ${oneLine(line, 200)}${where}`),
    signal: call.signal,
  };
}

const NO_RUN: OptionSpec = { flags: '--no-run', help: 'do not run its tests now' };

async function add(call: Call, first: string, second: string | undefined): Promise<AddedFeature> {
  const { id } = call.options as { id?: string };
  const quoted = quoteWord(`${first} ${second}`);
  if (second !== undefined && isTwoWords(first, second))
    throw usage('feature.words', `Put quotes around it: forge feature add ${quoted}`);
  const message = 'A feature has one name, and before it at most an id, which has no spaces.';
  const hint = `forge feature add ${quoteWord(first)} --test "COMMAND"`;
  if (second !== undefined && (id !== undefined || /\s/.test(first.trim())))
    throw usage('feature.words', message, { hint });
  if (second === undefined && id === undefined && /^[A-Z][A-Z0-9]*-\d+$/.test(first))
    throw usage('feature.no_name', `${first} needs a name.`, { hint: `forge feature add ${first} "NAME"` });
  const given = second === undefined ? id : first;
  const input = { ...changeOf(call), name: await call.text(second ?? first) };
  return call.forge().feature.add({ ...input, ...(given && { id: given }) }, watchTests(call));
}

/** `Login works` without quotes. `LOGIN works`, `login Login` and `login "It works"` are an id and a name. */
const isTwoWords = (first: string, second: string): boolean =>
  /^\p{Lu}\p{L}*\p{Ll}\p{L}*$/u.test(first) && /^[\p{L}\p{N}]+$/u.test(second);

function renderAdded({ features, first_run }: AddedFeature, style: Style): string {
  const list = renderList({ features }, style, {});
  const id = features[0]?.id ?? '';
  const edit = style.command(`forge feature edit ${id} --test "COMMAND"`);
  if (!first_run && features[0]?.tests?.length) return list;
  if (!first_run)
    return `${list}\n  no test yet: ${edit}  ${style.dim('# one that fails until it is built')}`;
  const { result, reason = '', line, command } = first_run;
  const shown = oneLine(command, 100);
  if (result === 'failed')
    return `${list}\n  its test fails for now, as it should (${shown})${causeOf(line, style)}`;
  if (result === 'not_run')
    return `${list}\n  ${style.warn('not run')} (${oneLine(reason, 200)}). Once it can run: ${style.command(`forge done ${id}`)}\n    ${edit}  ${style.dim('# for another test')}`;
  if (!features[0]?.unproven)
    return `${list}\n  its renamed test passes (${shown}): ${style.command(`forge done ${id}`)}`;
  return `${list}\n  ${style.warn('unproven')}: its test passes but has never failed (${shown}). Either:\n${waysToProve(id, style)}`;
}

export const group: Group = [
  command<AddedFeature>({
    name: 'add',
    args: ['<name>', '[text]'],
    summary: 'Add a feature by name, or by id and name. Its tests are run once and should fail',
    example: 'forge feature add F-1 "Login works" --test "npm test -- login"',
    options: [
      { flags: '--id <id>', help: 'its id; made from the name by default' },
      NO_RUN,
      ...CHANGE_OPTIONS,
    ],
    writes: true,
    run: (call, first, second) => add(call, first as string, second),
    render: renderAdded,
  }),
  command<FeatureList>({
    name: 'list',
    summary: 'List the features, passing ones last',
    example: 'forge ls',
    options: [{ flags: '--status <status>', help: STATUSES.join(', '), values: { words: STATUSES } }],
    run: (call) => call.forge().feature.list(call.options as { status?: FeatureStatus }),
    render: renderList,
  }),
  command<ShownFeature>({
    name: 'show',
    args: ['<id>'],
    summary: 'Show a feature with its tests and evidence',
    example: 'forge feature show F-1',
    run: (call, id) => call.forge().feature.show({ id: id as string }),
    render: renderFeature,
  }),
  command<AddedFeature>({
    name: 'edit',
    args: ['<id>'],
    summary: 'Change a feature; new tests are run once, and a passing feature becomes in_progress',
    example: 'forge feature edit F-1 --status in_progress --priority 1',
    options: [
      { flags: '--name <text>', help: 'another name' },
      {
        flags: '--status <status>',
        help: 'not_implemented, in_progress, failing, blocked, or passing with --reason',
        values: { words: ['not_implemented', 'in_progress', 'failing', 'blocked', 'passing'] },
      },
      { flags: '--reason <text>', help: 'why it is passing without a test run (for a person)' },
      NO_RUN,
      ...CHANGE_OPTIONS,
    ],
    writes: true,
    run: (call, id) => edit(call, id as string),
    render: renderAdded,
  }),
  command<{ removed: Feature; undo: string | null }>({
    name: 'remove',
    args: ['<id>'],
    summary: 'Remove a feature that no other feature waits for',
    example: 'forge feature remove F-1',
    writes: true,
    run: async (call, id) => {
      const { feature, focus } = call.forge();
      const [task] = await focused(call);
      const result = await feature.remove({ id: id as string });
      if (task === result.removed.id && !call.flags.dryRun)
        await focus.clear().catch((error: Error) => call.say(error.message));
      return result;
    },
    render: ({ removed, undo }, style) =>
      `removed ${removed.id}  ${oneLine(removed.name, 100)}   ${undo ? style.dim(`# back with: ${undo}`) : ''}`,
  }),
  command<ImportedFeatures>({
    name: 'import',
    args: ['<file>'],
    summary: 'Import a JSON or Markdown list of features; known ones stay unchanged',
    example: 'forge feature import features.md',
    writes: true,
    run: async (call, file) => call.forge().feature.import({ text: await call.file(file as string) }),
    render: ({ features, known, done }, style) => {
      const left = done.length > 0 ? `, ${done.length} ticked or cancelled, so not imported` : '';
      const line = `${features.length} imported, ${known.length} known already${left}`;
      if (features.length === 0) return line;
      const more = features.length > SHOWN ? `\n… ${features.length - SHOWN} more` : '';
      return `${renderList({ features: features.slice(0, SHOWN) }, style, {})}${more}\n${line}`;
    },
  }),
  command(verify),
  command<FeatureList>({
    name: 'confirm',
    args: ['[ids...]'],
    summary: 'For a person: accept tests that have never failed',
    example: 'forge feature confirm F-1',
    options: [{ flags: '--all', help: 'every unproven feature' }],
    writes: true,
    run: (call, ...ids) => call.forge().feature.confirm({ ids, all: call.options.all === true }),
    render: ({ features }, style) =>
      features.length === 0 ? 'No feature is unproven.' : renderList({ features }, style, {}),
  }),
];

/** A list of hundreds helps nobody at a terminal; --json has them all. */
const SHOWN = 10;

function render({ task, reason, candidates }: Selection, style: Style): string {
  const head = task
    ? `${style.strong(`${task.id}: ${oneLine(task.title, 120)}`)}\n  why: ${reason}`
    : `Nothing to do now: ${reason}.${candidates.length === 0 ? `\n  ${style.command(EXAMPLE)}` : ''}`;
  const others = candidates.filter((candidate) => candidate !== task).slice(0, SHOWN);
  if (others.length === 0) return head;
  const rows = columns(
    others.map((other) => [other.id, oneLine(other.title, 50), style.dim(other.reason)]),
    '  ',
  );
  const more = candidates.length - others.length - (task ? 1 : 0);
  return `${head}\n\nThen:\n${rows}${more > 0 ? `\n  … ${more} more: --json` : ''}`;
}

export const nextGroup: Group = [
  command<Selection>({
    name: 'next',
    summary: 'Show which task comes next, and why',
    example: 'forge next',
    run: (call) => call.forge().next(),
    render,
  }),
];
