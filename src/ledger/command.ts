import { type Call, command, type Group, given, type OptionSpec, REASON, reasonOf } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, oneOf, plural } from '../core/text.js';
import {
  type Integrity,
  type LogEntry,
  type MemoryStats,
  type Problem,
  type Redaction,
  type Repaired,
  type SignatureReport,
  TIERS,
  type Tier,
} from '../index.js';
import { recordCommand, reportCommand } from '../learning/command-cycles.js';
import { consolidateCommand, overrideCommand, promoteCommand } from '../learning/command-knowledge.js';
import { summaryOf } from './record.js';

const short = (id: string): string => id.slice(0, 12);

const TIER: OptionSpec = { flags: '--tier <tier>', help: TIERS.join(', '), values: { words: TIERS } };

function tierOption({ options }: Call): { tier?: Tier } {
  const { tier } = options as { tier?: string };
  return tier === undefined ? {} : { tier: oneOf(TIERS, tier, '--tier', 'tier.unknown') };
}

function formatSize(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`;
  return bytes < 10_000_000 ? `${(bytes / 1000).toFixed(0)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const TROUBLES = {
  removed: 'needs a decision',
  secret: 'has content to redact',
  corrupted: 'is corrupted',
  halted: 'is halted',
};

/** Never "intact" while an acknowledged record is missing. */
function headline(status: Integrity['status'], missing: number, style: Style): string {
  if (status !== 'intact') return `memory ${style.bad(TROUBLES[status])}`;
  if (missing === 0) return `memory is ${style.good('intact')}`;
  const count = plural(missing, 'record is', 'records are');
  return style.warn(`${count} missing from memory`);
}

function renderProblem(
  { file, line, offset, message, last_good, hint, code }: Problem,
  style: Style,
): string {
  const place = line > 0 ? `${file}:${line} (byte ${offset})` : file;
  const good = last_good
    ? `\n    last good record: line ${last_good.line}, number ${last_good.n}, ${short(last_good.id)}…`
    : '';
  return `${style.bad(`✗ ${code}`)}  ${place}\n    ${message}${good}\n    → ${style.command(hint)}`;
}

function renderSignatures(reports: readonly SignatureReport[], style: Style): string[] {
  if (reports.length === 0) return ['No commit or checkpoint names ledger heads yet.'];
  // Each signature vouches for everything before it, so the newest ones are enough.
  const signed = reports.filter(({ status }) => status !== 'none').slice(0, MAX_SIGNATURES);
  const unsigned = reports.filter(({ status }) => status === 'none').length;
  return [
    ...signed.map((report) => renderSignature(report, style)),
    ...(unsigned > 0
      ? [`${plural(unsigned, 'commit or tag', 'commits or tags')} with ledger heads: not signed`]
      : []),
  ];
}

const MAX_SIGNATURES = 5;

function renderSignature(
  { kind, commit, ref, status, signer, heads, missing }: SignatureReport,
  style: Style,
): string {
  const [mark, words] = {
    good: [style.good('✓'), `signed by ${signer}`],
    bad: [style.bad('✗'), 'the signature does not hold'],
    unknown: [style.warn('!'), `signed with a key that git does not trust here (${signer})`],
    none: ['·', 'not signed'],
  }[status];
  const gone = missing.length > 0 ? `, ${missing.length} missing` : '';
  const name = kind === 'tag' ? ref : `commit ${short(commit)}`;
  return `${mark} ${name}  ${words}  ${style.dim(`${plural(heads, 'head')}${gone}`)}`;
}

type Verified = Integrity & { duration_ms: number };

async function verify(call: Call): Promise<Verified> {
  const started = performance.now();
  const { scan, signatures } = call.options;
  const input = { ...tierOption(call), scan: scan === true, signatures: signatures === true };
  const integrity = await call.forge().memory.verify(input);
  return { ...integrity, duration_ms: Math.round(performance.now() - started) };
}

const ACKNOWLEDGE = 'forge memory override acknowledge --reason "TEXT"';

const sizesOf = ({ tier, records, bytes }: { tier: Tier; records: number; bytes: number }) => [
  tier,
  plural(records, 'record'),
  formatSize(bytes),
];

function renderVerify(
  { status, tiers, notes, problems, missing, signatures, duration_ms }: Verified,
  style: Style,
): string {
  const rows = tiers.map((tier) => [
    ...sizesOf(tier),
    plural(tier.heads.length, 'head'),
    plural(tier.containers.length, 'file'),
  ]);
  const fix = status === 'intact' && missing.length > 0 ? [`→ ${style.command('forge memory repair')}`] : [];
  return [
    `${headline(status, missing.length, style)}  ${style.dim(`${(duration_ms / 1000).toFixed(1)} s`)}`,
    ...fix,
    columns(rows, '  '),
    ...notes.map((note) => style.dim(`· ${note}`)),
    ...(signatures ? renderSignatures(signatures, style) : []),
    ...problems.map((problem) => renderProblem(problem, style)),
    ...(status === 'halted' ? [`Writing is halted until a human runs: ${style.command(ACKNOWLEDGE)}`] : []),
  ].join('\n');
}

function renderLog({ records }: { records: LogEntry[] }, style: Style): string {
  if (records.length === 0) return 'No such records yet.';
  return columns(
    records.map((entry) => [
      style.dim(short(entry.id)),
      entry.at ? style.time(entry.at) : '',
      ...[entry.tier, String(entry.n), entry.kind],
      oneLine(summaryOf(entry.record), 120),
    ]),
  );
}

function renderShow({ id, kind, record }: LogEntry, style: Style): string {
  const { audit } = record;
  const why = typeof audit === 'string' ? [`Who, when and why: forge memory show ${short(audit)}`] : [];
  const redacted = kind === 'redacted' ? ['This record was redacted.', ...why] : [];
  return [style.dim(id), ...redacted, JSON.stringify(record, null, 2)].join('\n');
}

function renderStats({ status, missing, tiers, bytes, files, growth }: MemoryStats, style: Style): string {
  const isIntact = status === 'intact' && missing === 0;
  return [
    `${headline(status, missing, style)}, ${formatSize(bytes)} in ${plural(files, 'file')}`,
    columns(
      tiers.map((tier) => [...sizesOf(tier), plural(tier.heads, 'head')]),
      '  ',
    ),
    ...(isIntact ? [] : [`→ ${style.command('forge memory verify')}`]),
    ...(growth === 'paused' ? [`consolidation is paused → ${style.command(ACKNOWLEDGE)}`] : []),
  ].join('\n');
}

function renderRedaction({ redacted, files, history, replacements_file: file }: Redaction): string {
  const lines = redacted.map(({ id, tier, n, found, audit }) =>
    audit
      ? `redacted ${short(id)} (${tier}, number ${n})  audit ${short(audit.id)}`
      : `${short(id)} (number ${n}) was redacted before; ${found ? 'its content was here again' : 'nothing here has its content'}`,
  );
  return [
    ...lines,
    ...files.map((file) => `  removed from ${file}`),
    ...renderHistory(history ?? [], file),
  ].join('\n');
}

/** What a person has to do: forge does not rewrite history. */
function renderHistory([first, ...more]: readonly string[], file: string | null): string[] {
  if (first === undefined) return ['No commit has the content.'];
  return [
    `Git history still has the content: ${plural(more.length + 1, 'commit')} wrote it, first ${short(first)}`,
    'To purge it (revoke the secret first: every clone has it):',
    '  1. commit .forge/ on every branch that has the record',
    `  2. git filter-repo --replace-text ${file} --force`,
    '  3. git reflog expire --expire=now --all && git gc --prune=now',
    '  4. git push --force --all && git push --force --tags',
    'Clones, forks and caches of a hosting service keep their copies until they are cloned again.',
  ];
}

async function repair(call: Call): Promise<Repaired> {
  const { memory } = call.forge();
  const discard = (call.options.discard ?? []) as string[];
  const steps = await memory.planRepair({ discard });
  if (steps.length > 0 && call.flags.dryRun)
    return { done: steps.map(({ finding, action }) => `${finding} → ${action}`), discarded: [] };
  for (const { finding, action } of steps) call.say(`${finding}\n  → ${call.style.command(action)}`);
  const input = { discard, ...reasonOf(call) };
  if (steps.length === 0 || !call.interactive || 'reason' in input) return memory.repair(input);
  const { line } = await import('../cli/prompt.js');
  const reason = await line('Do this? Give a reason for the audit records, or nothing to cancel', '');
  return reason.trim() === '' ? { done: [], discarded: [] } : memory.repair({ ...input, reason });
}

const verifyCommand = command<Verified>({
  name: 'verify',
  summary:
    'Verify memory against itself, the journal, history and the last verified commit. Exit 4 on damage',
  example: 'forge memory verify',
  options: [
    TIER,
    { flags: '--signatures', help: 'also have git verify who signed which ledger heads' },
    { flags: '--scan', help: 'also scan stored records for secrets and personal data (exit 5)' },
  ],
  writes: true,
  run: verify,
  render: renderVerify,
  exit: ({ status }) => ({ intact: 0, removed: 1, secret: 5, corrupted: 4, halted: 4 })[status],
});

const logCommand = command<{ records: LogEntry[] }>({
  name: 'log',
  summary: 'Show the last records',
  example: 'forge memory log --tier audit --limit 10',
  options: [TIER, { flags: '--limit <n>', help: 'how many; default 20', number: [1, 100_000] }],
  run: (call) => call.forge().memory.log({ ...tierOption(call), ...given<{ limit: number }>(call, 'limit') }),
  render: renderLog,
});

const showCommand = command<LogEntry>({
  name: 'show',
  args: ['<id>'],
  summary: 'Show one record in full',
  example: 'forge memory show 3fa9c1d2',
  run: (call, id) => call.forge().memory.show({ id: id as string }),
  render: renderShow,
});

const statsCommand = command<MemoryStats>({
  name: 'stats',
  summary: 'Show the size of memory and whether it is intact',
  example: 'forge memory stats',
  run: (call) => call.forge().memory.stats(),
  render: renderStats,
});

const repairCommand = command<Repaired>({
  name: 'repair',
  summary: 'Settle damage and missing records: shows what it will do, and asks (a human, with a reason)',
  example: 'forge memory repair --reason "the disk filled up on Monday"',
  options: [
    REASON,
    {
      flags: '--discard <name>',
      help: 'accept that the records of a branch, a commit or an id are gone',
      many: true,
    },
  ],
  writes: true,
  run: repair,
  render: ({ done }) => (done.length === 0 ? 'Nothing was changed.' : done.join('\n')),
});

const redactCommand = command<Redaction>({
  name: 'redact',
  args: ['<ids...>'],
  summary: 'Remove the content of records for good; ids and links stay (a human, with a reason)',
  example: 'forge memory redact 3fa9c1d20b7e --reason "a token was recorded; it is revoked"',
  options: [REASON],
  writes: true,
  run: (call, ...ids) => call.forge().memory.redact({ ids, ...reasonOf(call) }),
  render: renderRedaction,
});

/** The most frequent ones come first. */
export const group: Group = [
  ...[verifyCommand, promoteCommand, reportCommand, logCommand, recordCommand, consolidateCommand],
  ...[showCommand, statsCommand, repairCommand, redactCommand, overrideCommand],
];
