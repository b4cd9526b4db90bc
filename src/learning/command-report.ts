import { type Call, command } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { compareText, oneLine, plural } from '../core/text.js';
import type { MemoryReport } from '../index.js';
import { describeEvidence } from './proven.js';

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
  ['memory_write_performed', yesNo(report.memory_write_performed)],
  ['knowledge_promoted', `${yesNo(report.knowledge_promoted)} (${report.counts.promoted})`],
  [
    'knowledge_conflict_detected',
    `${yesNo(report.knowledge_conflict_detected)} (${report.counts.contested})`,
  ],
  ['memory_integrity_status', report.memory_integrity_status],
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
