#!/usr/bin/env node
'use strict';
// Starts the command line: with Node's own code cache where it has one (22.1), else with what V8 compiled when
// the package was built, if it was this very Node that built it.

const { existsSync, fstatSync, lstatSync, mkdirSync, readFileSync, statSync, writeSync } = require('node:fs');
const { createRequire, enableCompileCache, wrap } = require('node:module');
const { join } = require('node:path');

// The guard is needed by every command that writes, and a server has to answer at once; other libraries by few.
const CACHED = new Set(['./guard.cjs', './mcp.cjs']);
const folder = join(__dirname, '..', 'dist', 'cli');

/**
 * Where the build put what this Node compiled. V8 itself takes code of any Node that has its version, and crashes when
 * another one wrote it: so the name has the Node's version, and the size of its program for builds of one version.
 */
const { version, platform, arch, execPath } = process;
const size = statSync(execPath, { throwIfNoEntry: false })?.size;
const caches = join(folder, [version, platform, arch, size].join('-'));

function builtCache(name) {
  try {
    return readFileSync(join(caches, `${name}.v8`));
  } catch {
    return undefined;
  }
}

/** Some commands have a cache of their own: of what they use, and of nothing else. */
function cacheOf([group, command, event = '']) {
  // The hook of a start is a `session start`.
  if (group === 'hook' && /start$/i.test(event)) return 'bin.cjs';
  const own = [`bin.cjs.${group}-${command}`, `bin.cjs.${group}`];
  return own.find((name) => existsSync(join(caches, `${name}.v8`))) ?? 'bin.cjs';
}

/** Runs a bundle with the code that was compiled when it was built. */
function load(name, cache = name) {
  const { Script } = require('node:vm');
  const file = join(folder, name);
  const script = new Script(wrap(readFileSync(file, 'utf8')), {
    filename: file,
    cachedData: builtCache(cache),
  });
  const module_ = { exports: {} };
  const plain = createRequire(file);
  const required = (id) => (CACHED.has(id) ? load(id) : plain(id));
  script.runInThisContext()(module_.exports, required, module_, file, folder);
  return module_.exports;
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

/** A bundle, by Node's own cache or by ours. */
function open(name, cache) {
  if (!enableCompileCache) return load(name, cache);
  const own = ownFolder();
  if (own !== null) enableCompileCache(own);
  return require(join(folder, name));
}

const [, , ...words] = process.argv;
const start = () => open('bin.cjs', cacheOf(words));

/** What a shell asks before every prompt has a bundle of its own. Null at a terminal, and for what that one cannot tell. */
async function promptLine() {
  // Most of what is no terminal shows that without the tty module.
  if (fstatSync(1).isCharacterDevice() && require('node:tty').isatty(1)) return null;
  return open('short-status.cjs').shortStatus(process.env, process.cwd());
}

async function prompt() {
  const line = await promptLine().catch(() => null);
  if (line === null) return start();
  try {
    writeSync(1, line);
  } catch (error) {
    // A reader that is gone is no error; all else is said as usual.
    if (error.code !== 'EPIPE') start();
  }
}

// Editors and prompts ask for the version often: nothing is loaded for it.
if (require.main !== module) module.exports = { caches };
else if (words.length === 1 && ['--version', '-V'].includes(words[0]))
  // Straight to the descriptor: process.stdout would load what draws terminals and opens sockets.
  writeSync(1, `${require('../package.json').version}\n`);
else if (words.join(' ') === 'status --short') prompt();
else start();
