import { type Call, command, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { FORBIDDEN_KEYS } from '../core/json.js';
import { compareText, oneLine, plural } from '../core/text.js';
import type { Consolidated, CycleInput, MemoryReport, RecordedCycle } from '../index.js';
import { describeEvidence } from './proven.js';

const OPTIONS: readonly OptionSpec[] = [
  { flags: '--task <id>', help: 'what the cycle worked on', values: { live: ['feature', 'issue'] } },
  { flags: '--exit-code <n>', help: 'how it ended', number: [0, 255] },
  {
    flags: '--classification <word>',
    help: 'SUCCESS, PARTIAL_SUCCESS, FAILURE, REGRESSION or GOVERNANCE_VIOLATION',
    values: { words: ['SUCCESS', 'PARTIAL_SUCCESS', 'FAILURE', 'REGRESSION', 'GOVERNANCE_VIOLATION'] },
  },
  { flags: '--signal <k=v>', help: 'a quality signal', many: true },
  { flags: '--pattern <text>', help: 'a pattern that was observed', many: true },
  { flags: '--confirm <candidate>', help: 'a candidate that was observed again, such as C-317', many: true },
  {
    flags: '--scope <word>',
    help: 'of the patterns: execution (default), environment, governance or optimization',
    values: { words: ['execution', 'environment', 'governance', 'optimization'] },
  },
  { flags: '--regression <text>', help: 'something that got worse', many: true },
  { flags: '--proposal <text>', help: 'something to improve', many: true },
  {
    flags: '--environment-valid <bool>',
    help: 'whether the environment was as it should be',
    values: { words: ['true', 'false'] },
  },
  { flags: '--violation <text>', help: 'a governance rule that was broken', many: true },
  { flags: '--log <file>', help: 'its log: the last 4 KiB and the digest of all are kept' },
  { flags: '--key <key>', help: 'the same key again is the same cycle' },
];

type Flags = Partial<Record<string, unknown>> & {
  task?: string;
  exitCode?: number;
  signal?: string[];
  pattern?: string[];
  log?: string;
};

/** Fields with the flag's words; absent ones stay away. */
async function fromFlags(call: Call): Promise<CycleInput> {
  const flags = call.options as Flags;
  if (flags.task === undefined || flags.exitCode === undefined)
    throw usage('record.what', 'Nothing to record: name a FILE (or -), or give --task and --exit-code.', {
      hint: 'forge memory record --task F-1 --exit-code 0 --classification SUCCESS',
    });
  const scope = flags.scope ?? 'execution';
  const fields = {
    task_id: flags.task,
    exit_code: flags.exitCode,
    classification: flags.classification,
    quality_signals: flags.signal && readSignals(flags.signal),
    patterns: flags.pattern?.map((pattern) => ({ pattern, scope })),
    confirm: flags.confirm,
    regression_flags: flags.regression,
    improvement_proposals: flags.proposal,
    environment_valid: readBoolean(flags.environmentValid),
    governance_violations: flags.violation,
    log: flags.log === undefined ? undefined : await call.file(flags.log),
    idempotency_key: flags.key,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as CycleInput;
}

type Signal = string | number | boolean;

/** Each name once: no value that was given may be lost. */
function readSignals(texts: readonly string[]): Record<string, Signal> {
  const signals = new Map<string, Signal>();
  for (const text of texts) {
    const [name, value] = splitSignal(text);
    if (FORBIDDEN_KEYS.has(name)) throw wrongSignal(text, 'another name');
    if (signals.has(name)) throw wrongSignal(text, 'each name once');
    signals.set(name, value);
  }
  return Object.fromEntries(signals);
}

function splitSignal(text: string): [string, Signal] {
  const at = text.indexOf('=');
  if (at < 1) throw wrongSignal(text, 'name=value');
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (value === 'true' || value === 'false') return [name, value === 'true'];
  return [name, /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value];
}

const wrongSignal = (text: string, allowed: string): Error =>
  usage('record.signal', `--signal: found ${JSON.stringify(oneLine(text, 60))}, allowed: ${allowed}.`, {
    field: 'signal',
  });

function readBoolean(word: unknown): boolean | undefined {
  if (word === undefined) return undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  throw usage(
    'record.boolean',
    `--environment-valid: found ${JSON.stringify(oneLine(String(word), 40))}, allowed: true | false.`,
    { field: 'environment-valid' },
  );
}

/** The last cycle, and all that were recorded: of one cycle the same shape as of many. */
type Recorded = RecordedCycle & { count: number; records: RecordedCycle[] };

async function record(call: Call, file: string | undefined): Promise<Recorded> {
  const inputs = file === undefined ? [await fromFlags(call)] : await fromFile(call, file);
  const { cycles, ...rest } = await call.forge().memory.recordMany(inputs);
  const last = cycles.at(-1) as RecordedCycle;
  return { ...last, ...rest, count: cycles.length, records: cycles };
}

async function fromFile(call: Call, file: string): Promise<CycleInput[]> {
  const extra = OPTIONS.map(({ flags }) => flags.split(' ')[0]?.slice(2) ?? '').find(
    (flag) => call.options[flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())] !== undefined,
  );
  if (extra !== undefined)
    throw usage(
      'record.both',
      `--${extra} cannot be used with a FILE, which says everything about its cycles.`,
      {
        field: extra,
      },
    );
  return call.forge().memory.parse(await call.file(file));
}

function render(value: Recorded, style: Style): string {
  const learned = value.consolidation ? renderConsolidation(value.consolidation, style) : [];
  const { cycle, execution, evaluation, known, count, records } = value;
  if (count > 1) {
    const before = records.filter((one) => one.known).length;
    return [`${count} cycles recorded (${before} of them known already)`, ...learned].join('\n');
  }
  const parts = [
    `cycle ${style.strong(String(cycle))}${known ? ' (recorded before)' : ''}`,
    `execution ${style.dim(execution.id.slice(0, 12))}`,
  ];
  if (evaluation) parts.push(`evaluation ${style.dim(evaluation.id.slice(0, 12))}`);
  return [parts.join('  '), ...learned].join('\n');
}

/** What the cycle led to; nothing while consolidation is not due. */
function renderConsolidation(
  { ran, promoted, contested, reinstated, waits }: Consolidated,
  style: Style,
): string[] {
  if (waits !== undefined) return [style.warn(`consolidation is due, but ${waits}`)];
  if (!ran) return [];
  const list = (word: string, entries: readonly { pattern: string }[]): string[] =>
    entries.map(({ pattern }) => `  ${word} ${oneLine(pattern, 120)}`);
  return [
    'consolidated',
    ...list(style.good('promoted'), promoted),
    ...list(style.warn('contested'), contested),
    ...list(style.good('reinstated'), reinstated),
  ];
}

export const recording = [
  command<Recorded>({
    name: 'record',
    args: ['[file]'],
    summary: 'Record a cycle: what ran, how it ended, what was seen. FILE or - takes JSON, or JSONL for many',
    example: 'forge memory record --task F-1 --exit-code 0 --classification SUCCESS',
    options: OPTIONS,
    writes: true,
    run: record,
    render,
  }),
];

type Cycle = MemoryReport['cycles'][number];
type Known = MemoryReport['knowledge'][number];
type Paint = Pick<Style, 'good' | 'warn' | 'bad' | 'dim' | 'stamp'>;

/** A part of the report, for both formats. */
interface Section {
  title: string;
  head: string[];
  rows: string[][];
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

/** LTM-15's four fields. */
const fields = (report: MemoryReport): string[][] => [
  ['memory written', yesNo(report.memory_write_performed)],
  ['knowledge promoted', String(report.counts.promoted)],
  ['knowledge contested', String(report.counts.contested)],
  ['memory is', report.memory_integrity_status],
];

const titleOf = ({ from, to, counts }: MemoryReport): string => {
  const range = from === null && to === null ? '' : `, cycles ${from ?? 'first'} to ${to ?? 'last'}`;
  return `Memory report${range}: ${plural(counts.cycles, 'cycle')}`;
};

/** What one cycle changed, in words. */
function news(cycle: Cycle): string {
  const { promoted, contested, reinstated, governance_violations: violation, regression_flags } = cycle;
  return Object.entries({ promoted, contested, reinstated, violation, regression: regression_flags })
    .flatMap(([what, texts]) => texts.map((text) => oneLine(`${what}: ${text}`, 100)))
    .join('; ');
}

function paintClass(classification: string | null, paint: Paint): string {
  if (classification === null) return paint.dim('not evaluated');
  if (classification === 'SUCCESS') return paint.good(classification);
  return classification === 'PARTIAL_SUCCESS' ? paint.warn(classification) : paint.bad(classification);
}

function sections(report: MemoryReport, paint: Paint): Section[] {
  const { cycles, knowledge, breaches, overrides, repairs } = report;
  const known = (entries: readonly Known[]): string[][] =>
    entries.map((entry) => [
      entry.status === 'valid' ? paint.good(entry.status) : paint.warn(entry.status),
      entry.scope,
      oneLine(entry.pattern, 80),
      describeEvidence(entry) +
        (entry.evidence_cycles.length > 0 ? ` (${entry.evidence_cycles.join(', ')})` : ''),
    ]);
  const KNOWN = ['status', 'scope', 'pattern', 'how it is known'];
  const events = [...breaches, ...overrides, ...repairs].sort((a, b) => compareText(a.at, b.at));
  return [
    {
      title: 'Cycles',
      head: ['cycle', 'at', 'task', 'exit', 'classification', 'news'],
      rows: cycles.map((cycle) => [
        String(cycle.cycle),
        paint.stamp(cycle.at),
        oneLine(cycle.task_id, 40),
        cycle.exit_code === null ? 'stopped' : `exit ${cycle.exit_code}`,
        paintClass(cycle.classification, paint),
        news(cycle),
      ]),
    },
    { title: 'Knowledge', head: KNOWN, rows: known(knowledge.filter((one) => one.status !== 'contested')) },
    {
      title: 'Contested knowledge: do not rely on it',
      head: KNOWN,
      rows: known(knowledge.filter((one) => one.status === 'contested')),
    },
    {
      title: 'Governance',
      head: ['at', 'kind', 'what'],
      rows: events.map(({ at, kind, text }) => [paint.stamp(at), kind, oneLine(text, 120)]),
    },
  ].filter(({ rows }) => rows.length > 0);
}

function renderText(report: MemoryReport, style: Style): string {
  const classes = Object.entries(report.by_classification).map(([name, count]) => `${count} ${name}`);
  const { due_in, waits } = report.consolidation;
  return [
    [style.strong(titleOf(report)), ...(classes.length > 0 ? [style.dim(classes.join(', '))] : [])].join(
      '  ',
    ),
    columns(fields(report), '  '),
    ...sections(report, style).flatMap(({ title, rows }) => ['', style.strong(title), columns(rows, '  ')]),
    '',
    waits === null
      ? style.dim(`Consolidation is due in ${plural(due_in, 'cycle')}.`)
      : style.warn(`Consolidation is due, but waits: ${waits}`),
  ].join('\n');
}

const same = (text: string): string => text;
const PLAIN: Paint = { good: same, warn: same, bad: same, dim: same, stamp: same };

function renderMarkdown(report: MemoryReport): string {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((text) => oneLine(text, 300).replace(/[|<>&\\`*_[\]]/g, '\\$&')).join(' | ')} |`;
  const table = ({ head, rows }: Omit<Section, 'title'>): string[] => [
    ...['', row(head), `|${' --- |'.repeat(head.length)}`],
    ...rows.map(row),
  ];
  return [
    `# ${titleOf(report)}`,
    ...table({ head: ['field', 'value'], rows: fields(report) }),
    ...sections(report, PLAIN).flatMap(({ title, ...rest }) => ['', `## ${title}`, ...table(rest)]),
  ].join('\n');
}

const FORMATS = ['text', 'markdown', 'json'];

type Shown = MemoryReport & { format?: 'markdown' };

async function report(call: Call): Promise<Shown> {
  const { format = 'text', ...range } = call.options as { from?: number; to?: number; format?: string };
  if (!FORMATS.includes(format))
    throw usage(
      'format.unknown',
      `--format: found ${JSON.stringify(format)}, allowed: ${FORMATS.join(' | ')}.`,
      { field: 'format' },
    );
  if (format === 'json') call.flags.json = true;
  const value = await call.forge().memory.report(range);
  return format === 'markdown' ? { ...value, format } : value;
}

export const reporting = [
  command<Shown>({
    name: 'report',
    summary:
      'Report what the cycles wrote, what was learned, what was contested, and whether memory is intact',
    example: 'forge memory report --from 11 --to 20 --format markdown',
    options: [
      { flags: '--from <n>', help: 'the first cycle', number: [0, 1_000_000_000] },
      { flags: '--to <n>', help: 'the last cycle', number: [0, 1_000_000_000] },
      { flags: '--format <format>', help: 'text, markdown or json', values: { words: FORMATS } },
    ],
    run: report,
    render: (value, style) =>
      value.format === 'markdown' ? renderMarkdown(value) : renderText(value, style),
  }),
];
