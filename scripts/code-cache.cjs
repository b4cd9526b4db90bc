// Runs one forge command as bin/forge.js does and writes what V8 compiled on the way beside the bundle.
// Only the build uses it: node scripts/code-cache.cjs ARG…
'use strict';

const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const file = join(__dirname, '..', 'dist', 'cli', 'bin.cjs');
const script = new Script(wrap(readFileSync(file, 'utf8')), { filename: file });
const module_ = { exports: {} };
script.runInThisContext()(module_.exports, createRequire(file), module_, file, dirname(file));
process.on('exit', () => writeFileSync(`${file}.v8`, script.createCachedData()));
