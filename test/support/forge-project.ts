import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { forgeJson, type RunOptions } from './forge.js';
import {
  commitAll,
  copyFolder,
  keepFolder,
  makeFolder,
  makePlainProject,
  makeRepository,
  type Project,
  projectAt,
} from './project.js';

export const CONFIG = '.forge/config.toml';
export const FEATURES = '.forge/memory/long-term/features.json';
export const KNOWLEDGE = '.forge/memory/long-term/knowledge.json';
export const FOCUS = '.forge/memory/short-term/focus.json';
export const PROGRESS = '.forge/memory/short-term/progress.txt';
export const SESSION = '.forge/memory/short-term/session.json';
export const ISSUES = '.forge/linear/active.json';
export const SESSIONS = '.forge/memory/sessions';

/** The project that `make` makes, made once per worker and then copied. */
export function prepared(make: () => Promise<Project>): () => Promise<Project> {
  let kept: Promise<string> | undefined;
  return async () => {
    kept ??= make().then(keepFolder);
    const project = projectAt(makeFolder());
    copyFolder(await kept, project.dir);
    // Approvals belong to a place: as after an `init` right here.
    await forgeJson(project, ['trust', '--yes'], { terminal: true });
    return project;
  };
}

/** A repository where `forge init` ran and its folder is committed. */
export const makeForge = prepared(async () => {
  const project = makeRepository();
  await forgeJson(project, ['init']);
  commitAll(project, 'Add forge');
  return project;
});

const makeFirstStarted = prepared(async () => {
  const project = await makeForge();
  await forgeJson(project, ['session', 'start']);
  return project;
});

/** The same, where a session runs. */
export async function makeStarted(options?: RunOptions): Promise<Project> {
  if (options === undefined) return makeFirstStarted();
  const project = await makeForge();
  await forgeJson(project, ['session', 'start'], options);
  return project;
}

/** A folder without git where `forge init` ran. */
export async function makePlainForge(): Promise<Project> {
  const project = makePlainProject();
  await forgeJson(project, ['init']);
  return project;
}

function describe(path: string): string {
  const stat = lstatSync(path);
  const mode = (stat.mode & 0o777).toString(8);
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (stat.isDirectory()) return `folder ${mode}`;
  if (!stat.isFile()) return `special ${mode}`;
  return `file ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}

/**
 * Everything below a folder, git dir included, by path: kind, mode, content. Left out is `forge/activity`, the note
 * of when forge was last used, which every command may write, and what `forge status` remembers for
 * the next look, `forge/status.json` and `forge/prompt.json`.
 */
export function snapshot(folder: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const walk = (path: string): void => {
    tree[relative(folder, path)] = describe(path);
    if (!lstatSync(path).isDirectory()) return;
    for (const name of readdirSync(path).sort()) walk(join(path, name));
  };
  walk(folder);
  for (const path of Object.keys(tree))
    if (/(\.git|\.forge\/local)(\/forge)?(\/(activity|cache(\/.*)?))?$/.test(path)) delete tree[path];
  delete tree[''];
  return tree;
}

/** Paths that differ between two snapshots. */
export function differences(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

export interface StoredFeature {
  id: string;
  [field: string]: unknown;
}

/** Where the file of a feature is. */
export const featureFile = (id: string): string => `.forge/memory/long-term/features.d/${id}.json`;

/** A feature as it stands in its file; fields that are null are left out. */
export function storedFeature(project: Project, id: string): StoredFeature | undefined {
  if (!project.has(featureFile(id))) return undefined;
  const { schema_version: _, ...fields } = project.json<StoredFeature>(featureFile(id));
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as StoredFeature;
}

export const PASSING_FEATURE = {
  id: 'A',
  name: 'a',
  status: 'passing',
  tests: ['true'],
  verified_at: '2026-01-01T00:00:00.000Z',
  verified_commit: 'abc',
  verified_by: ['true'],
};

/** Writes the features' files by hand, and nothing else stays there. */
export function putFeatures(project: Project, features: object[], rest: object = {}): void {
  const folder = '.forge/memory/long-term/features.d';
  rmSync(project.path(folder), { recursive: true, force: true });
  rmSync(project.path(FEATURES), { force: true });
  for (const feature of features as StoredFeature[])
    project.write(
      featureFile(feature.id),
      `${JSON.stringify({ schema_version: '1.0', ...rest, ...feature }, null, 2)}\n`,
    );
}
