#!/usr/bin/env node
'use strict';
// Answers --version, and starts one of the two bundles in dist/cli.

const { writeSync } = require('node:fs');
const { join } = require('node:path');

/** Commands of the daily bundle. Everything else, and help, is in the full one. */
const DAILY = new Set(
  'where status session briefing progress focus kfr next feature commit knowledge architecture note learn hook'
    .concat(' start log done end ls recall skill')
    .split(' '),
);

/** Node's own code cache (22.1), in the user's cache folder: other users could write to the temporary one. */
function keepCompiledCode() {
  // Node 20 has no such cache, and loading node:module costs it a millisecond.
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
  const base = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, '.cache'));
  if (base) require('node:module').enableCompileCache?.(join(base, 'forge', 'node'));
}

function start(words) {
  const isDaily = words.length === 0 || DAILY.has(words[0]);
  const bundle = isDaily && !words.includes('--help') && !words.includes('-h') ? 'daily' : 'full';
  const path = join(__dirname, '..', 'dist', 'cli', `${bundle}.cjs`);
  try {
    // The last statement of a bundle exports true. A truncated file can be valid JavaScript that does nothing.
    if (require(path) !== true) reportIncomplete(path, 'damaged');
  } catch (error) {
    const isMissing = error.code === 'MODULE_NOT_FOUND' && error.message.includes(path);
    // A truncated file may end in the middle of a word, which is a ReferenceError.
    const isDamaged = error instanceof SyntaxError || error instanceof ReferenceError;
    if (!isMissing && !isDamaged) throw error;
    reportIncomplete(path, isMissing ? 'missing' : 'damaged');
  }
}

function reportIncomplete(path, what) {
  process.stderr.write(
    `forge: forge is incomplete: ${path} is ${what}\n` +
      '  → npm ci && npm run build   (in your clone of forge)\n',
  );
  process.exitCode = 6;
}

/** A closed pipe is no error. Every other failure is reported by the bundle, which tries again. */
function printVersion() {
  try {
    writeSync(1, `${require('../package.json').version}\n`);
  } catch (error) {
    if (error.code !== 'EPIPE') start(['--version']);
  }
}

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  printVersion();
} else {
  keepCompiledCode();
  start(words);
}
