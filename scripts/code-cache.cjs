// Loaded before bin/forge.js (node -r) when the package is built: at the end of a command it writes for each file that
// was used what V8 compiled of it by then, and into RECORD_NAMES, where that is set, which ones they were. RECORD_ONLY: a
// file is left as it is that has another user than these.
'use strict';

const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
const module_ = require('node:module');
const { basename, join } = require('node:path');
const vm = require('node:vm');

const FORGE = require.resolve('../bin/forge.js');
const { caches } = require(FORGE);
// It is to be loaded again, as what is run.
delete require.cache[FORGE];

const { RECORD_NAMES, RECORD_ONLY = '', RECORD_USER } = process.env;
const scripts = [];

// Whatever Node builds: what it keeps by itself is not for the package.
module_.enableCompileCache = undefined;
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    if (this.cachedDataRejected) throw new Error(`${options.filename}: what this Node wrote it refuses`);
    scripts.push({ script: this, file: options.filename });
  }
};

/** A file is named after its users. */
const isWritten = (file) =>
  RECORD_ONLY === '' ||
  basename(file, '.cjs')
    .split('.')
    .every((user) => RECORD_ONLY.split('.').includes(user));

process.on('exit', () => {
  mkdirSync(caches, { recursive: true });
  for (const { script, file } of scripts)
    if (isWritten(file))
      writeFileSync(join(caches, `${basename(file, '.cjs')}.v8`), script.createCachedData());
  const names = { user: RECORD_USER, files: scripts.map(({ file }) => file) };
  if (RECORD_NAMES) appendFileSync(RECORD_NAMES, `${JSON.stringify(names)}\n`);
});
