import { AGENT_NAMES, isAgent } from '../agent/agents.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, harmless, type Style } from '../cli/style.js';
import { refused, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import {
  applyFixes,
  type Diagnosis,
  type DoctorInput,
  type Fix,
  type Fixed,
  type FixPlan,
  findSymptoms,
  planFixes,
} from '../index.js';

/** What --fix is about to do. */
export const renderPlan = (fixes: readonly Fix[], style: Style): string =>
  fixes.map((fix) => fixLines(style.strong('will'), fix, style)).join('\n\n');

function renderFixed({ findings, fixes }: Diagnosis & Partial<Fixed>, style: Style): string {
  const made = (fixes ?? []).map((fix) => fixBlock(fix, style));
  if (fixes && fixes.length === 0) made.push('Nothing can be put right without you.');
  const rest = findings.map((finding) => block(finding, style));
  const isFine = findings.length === 0 && !fixes?.some(({ done }) => !done);
  if (isFine) return [...(fixes?.length ? made : []), `${style.good('✓')} Nothing is wrong.`].join('\n\n');
  return [...made, ...rest].join('\n\n');
}

function fixBlock(fix: Fixed['fixes'][number], style: Style): string {
  const { done, problem } = fix;
  if (done) return fixLines(style.good('✓ done:'), fix, style);
  if (problem === undefined) return fixLines(style.warn('would'), fix, style);
  return `${style.bad('✗')} ${fix.what}\n    ${style.dim('failed')}  ${problem}`;
}

function fixLines(mark: string, fix: Omit<Fix, 'token'>, style: Style): string {
  const rows = fix.choices.map((choice) => choiceRow(choice, style));
  return [
    `${mark} ${style.strong(fix.what)}`,
    ...(rows.length > 0 ? [columns(rows, '    ')] : []),
    `    ${style.dim('undo')}  ${style.command(fix.undo)}`,
  ].join('\n');
}

/** `F-1 status  ours passing  theirs failing  → failing  (why)` */
function choiceRow({ id, field, ours, theirs, value, why }: Fix['choices'][number], style: Style): string[] {
  const name = [...(id === null ? [] : [oneLine(id, 40)]), ...(field === null ? [] : [field])].join(' ');
  if (field === null) return [name, value === undefined ? style.warn('taken out') : style.good('stays'), why];
  return [
    name,
    `→ ${brief(value)}`,
    `${style.dim('ours')} ${brief(ours)}  ${style.dim('theirs')} ${brief(theirs)}  (${why})`,
  ];
}

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

/** `fixes` only with --fix. */
type Answer = Diagnosis & Partial<Fixed>;

async function run(call: Call): Promise<Answer> {
  const { cwd, options, flags, world } = call;
  const input: DoctorInput = { agents: agentsOf(options.agent) };
  if (flags.dryRun) call.say('Dry run: nothing was written.');
  if (options.fix !== true) return findSymptoms(cwd, input, { world, dryRun: flags.dryRun });
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
  throw refused('doctor.unconfirmed', 'Cancelled: this needs confirmation (--yes).', {
    hint: 'forge doctor --fix --dry-run   # shows it\nforge doctor --fix --yes',
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
