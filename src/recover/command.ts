import { resolve } from 'node:path';
import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { harmless } from '../cli/style.js';
import { refused, usage } from '../core/error.js';
import type { RecoveryPlan } from '../index.js';
import { type RecoverAnswer, renderPlan, renderRecover } from './render.js';

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

/** A pause is an answer that stops whoever asked. */
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
