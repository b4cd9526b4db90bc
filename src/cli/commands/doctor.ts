import { isAgent } from '../../domain/agent/agents.js';
import { AGENT_NAMES } from '../../domain/agent/event.js';
import { usage } from '../../domain/error.js';
import { oneLine } from '../../domain/text.js';
import { type Diagnosis, type DoctorInput, findSymptoms } from '../../index.js';
import { type Call, command, type Group } from '../spec.js';
import { columns, type Style } from '../style.js';

async function run({ cwd, options, world }: Call): Promise<Diagnosis> {
  return findSymptoms(cwd, { agents: agentsOf(options.agent) }, { world });
}

function agentsOf(agent: unknown): DoctorInput['agents'] {
  if (typeof agent !== 'string') return agent === true ? 'wired' : undefined;
  if (isAgent(agent)) return [agent];
  const found = JSON.stringify(oneLine(agent, 40));
  throw usage('agent.unknown', `--agent: found ${found}, allowed: ${AGENT_NAMES.join(' | ')}.`, {
    field: 'agent',
  });
}

function render({ findings }: Diagnosis, style: Style): string {
  if (findings.length === 0) return `${style.good('✓')} Nothing is wrong.`;
  return findings.map((finding) => block(finding, style)).join('\n\n');
}

const MARKS = {
  blocking: ({ bad }: Style) => bad('✗'),
  degraded: ({ warn }: Style) => warn('!'),
  advisory: ({ dim }: Style) => dim('·'),
};

function block(
  { severity, observed, expected, why, commands }: Diagnosis['findings'][number],
  style: Style,
): string {
  const rows = [
    [style.dim('expected'), expected],
    [style.dim('why'), why],
    ...commands.map((line, i) => [i === 0 ? style.dim('type') : '', style.command(line)]),
  ];
  return `${MARKS[severity](style)} ${style.strong(observed)}  (${severity})\n${columns(rows, '    ')}`;
}

export const group: Group = {
  commands: [
    command<Diagnosis>({
      name: 'doctor',
      summary: 'Find out what is wrong, and what to type',
      example: 'forge doctor --agent',
      options: [
        {
          flags: '--agent [name]',
          help: 'whether agents reach forge, too: those wired here, or this one',
          values: { words: AGENT_NAMES },
        },
      ],
      run,
      render,
      exit: ({ findings }) => (findings.some(({ severity }) => severity === 'blocking') ? 1 : 0),
    }),
  ],
};
