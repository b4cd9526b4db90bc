import { type Call, command, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { FORBIDDEN_KEYS } from '../core/json.js';
import { compareText, oneLine, oneOf, plural } from '../core/text.js';
import type { Consolidated, CycleInput, MemoryReport, RecordedCycle } from '../index.js';
import { CLASSIFICATIONS, SCOPES } from './evaluation.js';
import { describeEvidence } from './proven.js';

export const SCOPE: OptionSpec = {
  flags: '--scope <word>',
  help: 'of the patterns: execution (default), environment, governance or optimization',
  values: { words: SCOPES },
};

const OPTIONS: readonly OptionSpec[] = [
  { flags: '--task <id>', help: 'what the cycle worked on', values: { live: ['feature', 'issue'] } },
  { flags: '--exit-code <n>', help: 'how it ended', number: [0, 255] },
  { flags: '--classification <word>', help: CLASSIFICATIONS.join(', '), values: { words: CLASSIFICATIONS } },
  { flags: '--signal <k=v>', help: 'a quality signal', many: true },
  { flags: '--pattern <text>', help: 'a pattern that was observed', many: true },
  SCOPE,
  { flags: '--regression <text>', help: 'something that got worse', many: true },
  { flags: '--proposal <text>', help: 'something to improve', many: true },
  {
    flags: '--environment-valid <bool>',
    help: 'whether the environment was valid',
    values: { words: ['true', 'false'] },
  },
  { flags: '--violation <text>', help: 'a governance rule that was broken', many: true },
  { flags: '--log <file>', help: 'its log; the last 4 KiB and the digest of the whole are kept' },
  { flags: '--key <key>', help: 'a second cycle with the same key is not recorded' },
];

async function fromFlags(call: Call): Promise<CycleInput> {
  const { options } = call;
  const { task: task_id, exitCode: exit_code, classification, scope = 'execution', key } = options;
  const { pattern, signal, environmentValid, log } = options as Record<string, never>;
  if (task_id === undefined || exit_code === undefined)
    throw usage('record.what', 'Nothing to record: name a FILE (or -), or give --task and --exit-code.', {
      hint: 'forge memory record --task F-1 --exit-code 0 --classification SUCCESS',
    });
  const patterns = (pattern as string[] | undefined)?.map((text) => ({ pattern: text, scope }));
  const fields = {
    ...{ task_id, exit_code, classification, patterns, idempotency_key: key },
    quality_signals: signal && readSignals(signal),
    regression_flags: options.regression,
    improvement_proposals: options.proposal,
    environment_valid:
      environmentValid &&
      oneOf(['true', 'false'], environmentValid, '--environment-valid', 'record.boolean') === 'true',
    governance_violations: options.violation,
    log: log === undefined ? undefined : await call.file(log),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as CycleInput;
}

/** Refuses a repeated name: no given value may be lost. */
function readSignals(texts: readonly string[]): Record<string, string | number | boolean> {
  const signals: Record<string, string | number | boolean> = {};
  for (const text of texts) {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === '' || FORBIDDEN_KEYS.has(name) || Object.hasOwn(signals, name))
      throw usage(
        'record.signal',
        `--signal: found ${JSON.stringify(oneLine(text, 60))}, allowed: name=value, each name once.`,
        { field: 'signal' },
      );
    const isNumber = /^-?\d{1,15}(\.\d{1,15})?$/.test(value);
    const isBoolean = value === 'true' || value === 'false';
    signals[name] = isNumber ? Number(value) : isBoolean ? value === 'true' : value;
  }
  return signals;
}

/** The last cycle, and all that were recorded. */
type Recorded = RecordedCycle & { count: number; records: RecordedCycle[] };

async function record(call: Call, file: string | undefined): Promise<Recorded> {
  const { task = null, exitCode = null } = call.options;
  if (file !== undefined && (task !== null || exitCode !== null))
    throw usage('record.both', 'Cycles come from a FILE or from flags, not from both.');
  const inputs =
    file === undefined ? [await fromFlags(call)] : await call.forge().memory.parse(await call.file(file));
  const { cycles, ...rest } = await call.forge().memory.recordMany(inputs);
  const last = cycles.at(-1) as RecordedCycle;
  return { ...last, ...rest, count: cycles.length, records: cycles };
}

function renderRecord(value: Recorded, style: Style): string {
  const learned = value.consolidation ? renderConsolidation(value.consolidation, style) : [];
  const { cycle, execution, evaluation, known, count, records } = value;
  if (count > 1) {
    const before = records.filter((one) => one.known).length;
    return [`${count} cycles recorded (${before} of them recorded before)`, ...learned].join('\n');
  }
  const parts = [
    `cycle ${style.strong(String(cycle))}${known ? ' (recorded before)' : ''}`,
    `execution ${style.dim(execution.id.slice(0, 12))}`,
    ...(evaluation ? [`evaluation ${style.dim(evaluation.id.slice(0, 12))}`] : []),
  ];
  return [parts.join('  '), ...learned].join('\n');
}

/** What the cycle led to; nothing while consolidation is not due. */
function renderConsolidation(
  { ran, promoted, contested, reinstated, waits }: Consolidated,
  style: Style,
): string[] {
  if (waits !== undefined) return [style.warn(`consolidation is due, but ${waits}`)];
  const list = (word: string, entries: readonly { pattern: string }[]): string[] =>
    entries.map(({ pattern }) => `  ${word} ${oneLine(pattern, 120)}`);
  return [
    ...(ran ? ['consolidated'] : []),
    ...list(style.good('promoted'), promoted),
    ...list(style.warn('contested'), contested),
    ...list(style.good('reinstated'), reinstated),
  ];
}

export const recordCommand = command<Recorded>({
  name: 'record',
  args: ['[file]'],
  summary: 'Record a cycle: what ran, its outcome, observations. FILE or - takes JSON, or JSONL for many',
  example: 'forge memory record --task F-1 --exit-code 0 --classification SUCCESS',
  options: OPTIONS,
  writes: true,
  run: record,
  render: renderRecord,
});

type CycleRow = MemoryReport['cycles'][number];

function describeNews(cycle: CycleRow): string {
  const { promoted, contested, reinstated, governance_violations: violation, regression_flags } = cycle;
  const news = Object.entries({ promoted, contested, reinstated, violation, regression: regression_flags });
  return [
    ...(cycle.tests_changed > 0 ? [`${plural(cycle.tests_changed, 'test file')} changed`] : []),
    ...news.flatMap(([what, texts]) => texts.map((text) => oneLine(`${what}: ${text}`, 100))),
  ].join('; ');
}

function paintClass(classification: string | null, style: Style): string {
  if (classification === null) return style.dim('not evaluated');
  if (classification === 'SUCCESS') return style.good(classification);
  return classification === 'PARTIAL_SUCCESS' ? style.warn(classification) : style.bad(classification);
}

const STATUS = { valid: 'good', contested: 'warn', invalid: 'bad' } as const;

/** A piece of knowledge in a table: its status, scope, words, evidence and id. */
export function knownRow(entry: MemoryReport['knowledge'][number], style: Style): string[] {
  const { status, scope, pattern, knowledge_id } = entry;
  const what = style[STATUS[status]](status === 'valid' ? 'known' : status);
  const why = `${describeEvidence(entry)}, ${style.dim(knowledge_id.slice(0, 12))}`;
  return [what, scope, oneLine(pattern, 80), why];
}

/** Two branches may have used the same number. */
const numberOf = ({ cycle, execution }: CycleRow, all: readonly CycleRow[]): string =>
  all.filter((other) => other.cycle === cycle).length > 1 ? `${cycle} ${execution.slice(0, 12)}` : `${cycle}`;

function renderReport(report: MemoryReport, style: Style): string {
  const { from, to, counts, cycles, knowledge, breaches, overrides, repairs, by_classification } = report;
  const { due_in, waits } = report.consolidation;
  const range = from === null && to === null ? '' : `, cycles ${from ?? 'first'} to ${to ?? 'last'}`;
  const classes = Object.entries(by_classification).map(([name, count]) => `${count} ${name}`);
  const known = (isContested: boolean): string[][] =>
    knowledge
      .filter(({ status }) => (status === 'contested') === isContested)
      .map((entry) => knownRow(entry, style));
  const events = [...breaches, ...overrides, ...repairs].sort((a, b) => compareText(a.at, b.at));
  const section = (title: string, rows: string[][]): string[] =>
    rows.length > 0 ? ['', style.strong(title), columns(rows, '  ')] : [];
  return [
    [style.strong(`Memory report${range}: ${plural(counts.cycles, 'cycle')}`), style.dim(classes.join(', '))]
      .join('  ')
      .trimEnd(),
    // LTM-15's four fields.
    columns(
      [
        ['memory written', report.memory_write_performed ? 'yes' : 'no'],
        ['knowledge promoted', String(counts.promoted)],
        ['knowledge contested', String(counts.contested)],
        ['memory is', report.memory_integrity_status],
      ],
      '  ',
    ),
    ...section(
      'Cycles',
      cycles.map((cycle) => [
        ...[numberOf(cycle, cycles), style.stamp(cycle.at), oneLine(cycle.task_id, 40)],
        cycle.exit_code === null ? 'stopped' : `exit ${cycle.exit_code}`,
        ...[paintClass(cycle.classification, style), describeNews(cycle)],
      ]),
    ),
    ...section('Knowledge', known(false)),
    ...section('Contested knowledge: do not rely on it', known(true)),
    ...section(
      'Governance',
      events.map(({ at, kind, text }) => [style.stamp(at), kind, oneLine(text, 120)]),
    ),
    '',
    waits === null
      ? style.dim(`Consolidation is due ${due_in > 0 ? `in ${plural(due_in, 'cycle')}` : 'now'}.`)
      : style.warn(`Consolidation is due, but waits: ${waits}`),
  ].join('\n');
}

export const reportCommand = command<MemoryReport>({
  name: 'report',
  summary: 'Report what the cycles wrote, what was learned and contested, and whether memory is intact',
  example: 'forge memory report --from 11 --to 20',
  options: [
    { flags: '--from <n>', help: 'the first cycle', number: [0, 1_000_000_000] },
    { flags: '--to <n>', help: 'the last cycle', number: [0, 1_000_000_000] },
  ],
  run: (call) => call.forge().memory.report(call.options as { from?: number; to?: number }),
  render: renderReport,
});
