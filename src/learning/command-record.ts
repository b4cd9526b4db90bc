import { type Call, command, type OptionSpec } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { FORBIDDEN_KEYS } from '../core/json.js';
import { oneLine } from '../core/text.js';
import type { Consolidated, CycleInput, RecordedCycle } from '../index.js';

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
    throw usage('record.both', `A FILE says everything about its cycles; --${extra} goes without one.`, {
      field: extra,
    });
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
