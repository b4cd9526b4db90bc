#!/usr/bin/env node
'use strict';
// Starts the command line: with Node's own code cache where it has one (22.1), else with what V8 compiled when
// the package was built, which any other V8 ignores.

const { readFileSync, writeSync } = require('node:fs');
const { createRequire, enableCompileCache, wrap } = require('node:module');
const { dirname, join } = require('node:path');

const file = join(__dirname, '..', 'dist', 'cli', 'bin.cjs');

function builtCache() {
  try {
    return readFileSync(`${file}.v8`);
  } catch {
    return undefined;
  }
}

function start() {
  if (enableCompileCache) {
    enableCompileCache();
    require(file);
    return;
  }
  const { Script } = require('node:vm');
  const script = new Script(wrap(readFileSync(file, 'utf8')), { filename: file, cachedData: builtCache() });
  const module_ = { exports: {} };
  script.runInThisContext()(module_.exports, createRequire(file), module_, file, dirname(file));
}

// Editors and prompts ask for the version often: nothing is loaded for it.
if (process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2]))
  // Straight to the descriptor: process.stdout would load what draws terminals and opens sockets.
  writeSync(1, `${require('../package.json').version}\n`);
else start();
