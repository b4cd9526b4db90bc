import { AGENT_NAMES } from '../agent/agents.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { refused } from '../core/error.js';
import { harmless, oneLine, oneOf } from '../core/text.js';
import {
  type Diagnosis,
  type DoctorInput,
  type Fix,
  type Fixed,
  findSymptoms,
  fixConflicts,
} from '../index.js';

/** `fixes` only with --fix. */
type Answer = Diagnosis & Partial<Fixed>;

function renderAnswer({ findings, fixes }: Answer, style: Style, { yes }: Record<string, unknown>): string {
  const made = (fixes ?? []).map((fix) => fixBlock(fix, style, yes === true));
  if (fixes?.length === 0 && findings.length > 0) made.push('There is nothing that --fix can merge.');
  const rest = findings.map((finding) => block(finding, style));
  if (rest.length === 0 && !fixes?.some(({ done }) => !done))
    rest.push(`${style.good('✓')} Nothing is wrong.`);
  return [...made, ...rest].join('\n\n');
}

/** Without `--yes`, the question has shown the choices. */
function fixBlock(fix: Fixed['fixes'][number], style: Style, isNew: boolean): string {
  const { done, problem, choices } = fix;
  if (done) return fixLines(style.good('✓ done:'), { ...fix, choices: isNew ? choices : [] }, style);
  if (problem === undefined) return fixLines(style.warn('would'), fix, style);
  return `${style.bad('✗')} ${fix.what}\n    ${style.dim('failed')}  ${problem}`;
}

function fixLines(mark: string, fix: Fix, style: Style): string {
  const rows = fix.choices.map((choice) => choiceRow(choice, style));
  return [
    `${mark} ${style.strong(fix.what)}`,
    ...(rows.length > 0 ? [columns(rows, '    ')] : []),
    `    ${style.dim('undo')}  ${style.command(fix.undo)}`,
  ].join('\n');
}

/** `F-1 status  → failing  ours passing  theirs failing  (why)` */
const choiceRow = (
  { id, field, ours, theirs, value, why }: Fix['choices'][number],
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
  const confirm = (fixes: Fix[]): Promise<void> => confirmFixes(call, fixes);
  return fixConflicts(cwd, { ...input, ...(flags.yes ? {} : { confirm }) }, { world, dryRun: flags.dryRun });
}

async function confirmFixes(call: Call, fixes: Fix[]): Promise<void> {
  const lines = harmless(fixes).map((fix) => fixLines(call.style.strong('will'), fix, call.style));
  call.say(lines.join('\n\n'));
  if (call.interactive) {
    const { confirm } = await import('../cli/prompt.js');
    if (await confirm(fixes.length === 1 ? 'Do it?' : `Do these ${fixes.length}?`)) return;
  }
  throw refused('doctor.unconfirmed', 'Canceled: this needs confirmation (--yes).', {
    hint: 'forge doctor --fix --dry-run   # shows it\nforge doctor --fix --yes',
    data: { fixes },
  });
}

function agentsOf(agent: unknown): DoctorInput['agents'] {
  if (typeof agent !== 'string') return agent === true ? 'wired' : undefined;
  return [oneOf(AGENT_NAMES, agent, '--agent', 'agent.unknown')];
}

export const group: Group = {
  commands: [
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
        { flags: '--fix', help: 'show how conflicts would be merged, ask, and merge them' },
      ],
      writes: true,
      confirms: true,
      run,
      render: renderAnswer,
      exit: ({ findings, fixes = [] }) =>
        findings.some(({ severity }) => severity === 'blocking') || fixes.some(({ problem }) => problem)
          ? 1
          : 0,
    }),
  ],
};
