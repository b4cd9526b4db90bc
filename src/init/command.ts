import { existsSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, harmless, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { makeFolder } from '../core/files.js';
import { oneLine, plural } from '../core/text.js';
import { type InitInput, type InitResult, initForge, inspectProject, type ProjectView } from '../index.js';
import { STACKS } from './stack.js';
import { AGENT_CHOICES, HOOK_CHOICES } from './wire.js';

/** `forge init DIR`: a folder that is not there yet is made, as git does. */
function folderOf({ cwd, flags }: Call, dir: string | undefined): string {
  if (dir === undefined) return cwd;
  const folder = resolve(cwd, dir);
  if (!flags.dryRun) makeFolder(folder);
  else if (!existsSync(folder))
    throw usage('folder.missing', `There is not a folder ${folder} yet.`, { hint: `mkdir -p ${dir}` });
  return realpathSync.native(folder);
}

async function run(call: Call, dir: string | undefined): Promise<InitResult> {
  const cwd = folderOf(call, dir);
  const given = (name: string): string | undefined => call.options[name] as string | undefined;
  const file = given('features');
  const input: InitInput = {
    stack: given('stack'),
    name: given('name'),
    test: given('test'),
    idPattern: given('idPattern'),
    branch: given('branch'),
    agents: given('agents'),
    hooks: given('hooks'),
    features:
      file === undefined
        ? undefined
        : { file: basename(file), text: await call.file(file, { unscanned: true }) },
  };
  if (call.interactive) await ask(call, cwd, input);
  const result = await initForge(cwd, input, { world: call.world, dryRun: call.flags.dryRun });
  if (call.flags.dryRun) call.say('Dry run: nothing was written.');
  return result;
}

const NONE = ' (Backspace: none)';

/** Asks for what forge cannot know and no flag says; nothing where forge is set up. */
async function ask(call: Call, cwd: string, input: InitInput): Promise<void> {
  const project = await inspectProject(cwd, { world: call.world });
  if (!project.fresh) return;
  call.say(`forge keeps its memory in .forge/, as files you commit. Press Enter to accept.`);
  await askProject(project, input);
  await askFeatures(project, input);
  await askWiring(project, input);
}

/** Text from files and commits is made harmless before it is shown. */
async function askProject({ stacks, found }: ProjectView, input: InitInput): Promise<void> {
  const { test, idPattern, branch } = harmless(found);
  const { choose, line } = await import('../cli/prompt.js');
  // What forge found may change later, so only another answer is stored as a choice.
  if (input.stack === undefined) {
    const question = 'Which stack should .forge/init.sh install and check?';
    const answer = await choose(question, stacks, found.stack);
    if (answer !== found.stack) input.stack = answer;
  }
  input.test ??= await line(`Which command runs the tests?${test ? NONE : ''}`, test?.command ?? '');
  if (idPattern !== null)
    input.idPattern ??= await line(`What do issue ids in commits look like?${NONE}`, idPattern);
  if (branch && !branch.known) input.branch ??= await line('What is the main branch?', branch.name);
}

async function askFeatures({ found }: ProjectView, input: InitInput): Promise<void> {
  const { features } = harmless(found);
  if (!features || input.features) return;
  const { confirm } = await import('../cli/prompt.js');
  const some = oneLine(features.names.join('; '), 60);
  if (await confirm(`Take ${plural(features.names.length, 'feature')} from ${features.file}? (${some})`))
    input.features = found.features ?? undefined;
}

async function askWiring({ agents, isRepository, found }: ProjectView, input: InitInput): Promise<void> {
  const { confirm } = await import('../cli/prompt.js');
  if (input.agents === undefined && agents.length > 0) {
    const names = agents.join(', ');
    if (await confirm(`Add forge to ${names}? It gets a briefing and tools.`)) {
      input.agents = 'found';
      input.allow = await confirm("Let it use forge's everyday tools without asking each time?");
    }
  }
  if (input.hooks === undefined && isRepository) {
    const whose = found.convention ? "agents' commits" : 'commits';
    if (await confirm(`Install git hooks? git then refuses secrets, and ${whose} without a reason.`))
      input.hooks = 'block';
  }
}

function render(result: InitResult, style: Style): string {
  const counts: [readonly string[], string][] = [
    [result.created, 'created'],
    [result.repaired, 'put back'],
    [result.renewed, 'renewed'],
    [result.kept, 'kept as they were'],
  ];
  const summary = counts
    .filter(([names]) => names.length > 0)
    .map(([names, word]) => `${names.length} ${word}`);
  return [
    ...gather(result.created).map((line) => `${style.good('created ')}  ${line}`),
    ...result.repaired.map((name) => `${style.warn('put back')}  ${name}`),
    ...result.renewed.map((name) => `${style.good('renewed ')}  ${name}`),
    ...gatherFeatures(result.features).map((line) => `${style.good('features')}  ${line}`),
    ...(result.agents.length > 0 ? [`${style.good('agents  ')}  ${result.agents.join(', ')}`] : []),
    ...(result.hooks.length > 0 ? [`${style.good('hooks   ')}  ${result.hooks.join(', ')}`] : []),
    ...result.skipped.map((reason) => `${style.dim('skipped ')}  ${reason}`),
    `${style.strong(result.root)}: ${summary.join(', ')}.`,
    ...renderProposals(result, style),
    '',
    'Next:',
    ...result.next.map(
      (line) => `  ${style.command(line)}${line === SCRIPT ? style.dim(`   ${SCRIPT_DOES}`) : ''}`,
    ),
    ...(result.proposals.length > 0 ? ['', style.dim(describeStay(result))] : []),
  ].join('\n');
}

const SCRIPT = 'sh .forge/init.sh';
const SCRIPT_DOES = '# install dependencies, run a quick check';

/** What to commit, and how to remove forge again. */
function describeStay({ agents, hooks, commit }: InitResult): string {
  const files = ['.forge', ...commit].join(' ');
  const undo = [
    ...(agents.length > 0 ? [`forge agent uninstall ${agents.length > 1 ? 'all' : agents[0]}`] : []),
    ...(hooks.length > 0 ? ['forge hooks uninstall'] : []),
    'rm -rf .forge .git/forge',
  ];
  const own = 'The end of a session commits .forge/.';
  const more = `Commit them together: git add ${files} && forge commit -m "Add forge" --why "agents remember"`;
  return [commit.length > 0 ? more : own, `To remove forge: ${undo.join(' && ')}`].join('\n');
}

const NAMES = {
  stack: 'stack',
  test: 'tests',
  id_pattern: 'issue ids',
  branch: 'branch',
  commits: 'commits',
  features: 'features',
} as const;

/** What was found; what is not set up yet has the flag that does it. */
function renderProposals({ proposals }: InitResult, style: Style): string[] {
  if (proposals.length === 0) return [];
  const rows = proposals.map(({ name, value, from, taken, flag }) => [
    NAMES[name],
    taken ? value : style.dim(value),
    taken ? style.dim(from) : `${style.dim(`${from};`)} ${howToTake(name, value, flag, style)}`,
  ]);
  return ['', 'Found:', columns(rows, '  ')];
}

/** What works now that config.toml is there, as before. */
const howToTake = (name: keyof typeof NAMES, value: string, flag: string, style: Style): string =>
  name === 'test'
    ? `${style.dim('to run it at checkpoints too:')} ${style.command(`forge config set checkpoint.verify ${JSON.stringify(value)}`)}`
    : `${style.dim('to take it:')} ${style.command(`forge init ${flag}`)}`;

const gatherFeatures = (ids: readonly string[]): string[] =>
  ids.length === 0 ? [] : [ids.length < 4 ? ids.join(', ') : `${ids[0]} to ${ids.at(-1)}`];

/** One line for each folder of `.forge/`. `--json` has the file names. */
function gather(names: readonly string[]): string[] {
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

export const group: Group = {
  commands: [
    command<InitResult>({
      name: 'init',
      args: ['[dir]'],
      summary: 'Create the .forge/ folder, or put back what is missing; never overwrites',
      example: 'forge init --yes',
      options: [
        {
          flags: '--stack <name>',
          help: 'what init.sh sets up: node, python, rust, go, mixed or none (default: by the files here)',
          values: { words: STACKS },
        },
        {
          flags: '--name <name>',
          help: "the project's name (default: as in its manifest, else the folder's)",
        },
        { flags: '--test <command>', help: 'what runs the tests; checkpoints run it too' },
        { flags: '--id-pattern <pattern>', help: 'how ids of issues look (default: as in recent commits)' },
        { flags: '--branch <name>', help: 'the branch that others are merged into (default: git knows)' },
        {
          flags: '--agents <name>',
          help: 'wire forge into this coding agent, into all, or into those found here (default: none)',
          values: { words: AGENT_CHOICES },
        },
        {
          flags: '--hooks <mode>',
          help: 'git hooks that block bad commits, or only warn (default: none)',
          values: { words: HOOK_CHOICES },
        },
        { flags: '--features <file>', help: 'take its open tasks, "- [ ] …", or a JSON list, as features' },
      ],
      writes: true,
      confirms: true,
      run,
      render,
    }),
  ],
};
