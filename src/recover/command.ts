import { resolve } from 'node:path';
import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, harmless, type Style } from '../cli/style.js';
import { refused, usage } from '../core/error.js';
import { oneLine, plural } from '../core/text.js';
import type { BackupList, InspectedCheckpoint, Recovered, RecoveryPlan, Undone } from '../index.js';
import { lacksCheckpoint } from './rules.js';

type RecoverAnswer = RecoveryPlan | Recovered | Undone | BackupList | InspectedCheckpoint;

function renderRecover(answer: RecoverAnswer, style: Style): string {
  if ('backups' in answer) return renderBackups(answer, style);
  if ('undone' in answer) return renderUndone(answer, style);
  if ('worktree' in answer) return renderWorktree(answer, style);
  return [renderPlan(answer, style), ...('next' in answer ? [renderDone(answer, style)] : [])].join('\n\n');
}

const WORDS = {
  continue: 'go on, with fixes',
  rollback: 'roll back to the checkpoint',
  alert: 'stop, and let a human look',
} as const;

/** The table that decides, and what it says. */
export function renderPlan({ checkpoint, divergence, decision, rules }: RecoveryPlan, style: Style): string {
  const { insertions, deletions, behind, in_the_way, features_lost } = divergence;
  const rows = rules.map(({ rule, value, limit, holds, otherwise }) => [
    holds ? style.good('✓') : style.bad('✗'),
    rule.replaceAll('_', ' '),
    oneLine(String(value), 200),
    style.dim(typeof limit === 'number' ? `at most ${limit}` : limit),
    holds ? '' : `→ ${otherwise}`,
  ]);
  const more = [
    insertions === null
      ? 'lines not counted: git has not got every file of the checkpoint'
      : `${plural(insertions, 'line')} added, ${deletions} removed`,
    ...(behind > 0 ? [`${plural(behind, 'commit')} of the checkpoint missing here`] : []),
    ...(features_lost.length > 0 ? [`lost: ${features_lost.map((id) => oneLine(id, 60)).join(', ')}`] : []),
    ...(in_the_way.length > 0
      ? [
          `ignored files in the way: ${in_the_way
            .slice(0, 5)
            .map((path) => oneLine(path, 100))
            .join(', ')}`,
        ]
      : []),
  ];
  const title = checkpoint
    ? `${style.strong(checkpoint.tag)}  ${style.dim(`${checkpoint.commit.slice(0, 12)}, ${style.time(checkpoint.timestamp)}`)}`
    : 'No checkpoint to compare with. While all works: forge checkpoint create';
  const verdict = lacksCheckpoint(rules)
    ? 'Without one, forge recover does nothing.'
    : `${style.strong(decision)}: ${WORDS[decision]}`;
  return `${title}\n${columns(rows, '  ').replace(/ +$/gm, '')}\n  ${style.dim(more.join('; '))}\n${verdict}`;
}

function renderDone({ decision, backup_ref, commit, next }: Recovered, style: Style): string {
  const todo = next.map((line) => `  ${oneLine(line, 400)}`);
  if (decision === 'alert') return [style.warn('Paused.'), ...todo].join('\n');
  if (decision === 'continue') return ['Go on. To do:', ...todo].join('\n');
  if (backup_ref === undefined) return 'Nothing was done.';
  const what = commit ? `commit ${commit.slice(0, 12)}` : 'no commit was needed';
  const kept = backup_ref === null ? 'nothing differed' : `all that changed is in ${backup_ref}`;
  return [`${style.good('✓')} Rolled back (${what}); ${kept}`, ...todo].join('\n');
}

function renderUndone({ undone, commit, files, backup_ref, planned }: Undone, style: Style): string {
  const what = `${undone}: ${plural(files, 'file')} as ${files === 1 ? 'it was' : 'they were'}${commit && !planned ? `, commit ${commit.slice(0, 12)}` : ''}`;
  if (planned) return `would bring back ${what}`;
  const newer = backup_ref === null ? '' : `\n  newer work is in ${backup_ref}`;
  return `${style.good('✓')} Brought back ${what}${newer}`;
}

