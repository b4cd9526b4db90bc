import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TrustReport } from '../../src/index.js';
import { atTerminal } from './e2e-terminal.js';
import { commitAll, makeFolder, type Project, projectAt } from './project.js';
import { makeForgeRepository, typed, typedJson } from './typed.js';

export type Report = TrustReport;

export interface Verified {
  results: { id: string; status: string }[];
}

export const CHECK = '#!/bin/sh\necho ran >>"$HOME/ran.$(basename "$PWD")"\n';

/** What came from elsewhere: a clone of a repository with a script, a feature that runs it, and an init.sh. */
export function makeClone(
  check = CHECK,
  name = 'check.sh',
): { origin: Project; clone: Project; ran(): number } {
  const origin = makeForgeRepository();
  origin.write(`.forge/${name}`, check);
  typed(origin, ['feature', 'add', '--no-run', 'F-1', 'Checked', '--test', `sh ".forge/${name}"`]);
  commitAll(origin, 'Work');
  const clone = cloneOf(origin);
  const marks = join(process.env.HOME ?? '', 'ran.clone');
  rmSync(marks, { force: true });
  return {
    origin,
    clone,
    ran: () => (existsSync(marks) ? readFileSync(marks, 'utf8').trim().split('\n').length : 0),
  };
}

export function cloneOf(origin: Project): Project {
  const clone = projectAt(join(makeFolder(), 'clone'));
  origin.git('clone', '-q', origin.dir, clone.dir);
  return clone;
}

/** The repository changes, and the clone pulls. */
export function pull(origin: Project, clone: Project, path: string, content: string): void {
  origin.write(path, content);
  origin.git('add', '-f', path);
  origin.git('commit', '-qm', 'Change');
  clone.git('pull', '-q', '--ff-only');
}

export const verify = ['feature', 'verify', 'F-1'];
export const show = (place: Project): Report => typedJson<Report>(place, ['trust', '--show']);
export const approve = (place: Project) => atTerminal(place, ['trust'], [['on this machine?', 'y\r']]);
export const stateOf = (place: Project, name: string): string | undefined =>
  show(place).items.find((item) => item.name === name)?.state;
