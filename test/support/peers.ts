import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../node_modules/.cache/forge-peers', import.meta.url));

/**
 * A tool that forge has to live beside, from npm, without running its install scripts; its folder. Null where it cannot
 * be had: the test that needs it is skipped and says so.
 */
export function peer(name: string, version: string): string | null {
  const top = join(folder, `${name}-${version}`);
  const place = join(top, 'node_modules', name);
  if (existsSync(join(place, 'package.json'))) return place;
  mkdirSync(top, { recursive: true });
  const args = [
    'install',
    '--prefix',
    top,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `${name}@${version}`,
  ];
  const { status } = spawnSync('npm', args, { encoding: 'utf8', timeout: 120_000 });
  if (status === 0) return place;
  process.stderr.write(`${name} ${version} could not be installed; what needs it is skipped.\n`);
  return null;
}
