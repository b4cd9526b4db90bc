import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import type {
  CheckpointRow,
  CheckpointWatch,
  CreatedCheckpoint,
  ShownCheckpoint,
  VerifiedCheckpoints,
} from '../index.js';

/** Shows the commands that run, and the output of those that fail. */
export function watch(call: Call): CheckpointWatch {
  const { write: onOutput, end: onEnd } = call.tail();
  return { onStart: (line) => call.say(oneLine(line, 200)), onOutput, onEnd, signal: call.signal };
}

function create(call: Call, issue: string | undefined): Promise<CreatedCheckpoint> {
  const { verify, message } = call.options as { verify?: string[]; message?: string };
  const input = { issue, verify, message };
  const asks = call.interactive && !call.flags.yes;
  return call.forge().checkpoint.create(input, {
    ...watch(call),
    ...(asks ? { confirmPush: (made) => confirmPush(call, made) } : {}),
  });
}

async function confirmPush(call: Call, { tag, push = '' }: CreatedCheckpoint): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  call.say(`${tag} is in this clone only.`);
  return confirm(`Push it now (${oneLine(push, 300)})?`);
}

function renderCreated(made: CreatedCheckpoint, style: Style): string {
  const { tag, planned, verified_by, commit = '', features_passing = [], push, pushed } = made;
  const manifest = made.manifest_commit?.slice(0, 12);
  if (planned)
    return [
      `would make ${tag}, once these pass:`,
      ...verified_by.map((line) => `  ${oneLine(line, 300)}`),
    ].join('\n');
  return [
    `${style.good('✓')} ${style.strong(tag)} marks ${commit.slice(0, 12)}, verified by ${plural(verified_by.length, 'command')}, ${plural(features_passing.length, 'feature')} passing`,
    ...(manifest ? [style.dim(`  its manifest is commit ${manifest}`)] : []),
    ...(push === undefined || pushed ? [] : [style.dim(`  to share it: ${oneLine(push, 300)}`)]),
  ].join('\n');
}

const paint = (state: CheckpointRow['state'], style: Style): string =>
  state === 'ok' ? style.good(state) : style.bad(state);

function renderList({ checkpoints }: { checkpoints: CheckpointRow[] }, style: Style): string {
  if (checkpoints.length === 0) return 'No checkpoints yet. Make one with: forge checkpoint create';
  return columns(
    checkpoints.map(({ tag, commit, timestamp, features_passing, state, why }) => [
      style.strong(tag),
      commit?.slice(0, 12) ?? '',
      style.dim(timestamp === null ? '' : style.time(timestamp)),
      plural(features_passing.length, 'feature'),
      `${paint(state, style)}${why ? `: ${oneLine(why, 200)}` : ''}`,
    ]),
  );
}

function renderShown(shown: ShownCheckpoint, style: Style): string {
  const { tag, state, why, commit, timestamp, branch, session, message } = shown;
  const ledgers = Object.entries(shown.ledger ?? {}).map(([tier, heads]) => `${tier} ${heads?.records ?? 0}`);
  const rows = [
    ['state', `${paint(state, style)}${why ? `: ${oneLine(why, 300)}` : ''}`],
    ...Object.entries({
      commit,
      made: timestamp,
      branch,
      session,
      'verified by': shown.verified_by?.join('; '),
      features: shown.features_passing?.join(', '),
      'issues closed': shown.linear_issues_closed?.join(', '),
      records: ledgers.join(', '),
      manifest: shown.file ?? (commit && 'in the tag'),
    }).flatMap(([name, value]) => (value ? [[name, oneLine(value, 400)]] : [])),
  ];
  const title = message === undefined ? '' : `  ${oneLine(message, 200)}`;
  return `${style.strong(tag)}${title}\n${columns(rows)}`;
}

function renderVerified({ checkpoints, findings, evidence }: VerifiedCheckpoints, style: Style): string {
  if (findings.length > 0)
    return findings
      .map(({ message, hint }) => `${style.bad('✗')} ${oneLine(message, 400)}\n  → ${hint}`)
      .join('\n');
  if (checkpoints.length === 0) return 'No checkpoints yet. Make one with: forge checkpoint create';
  const ran = evidence ? `; ${plural(evidence.length, 'command')} passed again` : '';
  const what = checkpoints.length === 1 ? checkpoints[0] : plural(checkpoints.length, 'checkpoint');
  return `${style.good('✓')} ${what}: tag, commit, manifest and records are as they were${ran}`;
}

export const group: Group = [
  command<CreatedCheckpoint>({
    name: 'create',
    args: ['[issue]'],
    values: { issue: { live: ['issue', 'feature'] } },
    summary: 'Run the verify commands; then mark this state by a tag and a manifest',
    example: 'forge checkpoint create SX9-123 --verify "npm test"',
    options: [
      {
        flags: '--verify <command>',
        help: 'must pass; instead of [checkpoint] verify and features',
        many: true,
      },
      { flags: '-m, --message <text>', help: 'what works now' },
    ],
    writes: true,
    run: create,
    render: renderCreated,
  }),
  command<{ checkpoints: CheckpointRow[] }>({
    name: 'list',
    summary: 'List the checkpoints, newest first',
    example: 'forge checkpoint list',
    run: (call) => call.forge().checkpoint.list(),
    render: renderList,
  }),
  command<ShownCheckpoint>({
    name: 'show',
    args: ['<tag>'],
    summary: 'Show a checkpoint with what verified it',
    example: 'forge checkpoint show SX9-123-v1',
    run: (call, tag) => call.forge().checkpoint.show({ tag: tag as string }),
    render: renderShown,
  }),
  command<VerifiedCheckpoints>({
    name: 'verify',
    args: ['[tag]'],
    summary: 'Check tags, manifests and records; exit 1 if one was changed',
    example: 'forge checkpoint verify SX9-123-v1',
    options: [{ flags: '--run', help: "also rerun its commands; the files must be the checkpoint's" }],
    run: (call, tag) => call.forge().checkpoint.verify({ tag, run: call.options.run === true }, watch(call)),
    render: renderVerified,
    exit: ({ findings }) => (findings.length === 0 ? 0 : 1),
  }),
];
