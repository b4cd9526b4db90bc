#!/usr/bin/env node
'use strict';
// Starts the command line: with Node's own code cache where it has one (22.1), else with what V8 compiled when
// the package was built, which any other V8 ignores.

const { readFileSync, writeSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

const folder = join(__dirname, '..', 'dist', 'cli');

/** A file of dist/cli is a list of functions, one for each module (scripts/link.mjs). */
const files = new Map();
const modules = new Map();

/** `#FILE/PLACE` is a module of ours, loaded when it is first asked for. */
function load(id) {
  if (id[0] !== '#') return require(id);
  const known = modules.get(id);
  if (known !== undefined) return known;
  const exports = {};
  modules.set(id, exports);
  const slash = id.indexOf('/');
  fileOf(id.slice(1, slash))[id.slice(slash + 1)](exports, load, folder);
  return exports;
}

function fileOf(name) {
  let functions = files.get(name);
  if (functions === undefined) {
    functions = enableCompileCache ? require(join(folder, `${name}.cjs`)) : run(join(folder, name));
    files.set(name, functions);
  }
  return functions;
}

/** The value of a file, with the code that was compiled when it was built. */
function run(path) {
  const { Script } = require('node:vm');
  const filename = `${path}.cjs`;
  const text = textOf(filename);
  return new Script(text, { filename, cachedData: compiled(`${path}.v8`) }).runInThisContext();
}

function textOf(path) {
  try {
    // Our own are ASCII, of which Latin-1 is read fastest.
    return readFileSync(path, 'latin1');
  } catch ({ code, message }) {
    const what = 'forge is incomplete; npm install -g forge-memory puts back what is missing';
    throw Object.assign(new Error(`${what}: ${message}`), { code });
  }
}

function compiled(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

// Editors and prompts ask for the version often: nothing is loaded for it.
if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2]))
  // Straight to the descriptor: process.stdout would load what draws terminals and opens sockets.
  writeSync(1, `${require('../package.json').version}\n`);
else {
  enableCompileCache?.();
  try {
    load('#main/0');
  } catch (error) {
    if (!error.code) throw error;
    writeSync(2, `forge: ${error.message}\n`);
    process.exitCode = 6;
  }
}
