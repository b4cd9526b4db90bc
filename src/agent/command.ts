import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { type Call, type CommandSpec, command, type Group, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { homeWiring, type WiringChange, type WiringInput, type WiringStatus } from '../index.js';
import { AGENT_NAMES, AGENTS, isAgent } from './agents.js';

type WiredFile = WiringStatus['agents'][number]['files'][number];

/** Help shows no description of an argument, so the summaries name the agents. */
const NAMES = `an agent (${AGENT_NAMES.join(', ')} or all)`;

const AGENT = { agent: { words: [...AGENT_NAMES, 'all'] } };

const USER: OptionSpec = {
  flags: '--user',
  help: 'for yourself, in your home folder, instead of this project',
};
const HERE: OptionSpec = {
  flags: '--here',
  help: 'in this folder, for agents that read only the hooks of the folder they are started in',
};

type Wiring = Pick<Awaited<ReturnType<typeof homeWiring>>, 'install' | 'uninstall' | 'status'>;

/** Wiring the home folder needs no project. */
async function wiringOf({ forge, flags, options, world, say }: Call): Promise<Wiring> {
  if (options.user !== true) return forge().wiring;
  if (flags.dryRun) say('Dry run: nothing was written.');
  return homeWiring({ world, dryRun: flags.dryRun });
}

function inputOf(call: Call, agent: string): WiringInput {
  const { allow, command: words } = call.options as Omit<WiringInput, 'agent'>;
  return { agent, allow, command: words, folder: folderOf(call) };
}

/** With --here, the current folder relative to the project's top folder. '' at the top or outside. */
function folderOf({ forge, cwd, options }: Call): string {
  if (options.here !== true || options.user === true) return '';
  const path = relative(realpathSync(forge().root), realpathSync(cwd)).split(sep).join('/');
  return path.startsWith('..') ? '' : path;
}

/** Asks a person at a terminal, if the agent would otherwise ask before each tool. */
async function askAllow(call: Call, agent: string): Promise<boolean | undefined> {
  if (!call.interactive || call.flags.yes || call.flags.dryRun) return undefined;
  if (!['all', 'found'].includes(agent) && !(isAgent(agent) && AGENTS[agent].allow)) return undefined;
  const { confirm } = await import('../cli/prompt.js');
  return confirm(
    "Let it use forge's everyday tools (briefing, progress, focus, working memory) without asking?",
  );
}

const install: CommandSpec<WiringChange> = {
  name: 'install',
  args: ['[agent]'],
  values: AGENT,
  summary: `Wire forge into ${NAMES}; without a name, those found here`,
  example: 'forge agent install claude',
  options: [
    USER,
    HERE,
    {
      flags: '--allow',
      help: "let the agent use forge's everyday tools (briefing, progress, focus, working memory) without asking",
    },
    { flags: '--command <words>', help: 'what starts forge (default: forge)' },
  ],
  writes: true,
  run: async (call, agent = 'found') => {
    const input = inputOf(call, agent);
    const allow = input.allow ?? (await askAllow(call, agent));
    return (await wiringOf(call)).install({ ...input, allow });
  },
  render: (value, style) => renderChange(value, style, `${value.agents.join(', ')}: already wired.`),
};

const uninstall: CommandSpec<WiringChange> = {
  name: 'uninstall',
  args: ['<agent>'],
  values: AGENT,
  summary: `Remove forge from ${NAMES}, and nothing else`,
  example: 'forge agent uninstall claude',
  options: [USER, HERE],
  writes: true,
  run: async (call, agent) => (await wiringOf(call)).uninstall(inputOf(call, agent as string)),
  render: (value, style) => {
    const change = renderChange(value, style, `${value.agents.join(', ')}: not wired.`);
    const isRest = value.place === 'project' && value.files.some(({ change: made }) => made !== 'unchanged');
    const rest = describeRest(style, "Git's hooks: forge hooks uninstall");
    return isRest ? [change, '', rest].join('\n') : change;
  },
};

/** As in the README. */
const REMOVAL = [
  'git rm -rfq --ignore-unmatch .forge && git commit -qm "chore: remove forge" -- .forge   # history keeps it',
  'rm -rf .forge .git/forge      # your approvals stay in ~/.local/state/forge',
  "find .git/worktrees -mindepth 2 -maxdepth 2 -path '*/forge' -exec rm -rf {} + 2>/dev/null      # linked worktrees",
  "git for-each-ref --format='delete %(refname)' refs/forge refs/tags/checkpoint | git update-ref --stdin   # backups, checkpoints",
];

/** What an uninstall leaves, and how to remove it. */
export const describeRest = (style: Style, others: string): string =>
  [
    style.dim(`The memory in .forge/ stays. ${others}. To delete it, type at the top of the main worktree:`),
    ...REMOVAL.map(style.command),
  ].join('\n');

const CHANGES = { created: 'good', changed: 'good', removed: 'warn', unchanged: 'dim' } as const;

function renderChange({ files, wants }: WiringChange, style: Style, nothing: string): string {
  const changed = files.filter(({ change }) => change !== 'unchanged');
  const rows = changed.map(({ path, change }) => [style[CHANGES[change]](change), path]);
  if (changed.length === 0) return nothing;
  const asks = wants.map(({ agent, text }) => [style.warn(agent), text]);
  return [columns(rows), ...(asks.length > 0 ? ['', 'Needs you:', columns(asks, '  ')] : [])].join('\n');
}

const status: CommandSpec<WiringStatus> = {
  name: 'status',
  args: ['[agent]'],
  values: AGENT,
  summary: 'Show which agents forge is wired into, and what they still need from you',
  example: 'forge agent status',
  options: [USER, HERE],
  run: async (call, agent) => (await wiringOf(call)).status(inputOf(call, agent ?? 'all')),
  render: renderStatus,
};

const WORDS = {
  wired: ['good', 'wired'],
  partly: ['warn', 'partly wired'],
  absent: ['dim', 'not wired'],
  missing: ['warn', 'missing'],
  changed: ['warn', 'changed'],
  unreadable: ['bad', 'unreadable'],
} as const;

const shown = (state: keyof typeof WORDS, style: Style): string => style[WORDS[state][0]](WORDS[state][1]);

function renderStatus({ agents, place }: WiringStatus, style: Style): string {
  const rows = agents.flatMap(({ name, title, state, files }) => [
    [style.strong(name), shown(state, style), style.dim(title)],
    // For an agent that is not wired, show only the files that cannot be read.
    ...files
      .filter((file) => state !== 'absent' || file.state === 'unreadable')
      .map((file) => fileRow(file, style)),
  ]);
  const asks = agents.flatMap(({ name, wants }) => wants.map((text) => [style.warn(name), text]));
  if (asks.length > 0) return [columns(rows), '', 'Needs you:', columns(asks, '  ')].join('\n');
  if (agents.some(({ state }) => state !== 'absent')) return columns(rows);
  const next = `forge agent install ${agents[0]?.name}${place === 'home' ? ' --user' : ''}`;
  return [columns(rows), '', style.command(next)].join('\n');
}

function fileRow({ path, state, problem, command }: WiredFile, style: Style): string[] {
  const detail = problem ?? command;
  return [`  ${path}`, shown(state, style), ...(detail === undefined ? [] : [style.dim(detail)])];
}

export const group: Group = [command(install), command(uninstall), command(status)];
