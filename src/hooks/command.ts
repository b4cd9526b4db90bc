import { describeRest } from '../agent/command.js';
import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { WHO, type Who } from '../commit/rules.js';
import { ForgeError, usage } from '../core/error.js';
import { escapeControls } from '../core/text.js';
import type { HooksReport } from '../index.js';
import type { HookState, HooksInput } from './install.js';

const STATES: Record<HookState, string> = {
  installed: 'installed',
  new: 'installed now',
  added: 'added now',
  absent: 'not installed',
  refused: 'cannot be installed',
  removed: 'no longer runs forge',
};

const WHOSE = {
  mine: 'your commits and your agents’ in this clone',
  agents: 'agents’ commits',
  all: 'all commits',
};

function describeEffect({ hooks, enforce, who }: HooksReport, style: Style): string[] {
  if (!hooks.some(({ state }) => state === 'new' || state === 'added')) return [];
  const messages = `messages of ${WHOSE[who]} that do not follow the protocol`;
  const rejects = enforce === 'block' ? `${messages}, and secrets in any commit` : 'secrets';
  const reports = enforce === 'warn' ? `. It reports ${messages}` : '';
  const others = WHO.filter((one) => one !== who).join('|');
  const ways = columns([
    ['Whose commits:', `forge config set commit.who ${others}`],
    ['Report only:', 'forge config set commit.enforce warn'],
    ['Once:', 'git commit --no-verify'],
  ]);
  return [`From now on git rejects ${rejects} (forge help hooks)${reports}.\n${style.dim(ways)}`];
}

function render(report: HooksReport, style: Style): string {
  const { hooks, gone } = report;
  const mark = (state: HookState): string => {
    if (state === 'refused' || gone.length > 0) return style.bad('✗');
    return state === 'absent' || state === 'removed' ? '·' : style.good('✓');
  };
  const rows = hooks.map(({ name, state, path, why }) => [
    mark(state),
    style.strong(name),
    why ?? STATES[state],
    style.dim(path),
  ]);
  const lost = gone.map(
    (path) =>
      `${style.bad('✗')}  ${path} is missing here, so hooks may check nothing. Fix: forge hooks install`,
  );
  const parts = [[columns(rows), ...lost].join('\n'), ...describeEffect(report, style)];
  if (hooks.some(({ state, path }) => state === 'added' && !path.startsWith('.git/')))
    parts.push(style.dim('Commit the files of the project that forge added its block to.'));
  return parts.join('\n\n');
}

const install: CommandSpec<HooksReport> = {
  name: 'install',
  summary: 'Let git check commits with forge, beside the hooks that exist',
  example: 'forge hooks install --who agents',
  options: [
    { flags: '--prepare', help: 'prepare-commit-msg too: fill in the message when git opens an editor' },
    {
      flags: '--who <whose>',
      help: 'whose commits must follow the protocol: mine, agents or all ([commit] who)',
      values: { words: WHO },
    },
  ],
  writes: true,
  confirms: true,
  run: async (call) => {
    const { prepare = false, who } = call.options as { prepare?: boolean; who?: Who };
    if (who !== undefined && !WHO.includes(who))
      throw usage('hooks.who', `--who: allowed: ${WHO.join(' | ')}.`, { field: 'who' });
    const report = await installAgreed(call, { prepare, who });
    return who === undefined ? askWho(call, report) : report;
  },
  render,
};

async function installAgreed(call: Call, input: HooksInput): Promise<HooksReport> {
  const { hooks } = call.forge();
  try {
    return await hooks.install({ ...input, others: call.flags.yes });
  } catch (error) {
    const isAsked = error instanceof ForgeError && error.code === 'hooks.theirs' && call.interactive;
    if (!isAsked || !(await isAgreed(call, error))) throw error;
    return hooks.install({ ...input, others: true });
  }
}

async function isAgreed(call: Call, { message }: Error): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  call.say(escapeControls(message.replace('Nothing was installed: ', '')));
  return confirm('Add the block?');
}

const QUESTION =
  'git will reject commits whose message does not follow the protocol: your commits too, or only agents’?';

/** GIT-08: asks once, when the hooks are new and nobody has chosen. */
async function askWho(call: Call, report: HooksReport): Promise<HooksReport> {
  const isFirst = report.hooks.every(({ state }) => state === 'new' || state === 'added');
  if (!call.interactive || call.flags.yes || !isFirst || report.enforce === 'off' || report.who !== 'mine')
    return report;
  const { choose } = await import('../cli/prompt.js');
  const answers = ['your commits too', 'only agents’'] as const;
  if ((await choose(QUESTION, answers, answers[0])) === answers[0]) return report;
  await call.forge().hooks.install({ who: 'agents' });
  return { ...report, who: 'agents' };
}

const uninstall: CommandSpec<HooksReport> = {
  name: 'uninstall',
  summary: 'Remove forge from all hooks, and restore every file',
  example: 'forge hooks uninstall',
  writes: true,
  run: (call) => call.forge().hooks.uninstall(),
  render: (report, style) => {
    const isGone = report.hooks.some(({ state }) => state === 'removed');
    const rest = isGone ? [describeRest(style, 'Agents: forge agent uninstall all')] : [];
    return [render(report, style), ...rest].join('\n\n');
  },
};

const status: CommandSpec<HooksReport> = {
  name: 'status',
  summary: 'Show which hooks are installed',
  example: 'forge hooks status',
  run: (call) => call.forge().hooks.status(),
  render: (report, style) => {
    const isAbsent = report.hooks.every(({ state }) => state === 'absent');
    return [render(report, style), ...(isAbsent ? [style.command('forge hooks install')] : [])].join('\n\n');
  },
};

export const group: Group = [command(install), command(uninstall), command(status)];
