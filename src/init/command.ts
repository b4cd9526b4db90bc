import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Call, command, type Group, given } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { formatArgv } from '../core/argv.js';
import { usage } from '../core/error.js';
import { makeFolder } from '../core/files.js';
import { harmless, plural } from '../core/text.js';
import { type InitInput, type InitResult, initForge, inspectProject, type ProjectView } from '../index.js';
import { AGENT_CHOICES, HOOK_CHOICES, PRETTIER_IGNORE } from './choices.js';
import { STACKS } from './rules.js';

async function run(call: Call, dir: string | undefined): Promise<InitResult> {
  const cwd = folderOf(call, dir);
  const names = ['stack', 'name', 'test', 'idPattern', 'branch', 'agents', 'hooks'] as const;
  const input: InitInput = given<InitInput>(call, ...names);
  if (call.interactive) await ask(call, cwd, input);
  const result = await initForge(cwd, input, { world: call.world, dryRun: call.flags.dryRun });
  if (call.flags.dryRun) call.say('Dry run: nothing was written.');
  // The commands name files from the top of the project.
  const toTop = call.cwd === result.root ? [] : [formatArgv(['cd', result.root])];
  return { ...result, next: [...toTop, ...result.next] };
}

/** `forge init DIR` creates the folder, as git does. */
function folderOf({ cwd, flags }: Call, dir: string | undefined): string {
  if (dir === undefined) return cwd;
  const folder = resolve(cwd, dir);
  if (!flags.dryRun) makeFolder(folder);
  else if (!existsSync(folder))
    throw usage('folder.missing', `The folder ${folder} does not exist yet.`, {
      hint: formatArgv(['mkdir', '-p', dir]),
    });
  return realpathSync.native(folder);
}

const NONE = ' (Backspace: none)';

/** Asks for whatever no flag answers; nothing if forge is set up already. Repository text is escaped before it is shown. */
async function ask(call: Call, cwd: string, input: InitInput): Promise<void> {
  const project = await inspectProject(cwd, { world: call.world });
  if (!project.fresh) return;
  call.say('forge keeps its memory in .forge/, as files you commit. Press Enter to accept.');
  const { choose, line } = await import('../cli/prompt.js');
  const { stack, test, idPattern, branch } = harmless(project.found);
  input.stack ??= await choose('Which stack should .forge/init.sh install and check?', STACKS, stack);
  input.test ??= await line(`Which command runs the tests?${test ? NONE : ''}`, test?.command ?? '');
  if (idPattern !== null)
    input.idPattern ??= await line(`What do issue ids in commits look like?${NONE}`, idPattern);
  if (branch && !branch.known) input.branch ??= await line('What is the main branch?', branch.name);
  await askToSetUp(project, input);
}

const PROTOCOL = 'Whose commits must have a message as forge commit writes it (## What, ## Why, …)?';
const WHOSE = ['mine too', 'only those of agents'] as const;

async function askToSetUp({ agents, isRepository, found }: ProjectView, input: InitInput): Promise<void> {
  const { choose, confirm } = await import('../cli/prompt.js');
  if (input.agents === undefined && agents.length > 0) {
    if (await confirm(`Add forge to ${agents.join(', ')}? It gets a briefing and tools.`)) {
      input.agents = 'found';
      input.allow = await confirm("Let it use forge's everyday tools without asking each time?");
    }
  }
  if (input.hooks === undefined && isRepository) {
    const whose = found.convention ? ", and agents' commits that do not follow forge's protocol" : '';
    const question = `Install git hooks? Existing ones get a marked block. git then refuses secrets${whose}.`;
    if (await confirm(question)) {
      Object.assign(input, { hooks: 'block', beside: true });
      if (!found.convention) input.agentsOnly = (await choose(PROTOCOL, WHOSE, WHOSE[0])) === WHOSE[1];
    }
  }
}

const COMMENTS: Readonly<Record<string, string>> = {
  [PRETTIER_IGNORE]: 'prettier would reformat memory at each commit',
  'sh .forge/init.sh': 'installs dependencies and checks that the project works',
  'forge import': 'take over notes and tasks of other tools; shows the plan first',
};

