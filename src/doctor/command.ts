import { isAgent } from '../agent/agents.js';
import { AGENT_NAMES } from '../agent/event.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { harmless } from '../cli/style.js';
import { refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import {
  applyFixes,
  type Diagnosis,
  type DoctorInput,
  type Fixed,
  type FixPlan,
  findSymptoms,
  planFixes,
} from '../index.js';
import { renderFixed, renderPlan } from './render.js';

/** `fixes` only with --fix. */
type Answer = Diagnosis & Partial<Fixed>;

async function run(call: Call): Promise<Answer> {
  const { cwd, options, flags, world } = call;
  const input: DoctorInput = { agents: agentsOf(options.agent) };
  if (flags.dryRun) call.say('Dry run: nothing was written.');
  if (options.fix !== true) return findSymptoms(cwd, input, { world });
  if (flags.dryRun) return applyFixes(cwd, input, { world, dryRun: true });
  const { fixes, findings } = await planFixes(cwd, input, { world });
  if (fixes.length === 0) return { fixes: [], findings };
  if (!flags.yes) {
    call.say(renderPlan(harmless(fixes), call.style));
    await confirm(call, fixes);
  }
  return applyFixes(cwd, { ...input, agreed: fixes.map(({ token }) => token) }, { world });
}

async function confirm({ interactive }: Call, fixes: FixPlan['fixes']): Promise<void> {
  if (interactive) {
    const { confirm: ask } = await import('../cli/prompt.js');
    if (await ask(fixes.length === 1 ? 'Do it?' : `Do these ${fixes.length}?`)) return;
  }
  throw refused('doctor.unconfirmed', 'Nothing was changed: nobody agreed to it.', {
    hint: 'forge doctor --fix --dry-run  (shows it)  then  forge doctor --fix --yes',
    data: { fixes },
  });
}

function agentsOf(agent: unknown): DoctorInput['agents'] {
  if (typeof agent !== 'string') return agent === true ? 'wired' : undefined;
  if (isAgent(agent)) return [agent];
  const found = JSON.stringify(oneLine(agent, 40));
  throw usage('agent.unknown', `--agent: found ${found}, allowed: ${AGENT_NAMES.join(' | ')}.`, {
    field: 'agent',
  });
}

export const group: Group = {
  commands: [
    command<Answer>({
      name: 'doctor',
      summary: 'Find out what is wrong, and what to type; --fix puts right what is safe',
      example: 'forge doctor --agent',
      options: [
        {
          flags: '--agent [name]',
          help: 'whether agents reach forge, too: those wired here, or this one',
          values: { words: AGENT_NAMES },
        },
        { flags: '--fix', help: 'show what can be put right without losing anything, ask, and do it' },
      ],
      writes: true,
      confirms: true,
      run,
      render: renderFixed,
      exit: ({ findings, fixes = [] }) =>
        findings.some(({ severity }) => severity === 'blocking') || fixes.some(({ problem }) => problem)
          ? 1
          : 0,
    }),
  ],
};
