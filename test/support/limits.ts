import { errorIn, type FailedForge, forgeJson } from './forge.js';
import { containersOf } from './memory.js';
import { expectIntact, expectKept, recordArgs } from './memory-truth.js';
import type { Ended, Project } from './project.js';
import { makeForgeRepository, typed } from './typed.js';

/** A repository with one record, whose file is open. */
export function begun(): Project {
  const project = makeForgeRepository();
  typed(project, recordArgs('first'));
  return project;
}

export const record = (key: string): string[] => recordArgs(key, '--json', '--quiet');
/** The bytes of each ledger file but the first record's. */
export const contents = (project: Project): string[] =>
  containersOf(project).map((path) => project.read(path));

/** The error that the binary ended with. Node may have written lines before it. */
export const errorOf = ({ stderr, ...ended }: Ended): FailedForge =>
  errorIn({ ...ended, stderr: stderr.trimEnd().split('\n').at(-1) ?? '' });

/** The disk works again: the record that failed comes in, and another one. */
export async function expectWorksAgain(project: Project, keys: readonly string[]): Promise<void> {
  await forgeJson(project, recordArgs('afterwards'));
  await expectIntact(project);
  expectKept(project, ['first', 'afterwards', ...keys]);
}
