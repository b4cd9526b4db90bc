import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { WHO, type Who } from '../commit/rules.js';
import { ForgeError, usage } from '../core/error.js';
import { escapeControls } from '../core/text.js';
import type { HooksReport } from '../index.js';
import { LEFTHOOK_LOCAL } from './place.js';

type HookState = HooksReport['hooks'][number]['state'];

const WORDS: Record<HookState, string> = {
  installed: 'installed',
  new: 'installed now',
  renewed: 'renewed',
  added: 'added now',
  absent: 'not installed',
  refused: 'cannot be installed',
  removed: 'removed',
};

const WHOSE = {
  mine: 'of your commits and your agents’ in this clone',
  agents: 'of commits that agents make',
  all: 'of all commits',
};

/** What git refuses from now on, and how to change that. */
function describeBinding({ hooks, enforce, who }: HooksReport, style: Style): string[] {
  if (!hooks.some(({ state }) => state === 'new' || state === 'added')) return [];
  const what = `messages ${WHOSE[who]} that do not follow the protocol`;
  const refuses = enforce === 'block' ? `${what}, and anybody’s secrets` : 'secrets';
  const reports = enforce === 'warn' ? `. It reports ${what}` : '';
  const others = WHO.filter((one) => one !== who).join('|');
  const ways = `Whose: forge config set commit.who ${others}   Report only: forge config set commit.enforce warn   Once: git commit --no-verify`;
  return [`From now on git refuses ${refuses} (docs/hooks.md)${reports}.\n${style.dim(ways)}`];
}

function render(report: HooksReport, style: Style): string {
  const { hooks, gone, asleep } = report;
  const isOff = (state: HookState): boolean => state === 'absent' || state === 'removed';
  const mark = (state: HookState): string =>
    state === 'refused' ? style.bad('✗') : isOff(state) ? '·' : style.good('✓');
  const rows = hooks.map(({ name, state, path, why }) => [
    mark(state),
    style.strong(name),
    why ?? WORDS[state],
    style.dim(path),
  ]);
  const lost = gone.map(
    (path) =>
      `\n${style.bad('✗')}  ${path} is gone: hooks take what is in PATH, or check nothing. Put right: forge hooks install`,
  );
  const parts = [`${columns(rows)}${lost.join('')}`, ...describeBinding(report, style)];
  const isShared = (path: string): boolean => !path.startsWith('.git/') && path !== LEFTHOOK_LOCAL;
  if (hooks.some(({ state, path }) => state === 'added' && isShared(path)))
    parts.push(style.dim('forge’s block is in tracked files of the project: commit them too.'));
  if (asleep && hooks.some(({ state }) => !isOff(state) && state !== 'refused'))
    parts.push(
      style.warn(
        `.husky/ is here, but ${asleep} is not set up yet. Once it is (npm install), git looks there alone; then: forge hooks install --into ${asleep}`,
      ),
    );
  if (hooks.every(({ state }) => state === 'absent')) parts.push(style.command('forge hooks install'));
  return parts.join('\n\n');
}

interface InstallFlags {
  into?: Owner[];
  prepare?: boolean;
  who?: Who;
}

const install: CommandSpec<HooksReport> = {
  name: 'install',
  summary: 'Let git check messages, and keep forge current, beside the hooks that are there',
  example: 'forge hooks install --who agents',
  options: [
    {
      flags: '--into <owner>',
      help: 'may add a marked block to files of husky, lefthook or scripts',
      values: { words: ['husky', 'lefthook', 'scripts'] },
      many: true,
    },
    {
      flags: '--prepare',
      help: 'prepare-commit-msg too: fill in the message when git opens an editor',
    },
    {
      flags: '--who <whose>',
      help: 'whose commits follow the protocol: mine, agents or all ([commit] who)',
      values: { words: WHO },
    },
  ],
  writes: true,
  confirms: true,
  run: async (call) => {
    const { prepare = false, into: wanted = [], who: given } = call.options as InstallFlags;
    if (given !== undefined && !WHO.includes(given))
      throw usage('hooks.who', `--who: allowed: ${WHO.join(' | ')}.`, { field: 'who' });
    const into = await agreedOwners(call, { into: wanted, prepare });
    const who = given ?? (await chosenWho(call));
    return call.forge().hooks.install({ into, prepare, ...(who === undefined ? {} : { who }) });
  },
  render,
};

type Owner = 'husky' | 'lefthook' | 'scripts';

/** Whose files forge may add itself to: those that were named, and by the person's word those that it takes. */
async function agreedOwners(call: Call, wanted: { into: Owner[]; prepare: boolean }): Promise<Owner[]> {
  try {
    await call.forge().hooks.check(wanted);
    return wanted.into;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.code !== 'hooks.theirs') throw error;
    if (!call.flags.yes && !(call.interactive && (await isAgreed(call, error)))) throw error;
    return [...wanted.into, ...((error.details.data?.into ?? []) as Owner[])];
  }
}

async function isAgreed(call: Call, { message }: Error): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  call.say(escapeControls(message.replace('Nothing was installed: ', '')));
  return confirm('Add forge’s marked block to them?');
}

/** Asked once, where nobody chose: people are bound only when they agree. */
async function chosenWho(call: Call): Promise<Who | undefined> {
  if (!call.interactive || call.flags.yes) return undefined;
  const { hooks, enforce, who } = await call.forge().hooks.status();
  const isInstalled = hooks.some(({ state }) => state !== 'absent' && state !== 'refused');
  if (isInstalled || enforce === 'off' || who !== 'mine') return undefined;
  const { choose } = await import('../cli/prompt.js');
  const answers = ['your commits too', 'only agents’'] as const;
  const question =
    'git will refuse commits whose message does not follow the protocol: your commits too, or only agents’?';
  return (await choose(question, answers, answers[0])) === answers[0] ? undefined : 'agents';
}

const uninstall: CommandSpec<HooksReport> = {
  name: 'uninstall',
  summary: 'Take forge out of all hooks; every file is as it was',
  example: 'forge hooks uninstall',
  writes: true,
  run: (call) => call.forge().hooks.uninstall(),
  render,
};

const status: CommandSpec<HooksReport> = {
  name: 'status',
  summary: 'Show which hooks are installed',
  example: 'forge hooks status',
  run: (call) => call.forge().hooks.status(),
  render,
};

export const group: Group = { commands: [command(install), command(uninstall), command(status)] };
