import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn, streamGit } from '../../src/git/client.js';
import {
  changedMemory,
  findRecords,
  type HistoryOutcome,
  type RemovedLine,
  readRemovedLines,
} from '../../src/git/memory.js';
import { findRepository, type Repository } from '../../src/git/repository.js';
import { makeFolder, makeRepository, type Project, projectAt } from './project.js';

export const FOLDER = '.forge/memory';
export const FIXED = `${FOLDER}/execution.jsonl`;
export const segment = (name: string): string => `${FOLDER}/execution.d/${name}.jsonl`;
export const line = (word: string | number): string => `{"v":1,"word":"${word}"}`;
export const lines = (...words: (string | number)[]): string =>
  words.map((word) => `${line(word)}\n`).join('');
export const idOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

export const gitOf = ({ dir }: Project) => gitIn(dir, process.env);
export const streamOf = ({ dir }: Project) => streamGit(dir, process.env);
export const repositoryOf = ({ dir }: Project): Repository => findRepository(dir) as Repository;

/** A repository in which git knows memory files; .gitattributes as forge writes them. */
export function makeMemory(files: Record<string, string | Buffer> = { [FIXED]: lines(1, 2) }): Project {
  const project = makeRepository();
  project.write('.gitattributes', '*.jsonl -text -filter merge=union\n');
  save(project, files);
  return project;
}

export function save(
  project: Project,
  files: Record<string, string | Buffer | null>,
  message = 'Change',
): string {
  for (const [path, content] of Object.entries(files))
    if (content === null) rmSync(project.path(path));
    else project.write(path, content);
  project.git('add', '-A');
  project.git('commit', '-q', '--allow-empty', '-m', message);
  return project.git('rev-parse', 'HEAD');
}

export interface Dropped extends HistoryOutcome {
  lines: RemovedLine[];
  texts: string[];
  anchors: [commit: string, value: string][];
}

export async function dropped(
  project: Project,
  change: { from?: string | null; to?: string; folder?: string; skipReadded?: boolean } = {},
): Promise<Dropped> {
  const removed: RemovedLine[] = [];
  const anchors: [string, string][] = [];
  const query = { repository: repositoryOf(project), folder: FOLDER, from: null, to: 'HEAD', ...change };
  const outcome = await readRemovedLines(
    streamOf(project),
    query,
    (gone) => removed.push({ ...gone, bytes: Buffer.from(gone.bytes) }),
    (commit, value) => anchors.push([commit, value]),
  );
  return { ...outcome, lines: removed, texts: removed.map(({ bytes }) => bytes.toString()), anchors };
}

export const changed = (project: Project, folder = FOLDER) =>
  changedMemory(gitOf(project), { repository: repositoryOf(project), folder });

export const find = (
  project: Project,
  where: 'refs' | 'everywhere',
  words: string[],
  skip = new Set<string>(),
) =>
  findRecords(gitOf(project), streamOf(project), {
    folder: FOLDER,
    wanted: new Set(words.map((word) => idOf(line(word)))),
    where,
    skip,
  });

/** A partial clone: all commits and trees, and the blobs of what is checked out. */
export function partialClone(origin: Project): Project {
  origin.git('config', 'uploadpack.allowFilter', 'true');
  const clone = projectAt(join(makeFolder(), 'clone'));
  origin.git('clone', '-q', '--filter=blob:none', `file://${origin.dir}`, clone.dir);
  return clone;
}