function render(result: InitResult, style: Style): string {
  const { root, created, repaired, kept, agents, hooks, skipped, next } = result;
  const count = (names: readonly string[], word: string): string[] =>
    names.length > 0 ? [`${names.length} ${word}`] : [];
  const summary = [
    ...[...count(created, 'created'), ...count(repaired, 'put back')],
    ...count(kept, 'kept as they were'),
  ];
  return [
    ...byFolder(created).map((line) => `${style.good('created ')}  ${line}`),
    ...repaired.map((name) => `${style.warn('put back')}  ${name}`),
    ...(agents.length > 0 ? [`${style.good('agents  ')}  ${agents.join(', ')}`] : []),
    ...(hooks.length > 0 ? [`${style.good('hooks   ')}  ${hooks.join(', ')}`] : []),
    ...skipped.map((reason) => `${style.dim('skipped ')}  ${reason}`),
    `${style.strong(root)}: ${summary.join(', ')}.`,
    ...renderProposals(result, style),
    '',
    'Next:',
    ...next.map((line) => {
      const comment = COMMENTS[line];
      return `  ${style.command(line)}${comment ? style.dim(`   # ${comment}`) : ''}`;
    }),
    ...(result.proposals.length > 0 ? ['', style.dim(describeCommit(result))] : []),
  ].join('\n');
}

/** What to commit, or how to undo it. */
function describeCommit({ agents, hooks, commit, skipped }: InitResult): string {
  const files = ['.forge', ...commit].join(' ');
  const remove = [
    ...(agents.length > 0 ? [`forge agent uninstall ${agents.length > 1 ? 'all' : agents[0]}`] : []),
    ...(hooks.length > 0 ? ['forge hooks uninstall'] : []),
    'rm -rf .forge .git/forge',
  ];
  const first =
    commit.length > 0
      ? `Commit them together: git add ${files} && forge commit -m "Add forge" --why "agents remember"`
      : 'The end of a session commits .forge/.';
  const hasGit = !skipped.some((line) => line.startsWith('git:'));
  return `${hasGit ? `${first}\n` : ''}To take this back: ${remove.join(' && ')}`;
}

/** What was found; whatever is not set up has the command that does it. */
function renderProposals({ proposals }: InitResult, style: Style): string[] {
  if (proposals.length === 0) return [];
  const labels: Record<string, string> = { test: 'tests', id_pattern: 'issue ids' };
  const rows = proposals.map(({ name, value, from, taken }) => {
    const label = labels[name] ?? name;
    if (taken) return [label, value, style.dim(from)];
    const set = style.command(`forge config set checkpoint.verify ${JSON.stringify(value)}`);
    const how = name === 'test' ? `; to run it at checkpoints too: ${set}` : '';
    return [label, style.dim(value), `${style.dim(from)}${how}`];
  });
  return ['', 'Found:', columns(rows, '  ', 30)];
}

/** One line per folder of `.forge/`; `--json` has the file names. */
function byFolder(names: readonly string[]): string[] {
  const places = new Map<string, number>();
  for (const name of names) {
    const [top = '', first = '', ...rest] = name.split('/');
    const place = rest.length > 0 ? `${top}/${first}/` : name;
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  return [...places].map(([place, count]) =>
    place.endsWith('/') ? `${place} (${plural(count, 'file')})` : place,
  );
}

export const group: Group = [
  command<InitResult>({
    name: 'init',
    args: ['[dir]'],
    summary: 'Create the .forge/ folder, or put back what is missing; never overwrites',
    example: 'forge init --yes',
    options: [
      {
        flags: '--stack <name>',
        help: 'what init.sh sets up: node, python, rust, go, mixed or none (default: detected)',
        values: { words: STACKS },
      },
      { flags: '--name <name>', help: "the project's name (default: the manifest's, else the folder's)" },
      { flags: '--test <command>', help: 'the command that runs the tests; checkpoints run it too' },
      { flags: '--id-pattern <pattern>', help: 'the form of issue ids (default: as in recent commits)' },
      { flags: '--branch <name>', help: 'the main branch (default: what git says)' },
      {
        flags: '--agents <name>',
        help: 'set up these coding agents (claude,codex), all, or those found here (default: none)',
        values: { words: AGENT_CHOICES },
      },
      {
        flags: '--hooks <mode>',
        help: 'git hooks that block bad commits, or only warn (default: none)',
        values: { words: HOOK_CHOICES },
      },
    ],
    writes: true,
    confirms: true,
    run,
    render,
  }),
];
