import { resolve } from 'node:path';
import { watch } from '../checkpoint/command.js';
import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { firstPaths, harmless, oneLine, plural } from '../core/text.js';
import type { BackupList, InspectedCheckpoint, Recovered, RecoveryPlan, Undone } from '../index.js';

type RecoverAnswer = RecoveryPlan | Recovered | Undone | BackupList | InspectedCheckpoint;

function renderRecover(answer: RecoverAnswer, style: Style): string {
  if ('backups' in answer) return renderBackups(answer, style);
  if ('undone' in answer) return renderUndone(answer, style);
  if ('worktree' in answer) return renderWorktree(answer, style);
  const done = 'next' in answer ? [renderDone(answer, style)] : [];
  // At a terminal the plan was shown before the rollback.
  const isShown = style.width !== null && 'next' in answer && answer.backup_ref !== undefined;
  return [...(isShown ? [] : [renderPlan(answer, style)]), ...done].join('\n\n');
}

function describeDecision({ decision, checks, divergence }: RecoveryPlan): string {
  const hasFailed = checks.some(({ state }) => state === 'failed');
  if (decision === 'alert') return 'a human has to look first; nothing is done';
  if (decision === 'continue')
    return hasFailed
      ? 'fix what fails; only uncommitted work can have broken it'
      : 'what the checkpoint proved still holds';
  const { uncommitted, untracked } = divergence;
  return [
    'roll back to the checkpoint',
    ...(untracked > 0 ? ['  Untracked files move into its backup.'] : []),
    ...(hasFailed && uncommitted > 0
      ? ['  If uncommitted work is the cause: git stash -u, then forge recover --plan']
      : []),
  ].join('\n');
}

const MARKS = { passed: ['good', '✓'], failed: ['bad', '✗'], not_run: ['warn', '?'] } as const;

/** The commands that ran, the table that decides, and the sizes, which are only informational. */
function renderPlan(plan: RecoveryPlan, style: Style): string {
  const { checkpoint, checks, decision, rules } = plan;
  const ran = checks.map(({ name, state, why }) => {
    const [paint, mark] = MARKS[state];
    return [
      style[paint](mark),
      oneLine(name, 200),
      state.replace('_', ' '),
      style.dim(oneLine(why ?? '', 200)),
    ];
  });
  const rows = rules.map(({ rule, value, limit, holds, otherwise }) => [
    holds ? style.good('✓') : style.bad('✗'),
    rule.replaceAll('_', ' '),
    oneLine(String(value), 200),
    style.dim(typeof limit === 'number' ? `at most ${limit}` : limit),
    holds ? '' : `→ ${otherwise}`,
  ]);
  const title = checkpoint
    ? `${style.strong(checkpoint.tag)}  ${style.dim(`${checkpoint.commit.slice(0, 12)}, ${style.time(checkpoint.timestamp)}`)}`
    : 'No checkpoint to compare with. While all works: forge checkpoint create';
  const verdict = `${style.strong(decision)}: ${describeDecision(plan)}`;
  const tables = [ran, rows].filter((table) => table.length > 0).map((table) => columns(table, '  '));
  const text = [title, ...tables].join('\n').replace(/ +$/gm, '');
  return `${text}\n  ${style.dim(describeSizes(plan))}\n${verdict}`;
}

function describeSizes({ divergence, checkpoint }: RecoveryPlan): string {
  const { commits, files, changed_files, untracked, untracked_files, insertions, deletions } = divergence;
  if (!checkpoint) return 'nothing was compared';
  const named = (paths: readonly string[]): string => (paths.length === 0 ? '' : `: ${firstPaths(paths)}`);
  const log = commits > 0 ? `\n  git log --oneline ${checkpoint.tag}..   # these commits` : '';
  return `since then: ${plural(commits, 'commit')}, ${plural(files, 'changed file')} (+${insertions} -${deletions} lines)${named(changed_files)}, ${untracked} untracked${named(untracked_files)}${log}`;
}

function renderDone(
  { decision, backup_ref, commit, features = [], commands = [], next }: Recovered,
  style: Style,
): string {
  const todo = next.map((line) => `  ${oneLine(line, 400).replace(' # ', '   # ')}`);
  if (decision === 'alert') return [style.warn('Nothing was done. To settle first:'), ...todo].join('\n');
  if (decision === 'continue')
    return ['Go on. To do:', ...todo, style.dim('To go back instead: forge recover --rollback')].join('\n');
  if (backup_ref === undefined) return 'Nothing was done.';
  const what = commit ? `commit ${commit.slice(0, 12)}` : 'HEAD has its code, so only files changed';
  const kept = backup_ref === null ? 'nothing differed' : `all that changed is in ${backup_ref}`;
  const now = [
    ...commands.map(({ name, state }) => `${name} ${state.replace('_', ' ')}`),
    ...features.map(({ id, status }) => `${id} ${status.replaceAll('_', ' ')}`),
  ].join(', ');
  const ran = now === '' ? [] : [`  what it proved ran again: ${oneLine(now, 400)}`];
  return [`${style.good('✓')} Rolled back (${what}); ${kept}`, ...ran, ...todo].join('\n');
}

