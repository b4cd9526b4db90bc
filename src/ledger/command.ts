import { REASON, reasonOf } from '../cli/options.js';
import { type Call, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { plural } from '../core/text.js';
import type { Redaction, Repaired, RepairStep } from '../index.js';
import { recording, reporting } from '../learning/command-cycles.js';
import { overriding, promoting } from '../learning/command-knowledge.js';
import { looking } from './command-look.js';

const short = (id: string): string => id.slice(0, 12);

function renderRedaction({ redacted, files, history, replacements }: Redaction): string {
  const lines = redacted.map(({ id, tier, n, audit }) =>
    audit
      ? `redacted ${short(id)} (${tier}, number ${n})  audit ${short(audit.id)}`
      : `${short(id)} (number ${n}) was redacted before; nothing here has its content`,
  );
  return [
    ...lines,
    ...files.map((file) => `  taken out of ${file}`),
    ...describeHistory(history ?? [], replacements),
  ].join('\n');
}

/** What a person has to do themselves: forge does not rewrite history. */
function describeHistory(
  history: NonNullable<Redaction['history']>,
  replacements: readonly string[],
): string[] {
  if (history.length === 0) return ['No commit has the content.'];
  return [
    'Git history still has the content:',
    ...history.map(
      ({ path, commits, first }) =>
        `  ${path}: ${plural(commits, 'commit')} wrote it, the first ${short(first)}`,
    ),
    'To purge it (first revoke or change what it was: whoever has a clone has it):',
    '  1. commit .forge/, on every branch that has the record',
    '  2. put into a file outside of the repository:',
    ...replacements,
    '  3. git filter-repo --replace-text FILE --force',
    '  4. git reflog expire --expire=now --all && git gc --prune=now',
    '  5. git push --force --all && git push --force --tags',
    'Every clone, fork and cache of a hosting service keeps its copy until it is cloned anew.',
  ];
}

const describeStep = ({ finding, action }: RepairStep, style: Style): string =>
  `${finding}\n  → ${style.command(action)}`;

async function repair(call: Call): Promise<Repaired> {
  const { memory } = call.forge();
  const discard = (call.options.discard ?? []) as string[];
  const steps = discard.length > 0 ? [] : await memory.planRepair();
  for (const step of steps) call.say(describeStep(step, call.style));
  const input = { discard, ...reasonOf(call) };
  if (steps.length === 0 || !call.interactive || 'reason' in input) return memory.repair(input);
  const { line } = await import('../cli/prompt.js');
  const reason = await line('Do this? The reason is kept in the audit records; nothing: leave it', '');
  return reason.trim() === '' ? { done: [], discarded: [] } : memory.repair({ ...input, reason });
}

/** What people type most comes first. */
const FIRST = ['verify', 'promote', 'report', 'log'];

function inOrder(commands: Group['commands']): Group['commands'] {
  const first = FIRST.flatMap((wanted) => commands.filter(({ name }) => name === wanted));
  return [...first, ...commands.filter((one) => !first.includes(one))];
}

export const group: Group = {
  commands: inOrder([
    ...recording,
    ...promoting,
    ...reporting,
    ...looking,
    command<Repaired>({
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
    }),
    command<Redaction>({
      name: 'redact',
      args: ['<ids...>'],
      values: { ids: { live: ['record'] } },
      summary: 'Take the content of records out for good; id and links stay (a human, with a reason)',
      example: 'forge memory redact 3fa9c1d20b7e --reason "a token was recorded; it is revoked"',
      options: [REASON],
      writes: true,
      run: (call, ...ids) => call.forge().memory.redact({ ids, ...reasonOf(call) }),
      render: renderRedaction,
    }),
    ...overriding,
  ]),
};
