import { type Call, command } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { compareText, oneLine, plural } from '../core/text.js';
import type { MemoryReport } from '../index.js';
import { describeEvidence } from './proven.js';

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

/** LTM-15's four fields, as both formats name them. */
const fields = (report: MemoryReport): [string, string][] => [
  ['memory_write_performed', yesNo(report.memory_write_performed)],
  ['knowledge_promoted', `${yesNo(report.knowledge_promoted)} (${report.counts.promoted})`],
  [
    'knowledge_conflict_detected',
    `${yesNo(report.knowledge_conflict_detected)} (${report.counts.contested})`,
  ],
  ['memory_integrity_status', report.memory_integrity_status],
];

type Cycle = MemoryReport['cycles'][number];

/** What one cycle changed, in words. */
const news = ({ promoted, contested, reinstated, governance_violations, regression_flags }: Cycle): string =>
  [
    ...promoted.map((text) => `promoted: ${text}`),
    ...contested.map((text) => `contested: ${text}`),
    ...reinstated.map((text) => `reinstated: ${text}`),
    ...governance_violations.map((text) => `violation: ${text}`),
    ...regression_flags.map((text) => `regression: ${text}`),
  ]
    .map((text) => oneLine(text, 100))
    .join('; ');

const exitOf = ({ exit_code }: Cycle): string => (exit_code === null ? 'stopped' : `exit ${exit_code}`);

const title = ({ from, to, counts }: MemoryReport): string => {
  const range = from === null && to === null ? '' : `, cycles ${from ?? 'first'} to ${to ?? 'last'}`;
  return `Memory report${range}: ${plural(counts.cycles, 'cycle')}`;
};

const classes = ({ by_classification }: MemoryReport): string =>
  Object.entries(by_classification)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

/** What the audit ledger has of them, by time. */
const eventsOf = ({ breaches, overrides, repairs }: MemoryReport): MemoryReport['breaches'] =>
  [...breaches, ...overrides, ...repairs].sort((a, b) => compareText(a.at, b.at));

function paint(classification: string | null, style: Style): string {
  if (classification === null) return style.dim('not evaluated');
  if (classification === 'SUCCESS') return style.good(classification);
  return classification === 'PARTIAL_SUCCESS' ? style.warn(classification) : style.bad(classification);
}

const knownRow = (entry: MemoryReport['knowledge'][number], style: Style): string[] => [
  entry.status === 'valid' ? style.good(entry.status) : style.warn(entry.status),
  entry.scope,
  oneLine(entry.pattern, 80),
  describeEvidence(entry) +
    (entry.evidence_cycles.length > 0 ? ` (${entry.evidence_cycles.join(', ')})` : ''),
];

function renderText(report: MemoryReport, style: Style): string {
  const { cycles, knowledge, consolidation } = report;
  const section = (name: string, rows: string[][]): string[] =>
    rows.length === 0 ? [] : ['', style.strong(name), columns(rows, '  ')];
  return [
    style.strong(title(report)) + (cycles.length > 0 ? `  ${style.dim(classes(report))}` : ''),
    columns(fields(report), '  '),
    ...section(
      'Cycles',
      cycles.map((cycle) => [
        String(cycle.cycle),
        style.stamp(cycle.at),
        oneLine(cycle.task_id, 40),
        exitOf(cycle),
        paint(cycle.classification, style),
        news(cycle),
      ]),
    ),
    ...section(
      'Knowledge',
      knowledge.filter(({ status }) => status !== 'contested').map((entry) => knownRow(entry, style)),
    ),
    ...section(
      'Contested knowledge: do not rely on it',
      knowledge.filter(({ status }) => status === 'contested').map((entry) => knownRow(entry, style)),
    ),
    ...section(
      'Governance',
      eventsOf(report).map(({ at, kind, text }) => [style.stamp(at), kind, oneLine(text, 120)]),
    ),
    '',
    consolidation.waits === null
      ? style.dim(`Consolidation is due in ${plural(consolidation.due_in, 'cycle')}.`)
      : style.warn(`Consolidation is due, but waits: ${consolidation.waits}`),
  ].join('\n');
}

const cell = (text: string): string => oneLine(text, 300).replace(/[|<>&\\`*_[\]]/g, '\\$&');
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[][]): string[] =>
  rows.length === 0 ? [] : ['', row(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(row)];

function renderMarkdown(report: MemoryReport): string {
  const { cycles, knowledge } = report;
  return [
    `# ${title(report)}`,
    ...table(['field', 'value'], fields(report)),
    ...table(
      ['cycle', 'at', 'task', 'exit', 'classification', 'news'],
      cycles.map((cycle) => [
        String(cycle.cycle),
        cycle.at,
        cycle.task_id,
        exitOf(cycle),
        cycle.classification ?? 'not evaluated',
        news(cycle),
      ]),
    ),
    ...table(
      ['knowledge', 'scope', 'pattern', 'how it is known', 'cycles'],
      knowledge.map((entry) => [
        ...[entry.status, entry.scope, entry.pattern, describeEvidence(entry)],
        entry.evidence_cycles.join(', '),
      ]),
    ),
    ...table(
      ['at', 'kind', 'what'],
      eventsOf(report).map(({ at, kind, text }) => [at, kind, text]),
    ),
  ].join('\n');
}

const FORMATS = ['text', 'markdown', 'json'];

type Shown = MemoryReport & { format?: 'markdown' };

async function report(call: Call): Promise<Shown> {
  const { from, to, format } = call.options as { from?: number; to?: number; format?: string };
  if (format !== undefined && !FORMATS.includes(format))
    throw usage(
      'format.unknown',
      `--format: found ${JSON.stringify(format)}, allowed: ${FORMATS.join(' | ')}.`,
      {
        field: 'format',
      },
    );
  if (format === 'json') call.flags.json = true;
  const value = await call.forge().memory.report({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  });
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
      {
        flags: '--format <format>',
        help: 'text, markdown or json',
        values: { words: ['text', 'markdown', 'json'] },
      },
    ],
    run: report,
    render: (value, style) =>
      value.format === 'markdown' ? renderMarkdown(value) : renderText(value, style),
  }),
];
