// Runs one forge command as bin/forge.js does and writes what V8 compiled on the way where that looks for it, that of bin.cjs
// under a name of the command's own unless it is empty. Only the build uses it: node scripts/code-cache.cjs NAME ARG…
'use strict';

const { mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');
const { caches } = require('../bin/forge.js');

const [name] = process.argv.splice(2, 1);
const CACHED = new Set(['./guard.cjs', './mcp.cjs']);
const folder = join(__dirname, '..', 'dist', 'cli');

function load(bundle, cache = bundle) {
  const file = join(folder, bundle);
  const script = new Script(wrap(readFileSync(file, 'utf8')), { filename: file });
  const module_ = { exports: {} };
  const plain = createRequire(file);
  const required = (id) => (CACHED.has(id) ? load(id) : plain(id));
  script.runInThisContext()(module_.exports, required, module_, file, folder);
  process.on('exit', () => writeFileSync(join(caches, `${cache}.v8`), script.createCachedData()));
  return module_.exports;
}

mkdirSync(caches, { recursive: true });
async function prompt() {
  const line = await load('short-status.cjs').shortStatus(process.env, process.cwd());
  if (line === null) throw new Error('the status was not remembered');
}

if (name === 'short-status') prompt();
else load('bin.cjs', name === '' ? 'bin.cjs' : `bin.cjs.${name}`);