function renderBackups({ backups }: BackupList, style: Style): string {
  if (backups.length === 0) return 'No backups: nothing was rolled back here.';
  return columns(
    backups.map(({ ref, at, subject, here }) => [
      style.strong(ref),
      style.dim(style.time(at)),
      `${oneLine(subject, 100)}${here ? '' : style.dim('  (another worktree)')}`,
    ]),
  );
}

const renderWorktree = ({ checkpoint, worktree }: InspectedCheckpoint, style: Style): string =>
  worktree === null
    ? `would put ${checkpoint.tag} into a worktree`
    : `${style.good('✓')} ${checkpoint.tag} is in ${worktree}\n  ${style.dim(`remove it with: git worktree remove ${worktree}`)}`;

interface Flags {
  plan?: boolean;
  to?: string;
  worktree?: string;
  undo?: string | true;
  list?: boolean;
}

/** One thing at a time. */
function refuseSeveral({ plan, worktree, undo, list, to }: Flags): void {
  const given = Object.entries({ '--plan': plan, '--worktree': worktree, '--undo': undo, '--list': list })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (to !== undefined && (undo !== undefined || list)) given.push('--to');
  if (given.length > 1) throw usage('recover.several', `${given.join(' and ')} do not go together.`);
}

async function run(call: Call): Promise<RecoverAnswer> {
  const flags = call.options as Flags;
  refuseSeveral(flags);
  const { recover } = call.forge();
  const to = flags.to === undefined ? {} : { to: flags.to };
  if (flags.list) return recover.list();
  if (flags.plan) return recover.plan(to);
  if (flags.worktree !== undefined) return recover.inspect({ ...to, dir: resolve(call.cwd, flags.worktree) });
  if (flags.undo !== undefined) return undo(call, flags.undo);
  const plan = await recover.propose(to);
  await confirmPlan(call, plan);
  return recover.act({ ...to, agreed: { decision: plan.decision, head: plan.head } });
}

async function undo(call: Call, name: string | true): Promise<RecoverAnswer> {
  await confirmed(call, 'Bring back what the rollback took away?', 'forge recover --undo --yes');
  return call.forge().recover.undo(name === true ? {} : { backup: name });
}

const QUESTIONS = {
  continue: 'Go on from here?',
  rollback: 'Roll back? All that this changes goes into a backup first.',
  alert: 'Pause the work until a human has looked?',
} as const;

async function confirmPlan(call: Call, plan: RecoveryPlan): Promise<void> {
  if (call.interactive && !call.flags.yes) call.say(renderPlan(harmless(plan), call.style));
  await confirmed(call, QUESTIONS[plan.decision], 'forge recover --plan  then  forge recover --yes');
}

async function confirmed(call: Call, question: string, hint: string): Promise<void> {
  if (call.flags.yes || call.flags.dryRun) return;
  if (call.interactive) {
    const { confirm } = await import('../cli/prompt.js');
    if (await confirm(question)) return;
  }
  throw refused('recover.unconfirmed', 'Nothing was done: nobody agreed to it.', { hint });
}

/** A pause is an answer that stops the caller. */
const isPaused = (answer: RecoverAnswer): boolean =>
  'decision' in answer && answer.decision === 'alert' && 'audit' in answer;

const recover: CommandSpec<RecoverAnswer> = {
  name: 'recover',
  summary: 'Compare with the last checkpoint; go on, roll back, or stop until a human has looked',
  example: 'forge recover --plan',
  options: [
    { flags: '--plan', help: 'only show what the rules say' },
    { flags: '--to <tag>', help: 'this checkpoint, not the last good one' },
    { flags: '--worktree <dir>', help: 'only put the checkpoint into a worktree of its own' },
    {
      flags: '--undo [backup]',
      help: 'bring back what a rollback took away: the last one, or the one named',
      values: { live: ['backup'] },
    },
    { flags: '--list', help: 'show the backups' },
  ],
  writes: true,
  confirms: true,
  run,
  render: renderRecover,
  exit: (answer) => (isPaused(answer) ? 3 : 0),
};

export const group: Group = { commands: [command(recover)] };
