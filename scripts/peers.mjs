// Packages from npm that are no part of forge: tools that it has to live beside, and other versions of Node.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CACHE = fileURLToPath(new URL('../node_modules/.cache/forge-peers', import.meta.url));

/**
 * A package's folder, with what it depends on beside it. It is fetched once, and its install scripts do not run. Null where
 * it cannot be had: what needs it is left out, and stderr says so.
 */
export function peer(name, version) {
  const top = join(CACHE, `${name}-${version}`);
  const place = join(top, 'node_modules', name);
  const isThere = () => existsSync(join(place, 'package.json'));
  if (isThere()) return place;
  const failure = install(`${name}@${version}`, top, isThere);
  if (failure === null) return place;
  process.stderr.write(`${name} ${version} could not be installed; what needs it is skipped: ${failure}\n`);
  return null;
}

/** Whole or not at all: what was killed half-way is not taken for a package, and two at a time do not meet. */
function install(spec, top, isThere) {
  const draft = `${top}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const { status, stderr, error } = spawnSync('npm', ['install', '--prefix', draft, ...flags, spec], {
      encoding: 'utf8',
      timeout: 120_000,
    });
    if (status !== 0) return error?.message ?? stderr.trim().split('\n')[0];
    // Another process may have been quicker.
    if (isThere()) return null;
    rmSync(top, { recursive: true, force: true });
    renameSync(draft, top);
    return null;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
