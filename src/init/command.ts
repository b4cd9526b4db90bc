import { existsSync, realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, harmless, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { makeFolder } from '../core/files.js';
import { oneLine, plural } from '../core/text.js';
import { type InitInput, type InitResult, initForge, inspectProject } from '../index.js';
import { STACKS } from './stack.js';

/** `forge init DIR`: a folder that is not there yet is made, as git does. */
function folderOf({ cwd, flags }: Call, dir: string | undefined): string {
  if (dir === undefined) return cwd;
  const folder = resolve(cwd, dir);
  if (!flags.dryRun) makeFolder(folder);
  else if (!existsSync(folder))
    throw usage('folder.missing', `There is no folder ${folder} yet.`, { hint: `mkdir -p ${dir}` });
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

/** What is proposed is taken with Enter. */
const CLEAR = ' (Backspace: none)';

/** One line for each thing that forge cannot know; what a flag says is not asked, and nothing where forge is set up. */
async function ask(call: Call, cwd: string, input: InitInput): Promise<void> {
  const { fresh, stacks, found } = await inspectProject(cwd, { world: call.world });
  if (!fresh) return;
  // What stands in files and commits is shown here, so it must not move the cursor.
  const { test, idPattern, branch, features } = harmless(found);
  const { choose, confirm, line } = await import('../cli/prompt.js');
  // What forge found it may find otherwise another time: only another answer is a choice that stays.
  if (input.stack === undefined) {
    const answer = await choose('Which stack should init.sh set up?', stacks, found.stack);
    if (answer !== found.stack) input.stack = answer;
  }
  input.test ??= await line(`Which command runs the tests?${test ? CLEAR : ''}`, test?.command ?? '');
  if (idPattern !== null)
    input.idPattern ??= await line(`What do ids of issues look like, in commits?${CLEAR}`, idPattern);
  if (branch && !branch.known)
    input.branch ??= await line('Which branch are the others merged into?', branch.name);
  if (!features || input.features) return;
  const some = oneLine(features.names.join('; '), 60);
  if (await confirm(`Take ${plural(features.names.length, 'feature')} from ${features.file}? (${some})`))
    input.features = found.features ?? undefined;
}

const LEAVE =
  '.forge/ is committed at the end of a session. To be without it again: rm -rf .forge .git/forge';

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
    ...result.skipped.map((reason) => `${style.dim('skipped ')}  ${reason}`),
    `${style.strong(result.root)}: ${summary.join(', ')}.`,
    ...renderProposals(result, style),
    '',
    'Next:',
    ...result.next.map((line) => `  ${style.command(line)}`),
    ...(result.proposals.length > 0 ? ['', style.dim(LEAVE)] : []),
  ].join('\n');
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

/** One line a folder of `.forge/`: forty file names tell a newcomer nothing (--json has them). */
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
        { flags: '--name <name>', help: "the project's name (default: the folder's)" },
        { flags: '--test <command>', help: 'what runs the tests; checkpoints run it too' },
        { flags: '--id-pattern <pattern>', help: 'how ids of issues look (default: as in recent commits)' },
        { flags: '--branch <name>', help: 'the branch that others are merged into (default: git knows)' },
        { flags: '--features <file>', help: 'take its open tasks, "- [ ] …", or a JSON list, as features' },
      ],
      writes: true,
      confirms: true,
      run,
      render,
    }),
  ],
};
