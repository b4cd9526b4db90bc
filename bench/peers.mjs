// What other tools take in the same run, for what one would use them for in forge's place. They come from npm, in these
// versions, once; one that cannot be had is left out, and the table says so.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { peer } from '../scripts/peers.mjs';
import { run, wallRatios } from './measure.mjs';
import { commitsBeside, messagesBeside } from './peers-commits.mjs';
import { callsBeside, openingsBeside } from './peers-memory.mjs';
import { forge } from './repositories.mjs';

const VERSIONS = {
  '@commitlint/cli': '20.5.3',
  '@commitlint/config-conventional': '20.5.3',
  husky: '9.1.7',
  lefthook: '2.2.2',
  'backlog.md': '1.52.0',
  '@modelcontextprotocol/server-memory': '2026.8.31',
};

const folders = new Map();

/** The folder of a peer; null where it cannot be had. */
function find(name) {
  if (!folders.has(name)) folders.set(name, peer(name, VERSIONS[name]));
  return folders.get(name);
}

/** With their versions, for the table's head. */
export const peersInUse = () =>
  [...folders].filter(([, folder]) => folder !== null).map(([name]) => `${name} ${VERSIONS[name]}`);

/** A peer's program for Node, as argv; null where it cannot be had. */
const program = (name, path) => {
  const folder = find(name);
  return folder === null ? null : [process.execPath, join(folder, path)];
};

/** The folder with what a peer compiled for this machine, which npm leaves out where there is none. */
const compiled = (name) => {
  const folder = find(name);
  const binaries = folder && join(dirname(folder), `${name}-${process.platform}-${process.arch}`);
  return binaries && existsSync(binaries) ? binaries : null;
};
const backlog = () => compiled('backlog.md') && program('backlog.md', 'cli.js');
const lefthook = () => compiled('lefthook') && [join(compiled('lefthook'), 'bin', 'lefthook')];

const PROGRAMS = {
  commitlint: () => program('@commitlint/cli', 'cli.js'),
  commitlintConfig: () => find('@commitlint/config-conventional'),
  husky: () => program('husky', 'bin.js'),
  lefthook,
  serverMemory: () => program('@modelcontextprotocol/server-memory', join('dist', 'index.js')),
};

/** Rows of commands that take turns: `[name, argv]`, where argv is null for what cannot be had. */
function inTurn(contenders, place) {
  const there = contenders.filter(([, argv]) => argv !== null);
  const rows = wallRatios(
    there.map(([, argv]) => argv),
    place,
  );
  return contenders.map(([name, argv]) =>
    argv === null
      ? { name, skipped: 'could not be installed' }
      : { name, ...rows[there.findIndex(([other]) => other === name)] },
  );
}

/** How long a tool takes to say which version it is. */
const versions = (_figure, { env }, scratch) =>
  inTurn(
    [
      ['--version: forge', forge('--version')],
      ['--version: lefthook', lefthook()?.concat('version') ?? null],
      ['--version: commitlint', PROGRAMS.commitlint()?.concat('--version') ?? null],
      ['--version: backlog', backlog()?.concat('--version') ?? null],
    ],
    { cwd: scratch, env },
  );

const TASKS = 100;

/** A repository with so many features of forge, and as many tasks of Backlog.md. */
function makeTasks(scratch, env) {
  const cwd = join(scratch, 'tasks');
  mkdirSync(cwd);
  const place = { cwd, env };
  run(['git', 'init', '-q'], place);
  run(['git', 'commit', '-q', '--allow-empty', '-m', 'Begin'], place);
  run(forge('init', '--yes', '--stack', 'none'), place);
  const features = Array.from({ length: TASKS }, (_, i) => ({ id: `BENCH-${i + 1}`, name: `Task ${i + 1}` }));
  run(forge('feature', 'import', '-'), { ...place, input: JSON.stringify(features) });
  if (backlog() !== null) makeBacklog(place);
  return place;
}

/** The first task by its own command, the others as copies of it. Nothing is fetched from a remote: there is none. */
function makeBacklog(place) {
  run([...backlog(), 'init', 'bench', '--defaults'], place);
  run([...backlog(), 'config', 'set', 'remoteOperations', 'false'], place);
  run([...backlog(), 'task', 'create', 'Task 1'], place);
  const folder = join(place.cwd, 'backlog', 'tasks');
  const [first] = readdirSync(folder);
  const text = readFileSync(join(folder, first), 'utf8');
  for (let i = 2; i <= TASKS; i++)
    writeFileSync(
      join(folder, `task-${i} - Task-${i}.md`),
      text.replace('TASK-1', `TASK-${i}`).replace('Task 1', `Task ${i}`),
    );
  const listed = run([...backlog(), 'task', 'list', '--plain'], place).match(/TASK-\d+/g) ?? [];
  if (listed.length !== TASKS) throw new Error(`backlog lists ${listed.length} tasks, not ${TASKS}`);
}

const tasks = (_figure, { env }, scratch) => {
  const place = makeTasks(scratch, env);
  let count = TASKS;
  const id = () => `BENCH-${++count}`;
  return [
    ...inTurn(
      [
        [`list of ${TASKS}: forge feature list`, forge('feature', 'list')],
        [`list of ${TASKS}: backlog task list`, backlog()?.concat('task', 'list', '--plain') ?? null],
      ],
      place,
    ),
    ...inTurn(
      [
        ['add one: forge feature add', () => forge('feature', 'add', id(), 'One more')],
        ['add one: backlog task create', backlog()?.concat('task', 'create', 'One more') ?? null],
      ],
      place,
    ),
  ];
};

export const PEERS = [
  { name: 'git commit, with hooks', measure: commitsBeside(PROGRAMS) },
  { name: 'a message checked', measure: messagesBeside(PROGRAMS) },
  { name: 'say the version', measure: versions },
  { name: 'tasks: list, add', measure: tasks },
  { name: 'MCP: start to first answer', measure: openingsBeside(PROGRAMS) },
  ...[100, 10_000].map((entries) => ({
    name: `MCP: write and read, ${entries.toLocaleString('en')} entries`,
    unit: 'ms',
    measure: callsBeside(PROGRAMS, entries),
  })),
].map((figure) => ({ ...figure, where: 'none' }));
