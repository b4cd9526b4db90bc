#!/usr/bin/env node
'use strict';
// Starts the command line: with Node's own code cache where it has one (22.1), else with what V8 compiled when
// the package was built, if it was this very Node that built it.

const { existsSync, fstatSync, lstatSync, mkdirSync, readFileSync, statSync, writeSync } = require('node:fs');
const { basename, join } = require('node:path');

const folder = join(__dirname, '..', 'dist', 'cli');

/**
 * Where the build put what this Node compiled. V8 itself takes code of any Node that has its version, and crashes when
 * another one wrote it: so the name has the Node's version, and the size of its program for builds of one version.
 */
const { version, platform, arch, execPath } = process;
const size = statSync(execPath, { throwIfNoEntry: false })?.size;
const caches = join(folder, [version, platform, arch, size].join('-'));

/** node:module brings what loads ES modules with it: not for Nodes that cannot have the function. */
const { enableCompileCache } = Number.parseInt(version.slice(1), 10) < 22 ? {} : require('node:module');

/** A file of dist/cli is a list: which build it is of, and a function for each module (scripts/link.mjs). */
const files = new Map();
const modules = new Map();
let build;

/** `#FILE/PLACE` is a module of ours, loaded when it is first asked for. */
function load(id) {
  if (id[0] !== '#') return require(id);
  const known = modules.get(id);
  if (known !== undefined) return known;
  const exports = {};
  modules.set(id, exports);
  const slash = id.indexOf('/');
  fileOf(id.slice(1, slash))[id.slice(slash + 1)](exports, load, folder, onUse);
  return exports;
}

/** Loads a module when it is first called for. */
function onUse(id) {
  let exports;
  return () => (exports ??= load(id));
}

function fileOf(name) {
  let functions = files.get(name);
  if (functions === undefined) {
    functions = functionsOf(`${name}.cjs`, enableCompileCache ? require : run);
    files.set(name, functions);
  }
  return functions;
}

/** Of a file that is gone, empty or cut off it is said that it is, not where that was noticed. */
function functionsOf(file, read) {
  const path = join(folder, file);
  let why = `${path} is damaged`;
  try {
    const functions = read(path);
    if (Array.isArray(functions)) {
      build ??= functions[0];
      if (functions[0] === build) return functions;
      why = `${path} is of another build, which was put there meanwhile`;
    }
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') why = `${path} is missing`;
    else if (error.code) why = error.message;
    else if (!(error instanceof SyntaxError)) throw error;
  }
  const what =
    'forge is incomplete; npm ci && npm run build in your clone of forge puts back what is missing';
  throw Object.assign(new Error(`${what}: ${why}`), { code: 'ENOENT' });
}

/** The value of a file, with the code that was compiled when it was built. */
function run(path) {
  const { Script } = require('node:vm');
  const name = basename(path, '.cjs');
  // Stacks show this: what is compiled bears it, and should not bear the folder that it was built in.
  const filename = `forge/${name}.cjs`;
  const cachedData = compiled(join(caches, `${name}.v8`));
  // Our own are ASCII, of which Latin-1 is read fastest.
  return new Script(readFileSync(path, 'latin1'), { filename, cachedData }).runInThisContext();
}

function compiled(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Where Node may keep what it compiled. By itself it takes a folder of the temp folder that anybody could have made before, and
 * runs the code that it finds there; so this one is the user's own, or there is none.
 */
function ownFolder() {
  const user = process.getuid?.();
  const own = join(require('node:os').tmpdir(), `forge-compile-cache-${user ?? 'user'}`);
  try {
    if (!existsSync(own)) mkdirSync(own, { mode: 0o700 });
    const found = lstatSync(own);
    if (!found.isDirectory()) return null;
    return user === undefined || (found.uid === user && (found.mode & 0o022) === 0) ? own : null;
  } catch {
    return null;
  }
}

function start() {
  try {
    load('#main/1');
  } catch (error) {
    if (!error.code) throw error;
    writeSync(2, `forge: ${error.message}\n`);
    process.exitCode = 6;
  }
}

/** What a shell asks before every prompt has a file of its own. Null at a terminal, and for what that one cannot tell. */
async function promptLine() {
  // Most of what is no terminal shows that without the tty module.
  if (fstatSync(1).isCharacterDevice() && require('node:tty').isatty(1)) return null;
  return load('#short-status/1').shortStatus(process.env, process.cwd());
}

async function prompt() {
  const line = await promptLine().catch(() => null);
  if (line === null) start();
  else tell(line);
}

/** Straight to the descriptor: process.stdout would load what draws terminals and opens sockets. */
function tell(line) {
  try {
    writeSync(1, line);
  } catch (error) {
    // A reader that is gone is no error; all else is said as usual.
    if (error.code !== 'EPIPE') start();
  }
}

function main(words) {
  // Editors and prompts ask for the version often: nothing is loaded for it.
  if (words.length === 1 && ['--version', '-V'].includes(words[0]))
    return tell(`${require('../package.json').version}\n`);
  const own = enableCompileCache ? ownFolder() : null;
  if (own !== null) enableCompileCache(own);
  const asksForPrompt = words.length === 2 && words[0] === 'status' && words[1] === '--short';
  return asksForPrompt ? prompt() : start();
}

if (require.main === module) main(process.argv.slice(2));
else module.exports = { caches };
