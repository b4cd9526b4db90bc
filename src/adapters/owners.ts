import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configHome } from './environment.js';

/** Where a person says whose code is theirs: one owner a line. Never read from a repository. */
const ownersFile = (env: Record<string, string | undefined>): string => join(configHome(env), 'owners');

/** Owners whose copyright lines are no foreign ones. None where there is no such file. */
export function readOwners(env: Record<string, string | undefined>): string[] {
  try {
    const lines = readFileSync(ownersFile(env), 'utf8')
      .slice(0, 64 * 1024)
      .split(/\r?\n/);
    return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  } catch {
    return [];
  }
}
