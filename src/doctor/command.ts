import { AGENT_NAMES } from '../agent/agents.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, oneOf } from '../core/text.js';
import { type Diagnosis, type DoctorInput, type Fixed, findSymptoms, fixConflicts } from '../index.js';

/** `fixes` only with --fix. */
type Answer = Diagnosis & Partial<Fixed>;

type MadeFix = Fixed['fixes'][number];

function renderAnswer({ findings, fixes }: Answer, style: Style): string {
  const made = (fixes ?? []).map((fix) => fixBlock(fix, style));
  if (fixes?.length === 0 && findings.length > 0) made.push('There is nothing that --fix can merge.');
  const rest = findings.map((finding) => block(finding, style));
  if (rest.length === 0 && !fixes?.some(({ done }) => !done))
    rest.push(`${style.good('✓')} Nothing is wrong.`);
  return [...made, ...rest].join('\n\n');
}

function fixBlock({ what, choices, undo, done, problem }: MadeFix, style: Style): string {
  if (problem !== undefined) return `${style.bad('✗')} ${what}\n    ${style.dim('failed')}  ${problem}`;
  const rows = choices.map((choice) => choiceRow(choice, style));
  return [
    `${done ? style.good('✓ done:') : style.warn('would')} ${style.strong(what)}`,
    ...(rows.length > 0 ? [columns(rows, '    ')] : []),
    `    ${style.dim('undo')}  ${style.command(undo)}`,
  ].join('\n');
}

/** `F-1 status  → failing  ours passing  theirs failing  (why)` */
const choiceRow = (
  { id, field, ours, theirs, value, why }: MadeFix['choices'][number],
  style: Style,
): string[] => [
  id === null ? field : `${oneLine(id, 40)} ${field}`,
  `→ ${brief(value)}`,
  `${style.dim('ours')} ${brief(ours)}  ${style.dim('theirs')} ${brief(theirs)}  (${why})`,
];

const brief = (value: unknown): string =>
  value === undefined ? '–' : oneLine(typeof value === 'string' ? value : JSON.stringify(value), 40);

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

async function run(call: Call): Promise<Answer> {
  const { cwd, options, flags, world } = call;
  const input: DoctorInput = { agents: agentsOf(options.agent) };
  if (flags.dryRun) call.say('Dry run: nothing was written.');
  if (options.fix !== true) return findSymptoms(cwd, input, { world });
  return fixConflicts(cwd, input, { world, dryRun: flags.dryRun });
}

function agentsOf(agent: unknown): DoctorInput['agents'] {
  if (typeof agent !== 'string') return agent === true ? 'wired' : undefined;
  return [oneOf(AGENT_NAMES, agent, '--agent', 'agent.unknown')];
}

export const group: Group = [
  command<Answer>({
    name: 'doctor',
    summary: 'Diagnose problems and suggest fixes; --fix merges conflicts in state files',
    example: 'forge doctor --agent',
    options: [
      {
        flags: '--agent [name]',
        help: 'also check agents: those wired here, or this one',
        values: { words: AGENT_NAMES },
      },
      { flags: '--fix', help: 'merge conflicts, and show what was chosen and how to undo it' },
    ],
    writes: true,
    run,
    render: renderAnswer,
    exit: ({ findings, fixes = [] }) =>
      findings.some(({ severity }) => severity === 'blocking') || fixes.some(({ problem }) => problem)
        ? 1
        : 0,
  }),
];
