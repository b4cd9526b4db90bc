import { type Call, command, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import {
  type Integrity,
  type LogEntry,
  type MemoryStats,
  type Problem,
  type SignatureReport,
  TIERS,
  type Tier,
} from '../index.js';

const TIER: OptionSpec = { flags: '--tier <tier>', help: TIERS.join(', '), values: { words: TIERS } };

function tierOption({ options }: Call): { tier?: Tier } {
  const { tier } = options as { tier?: string };
  if (tier === undefined) return {};
  const known = TIERS.find((name) => name === tier);
  if (known) return { tier: known };
  throw usage(
    'tier.unknown',
    `--tier: found ${JSON.stringify(oneLine(tier, 40))}, allowed: ${TIERS.join(' | ')}.`,
    { field: 'tier' },
  );
}

const size = (bytes: number): string =>
  bytes < 10_000
    ? `${bytes} B`
    : bytes < 10_000_000
      ? `${(bytes / 1000).toFixed(0)} KB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;

const painted = (status: string, style: Style): string =>
  status === 'intact' ? style.good(status) : style.bad(status);

function renderProblem(
  { file, line, offset, message, last_good, hint, code }: Problem,
  style: Style,
): string {
  const place = line > 0 ? `${file}:${line} (byte ${offset})` : file;
  const good = last_good
    ? `\n    last good record: line ${last_good.line}, number ${last_good.n}, ${last_good.id.slice(0, 12)}…`
    : '';
  return `${style.bad(`✗ ${code}`)}  ${place}\n    ${message}${good}\n    → ${style.command(hint)}`;
}

/** More signatures than this are not shown one by one: each vouches for what came before. */
const SHOWN = 5;

function renderSignatures(reports: readonly SignatureReport[], style: Style): string[] {
  const signed = reports.filter(({ status }) => status !== 'none');
  const open = reports.length - signed.length;
  const more = signed.length - SHOWN;
  return [
    ...signed.slice(0, SHOWN).map((report) => renderSignature(report, style)),
    ...(more > 0 ? [style.dim(`· ${plural(more, 'more signature')}`)] : []),
    ...(reports.length === 0 ? ['No commit or checkpoint names ledger heads yet.'] : []),
    ...(open > 0
      ? [`${plural(open, 'commit or tag', 'commits or tags')} with ledger heads: not signed`]
      : []),
  ];
}

function renderSignature(
  { kind, commit, ref, status, signer, heads, missing }: SignatureReport,
  style: Style,
): string {
  const marks = { good: style.good('✓'), bad: style.bad('✗'), unknown: style.warn('!'), none: '·' };
  const words = {
    good: `signed by ${signer}`,
    bad: 'the signature does not hold',
    unknown: `signed with a key that git does not trust here (${signer})`,
    none: 'not signed',
  };
  const gone = missing.length > 0 ? `, ${missing.length} missing` : '';
  const name = kind === 'tag' ? ref : `commit ${commit.slice(0, 12)}`;
  return `${marks[status]} ${name}  ${words[status]}  ${style.dim(`${plural(heads, 'head')}${gone}`)}`;
}

function renderVerify(
  { status, tiers, notes, problems, signatures, duration_ms }: Verified,
  style: Style,
): string {
  const rows = tiers.map(({ tier, records, bytes, heads, containers }) => [
    tier,
    plural(records, 'record'),
    size(bytes),
    plural(heads.length, 'head'),
    plural(containers.length, 'file'),
  ]);
  return [
    `memory is ${painted(status, style)}  ${style.dim(`${(duration_ms / 1000).toFixed(1)} s`)}`,
    columns(rows, '  '),
    ...notes.map((note) => style.dim(`· ${note}`)),
    ...(signatures ? renderSignatures(signatures, style) : []),
    ...problems.map((problem) => renderProblem(problem, style)),
    ...(status === 'halted'
      ? [
          `Writing is halted until a human says so: ${style.command('forge memory override acknowledge --reason "TEXT"')}`,
        ]
      : []),
  ].join('\n');
}

type Verified = Integrity & { duration_ms: number };

async function verify(call: Call): Promise<Verified> {
  const started = performance.now();
  const input = {
    ...tierOption(call),
    scan: call.options.scan === true,
    signatures: call.options.signatures === true,
  };
  const integrity = await call.forge().memory.verify(input);
  return { ...integrity, duration_ms: Math.round(performance.now() - started) };
}

function renderLog({ records }: { records: LogEntry[] }, style: Style): string {
  if (records.length === 0)
    return 'Nothing is recorded yet. Start with: forge memory record --task ID --exit-code 0';
  return columns(
    records.map(({ id, tier, n, kind, at, pattern, record }) => [
      style.dim(id.slice(0, 12)),
      at ? style.time(at) : '',
      tier,
      String(n),
      kind,
      oneLine(describe({ ...record, ...wordsOf(tier, record, pattern) }), 120),
    ]),
  );
}

/** An audit record is no place for the words of knowledge, which may have been redacted. */
const wordsOf = (tier: Tier, record: Record<string, unknown>, pattern: string | undefined) =>
  tier === 'audit' || record.pattern === undefined ? { pattern } : {};

/** The words of a record that tell most. */
function describe(record: Record<string, unknown>): string {
  const { task_id, exit_code, count, knowledge_id, pattern, promoted, contested, reinstated } = record;
  const { classification, action, feature, text, message, reason } = record;
  const known = pattern ?? (knowledge_id === undefined ? undefined : String(knowledge_id).slice(0, 12));
  const news = Object.entries({ promoted, contested, reinstated }).flatMap(([word, ids]) =>
    Array.isArray(ids) && ids.length > 0 ? [`${ids.length} ${word}`] : [],
  );
  const parts = [
    task_id,
    exit_code === undefined ? undefined : `exit ${exit_code}`,
    classification,
    action,
    feature,
    known,
    ...(Array.isArray(promoted) && news.length === 0 ? ['nothing new'] : news),
    text,
    message,
    reason,
    count === undefined ? undefined : plural(Number(count), 'record'),
  ];
  return parts.filter((part) => part !== undefined && part !== null).join('  ');
}

function describeRedacted({ by, at, reason }: Record<string, unknown>): string {
  if (by === undefined) return 'This record was redacted; no audit record here says by whom.';
  return `This record was redacted by ${by} at ${at}: ${oneLine(String(reason), 500)}`;
}

function renderStats(stats: MemoryStats, style: Style): string {
  const paint = { green: style.good, yellow: style.warn, red: style.bad }[stats.color];
  const rows = stats.tiers.map(({ tier, records, bytes, heads }) => [
    tier,
    plural(records, 'record'),
    size(bytes),
    plural(heads, 'head'),
  ]);
  return [
    `${paint('●')} memory is ${painted(stats.status, style)}, ${size(stats.bytes)}${stats.growth === 'paused' ? style.bad(' — consolidation is paused') : ''}`,
    columns(rows, '  '),
    `  ${plural(stats.files, 'file')}, journal ${size(stats.journal_bytes)}`,
    ...stats.next.map((next) => `  → ${style.command(next)}`),
  ].join('\n');
}

export const looking = [
  command<Verified>({
    name: 'verify',
    summary:
      'Check memory against itself, the journal, history and the commit last verified. Exit 4 on damage',
    example: 'forge memory verify',
    options: [
      TIER,
      { flags: '--signatures', help: 'also have git verify who signed which ledger heads' },
      { flags: '--scan', help: 'also look for secrets and personal data in what is stored (exit 5)' },
    ],
    writes: true,
    run: verify,
    render: renderVerify,
    exit: ({ status }) => ({ intact: 0, removed: 1, secret: 5, corrupted: 4, halted: 4 })[status],
  }),
  command<{ records: LogEntry[] }>({
    name: 'log',
    summary: 'Show the last records',
    example: 'forge memory log --tier audit --limit 10',
    options: [TIER, { flags: '--limit <n>', help: 'how many; default 20', number: [1, 100_000] }],
    run: (call) =>
      call.forge().memory.log({
        ...tierOption(call),
        ...(call.options.limit === undefined ? {} : { limit: call.options.limit as number }),
      }),
    render: renderLog,
  }),
  command<LogEntry>({
    name: 'show',
    args: ['<id>'],
    values: { id: { live: ['record'] } },
    summary: 'Show one record whole',
    example: 'forge memory show 3fa9c1d2',
    run: (call, id) => call.forge().memory.show({ id: id as string }),
    render: ({ id, kind, record }, style) =>
      `${style.dim(id)}${kind === 'redacted' ? `\n${describeRedacted(record)}` : ''}\n${JSON.stringify(record, null, 2)}`,
  }),
  command<MemoryStats>({
    name: 'stats',
    summary: 'Show how large memory is, and whether it is well',
    example: 'forge memory stats',
    run: (call) => call.forge().memory.stats(),
    render: renderStats,
  }),
];