function renderUndone({ what, at, ref, redo, commit, files, paths, planned }: Undone, style: Style): string {
  const made = commit && !planned ? `, commit ${commit.slice(0, 12)}` : '';
  const done = `${oneLine(what, 200)} (saved ${style.time(at)}): ${plural(files, 'file')}${made}`;
  if (planned) return `would undo ${done}${files === 0 ? '' : `\n  ${firstPaths(paths)}`}`;
  return `${style.good('✓')} Undone: ${done}\n  what was there until now is in ${ref}; bring it back with: ${redo}`;
}

function renderBackups({ backups }: BackupList, style: Style): string {
  if (backups.length === 0) return 'No backups: nothing was rolled back here.';
  return columns(
    backups.map(({ ref, at, subject }) => [
      style.strong(ref),
      style.dim(style.time(at)),
      oneLine(subject, 100),
    ]),
  );
}

const renderWorktree = ({ checkpoint, worktree }: InspectedCheckpoint, style: Style): string =>
  worktree === null
    ? `would put ${checkpoint.tag} into a worktree`
    : `${style.good('✓')} ${checkpoint.tag} is in ${worktree}\n  ${style.dim(`remove it with: ${formatArgv(['git', 'worktree', 'remove', worktree])}`)}`;

interface Flags {
  plan?: boolean;
  to?: string;
  rollback?: boolean;
  worktree?: string;
  undo?: string | true;
  list?: boolean;
}

function refuseSeveral(flags: Flags): void {
  const given = (['plan', 'worktree', 'undo', 'list'] as const)
    .filter((name) => flags[name] !== undefined)
    .map((name) => `--${name}`);
  if (given.length > 1) throw usage('recover.several', `${given.join(' and ')} cannot be used together.`);
}

async function run(call: Call): Promise<RecoverAnswer> {
  const flags = call.options as Flags;
  refuseSeveral(flags);
  const { recover } = call.forge();
  const { to, rollback } = flags;
  const target = { to, rollback };
  if (flags.list) return recover.list();
  if (flags.plan) return recover.plan(target, watch(call));
  if (flags.worktree !== undefined) return recover.inspect({ to, dir: resolve(call.cwd, flags.worktree) });
  if (flags.undo !== undefined) return recover.undo(flags.undo === true ? {} : { backup: flags.undo });
  return recover.act(target, { ...watch(call), confirm: (plan) => confirmRollback(call, plan) });
}

async function confirmRollback(call: Call, plan: RecoveryPlan): Promise<boolean> {
  if (call.style.width !== null) call.say(renderPlan(harmless(plan), call.style));
  if (call.flags.yes) return true;
  if (!call.interactive) return false;
  const { confirm } = await import('../cli/prompt.js');
  return confirm('Roll back? Everything that changes is backed up first.');
}

/** An alert fails the command, unless only the plan was requested. */
const isAlert = (answer: RecoverAnswer): boolean =>
  'decision' in answer && answer.decision === 'alert' && 'next' in answer;

const recover: CommandSpec<RecoverAnswer> = {
  name: 'recover',
  summary: 'Run what the last checkpoint proved; go on, or roll back to it',
  example: 'forge recover --plan',
  options: [
    { flags: '--plan', help: 'only run the checks and show what the rules say' },
    { flags: '--to <tag>', help: 'this checkpoint, not the last good one' },
    { flags: '--rollback', help: 'roll back even when nothing is broken' },
    { flags: '--worktree <dir>', help: 'only put the checkpoint into a worktree of its own' },
    {
      flags: '--undo [backup]',
      help: 'bring back what a rollback took away: the last one, or the one named',
    },
    { flags: '--list', help: 'show the backups' },
  ],
  writes: true,
  confirms: true,
  run,
  render: renderRecover,
  exit: (answer) => (isAlert(answer) ? 1 : 0),
};

export const group: Group = [command(recover)];

const undoLast: CommandSpec<Undone> = {
  name: 'undo',
  args: ['[backup]'],
  summary: 'Take back the last recover, feature remove or session discard; again, to redo it',
  example: 'forge undo',
  writes: true,
  run: (call, backup) => call.forge().undo({ backup }),
  render: renderUndone,
};

export const undoGroup: Group = [command(undoLast)];
