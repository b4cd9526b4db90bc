// Prints how large src/ is: files and lines for each subject beside its target, and how many files a command enters.
// Usage: npm run house [-- --sizes]; --sizes leaves the commands out.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, transformSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

/** Lines, of the folders together. The guard's rules are data and not counted. */
const TARGETS = [
  [['guard'], 2200],
  [['ledger'], 3500],
  [['learning'], 1400],
  [['cycle'], 1800],
  [['agent'], 2100],
  [['mcp'], 550],
  [['checkpoint'], 850],
  [['recover', 'undo'], 850],
  [['doctor'], 1500],
  [['commit', 'hooks'], 2100],
  [['ci'], 550],
  [['session'], 2100],
  [['kfr'], 950],
  [['feature'], 900],
  [['knowledge', 'note'], 500],
  [['init'], 950],
  [['status'], 700],
  [['trust', 'config', 'project'], 800],
  [['git'], 1050],
  [['core'], 1300],
  [['cli'], 1750],
  [['library', 'index.ts', 'main.ts'], 300],
  [['finding', 'recall'], 3500],
  [['skill', 'artifact', 'linear', 'import'], 4000],
  [['events'], 2000],
  [['ui'], 2500],
];
const GOAL = { files: 280, lines: 43_000 };
/** Files in which a function runs. */
const ENTERED = [
  [['progress', 'add', 'One step'], 20],
  [['memory', 'record', '--task', 'A-1', '--exit-code', '0'], 30],
  [['session', 'start'], 40],
  [['checkpoint', 'create', 'A', '--verify', 'true'], 45],
];

const isData = (path) => /^guard\/rules\//.test(path);

function readSources() {
  const entries = readdirSync(SRC, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => {
      const path = relative(SRC, join(entry.parentPath, entry.name)).replaceAll('\\', '/');
      const text = readFileSync(join(SRC, path), 'utf8');
      return { path, text, lines: text.split('\n').length - 1 };
    });
}

function importersOf(files) {
  const importers = new Map();
  for (const { path, text } of files)
    for (const [, from] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), from))
        .replaceAll('\\', '/')
        .replace(/\.js$/, '.ts');
      importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  return importers;
}

const row = (...cells) =>
  console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(28) : `${cell}`.padStart(9))).join(''));

function printSizes(files) {
  const lines = files.map((file) => file.lines).sort((a, b) => a - b);
  const total = lines.reduce((sum, count) => sum + count, 0);
  const rules = files.filter(({ path }) => isData(path)).reduce((sum, file) => sum + file.lines, 0);
  row('', 'now', 'goal');
  row('files', files.length, GOAL.files);
  row('lines', total - rules, GOAL.lines);
  row('lines of guard rules', rules, '-');
  row('median lines of a file', lines[lines.length >> 1], '-');
  row('largest file', Math.max(...files.filter(({ path }) => !isData(path)).map((file) => file.lines)), 300);
  const importers = importersOf(files);
  const single = files.filter(({ path }) => importers.get(path)?.size === 1);
  const beside = single.filter(({ path }) => dirname([...importers.get(path)][0]) === dirname(path));
  row('files with one importer', single.length, '-');
  row('  in the same folder', beside.length, '-');
  console.log();
  row('subject', 'files', 'lines', 'goal');
  for (const [folders, goal] of TARGETS) {
    const own = files.filter(({ path }) => folders.includes(path.split('/')[0]) && !isData(path));
    row(
      folders.join(', ').replaceAll('.ts', ''),
      own.length,
      own.reduce((sum, file) => sum + file.lines, 0),
      goal,
    );
  }
  const known = new Set(TARGETS.flatMap(([folders]) => folders));
  const other = [...new Set(files.map(({ path }) => path.split('/')[0]))].filter((name) => !known.has(name));
  if (other.length > 0) throw new Error(`These folders have no target: ${other.join(', ')}.`);
}

/** The sources as JavaScript, one file each, where they find their packages and templates. */
async function transpile(files, out) {
  const define = { FORGE_VERSION: '"0.0.0"' };
  // Node cannot load its ES modules.
  const jsonc = join(out, 'jsonc-parser.mjs');
  const common = { bundle: true, format: 'esm', platform: 'node', logLevel: 'error' };
  await build({
    ...common,
    entryPoints: [join(ROOT, 'node_modules/jsonc-parser/lib/esm/main.js')],
    outfile: jsonc,
  });
  for (const { path, text } of files) {
    const { code } = transformSync(text, {
      loader: path.endsWith('x') ? 'tsx' : 'ts',
      format: 'esm',
      target: 'node20.19',
      define,
    });
    const file = join(out, path.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code.replaceAll('"jsonc-parser"', JSON.stringify(pathToFileURL(jsonc).href)));
  }
  writeFileSync(join(out, 'package.json'), '{ "type": "module" }\n');
}

/** How many files of ours a coverage report names with a function that ran, the module's own top level aside. */
function countEntered(folder, out) {
  const entered = new Set();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    for (const { url, functions } of result) {
      const path = url.startsWith('file:') ? relative(out, fileURLToPath(url)) : '..';
      if (path.startsWith('..') || path.endsWith('.mjs')) continue;
      const inner = functions.filter(({ ranges }) => ranges[0].startOffset > 0);
      if (inner.some(({ ranges }) => ranges[0].count > 0)) entered.add(path);
    }
  }
  return entered;
}

async function printEntered(files) {
  const out = join(ROOT, 'node_modules', '.cache', 'forge-house');
  const home = mkdtempSync(join(tmpdir(), 'forge-house-'));
  const place = join(home, 'project');
  try {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    await transpile(files, out);
    mkdirSync(place);
    const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, '.state') };
    const git = (...args) => execFileSync('git', args, { cwd: place, env });
    const forge = (args, more = {}) =>
      execFileSync(process.execPath, [join(out, 'main.js'), ...args], {
        cwd: place,
        env: { ...env, ...more },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    git('init', '-q');
    for (const [name, value] of [
      ['name', 'A'],
      ['email', 'a@example.com'],
    ])
      git('config', `user.${name}`, value);
    forge(['init', '--yes']);
    git('add', '-A');
    git('commit', '-qm', 'Begin');
    forge(['session', 'start']);
    console.log();
    row('files entered by', 'now', 'goal');
    for (const [args, goal] of ENTERED) {
      const coverage = join(place, '.git', args[0]);
      if (args[0] === 'session') forge(['session', 'end']);
      forge(args, { NODE_V8_COVERAGE: coverage });
      row(args.slice(0, 2).join(' '), countEntered(coverage, out).size, goal);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
    rmSync(out, { recursive: true, force: true });
  }
}

const files = readSources();
printSizes(files);
if (!process.argv.includes('--sizes')) await printEntered(files);
