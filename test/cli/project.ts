import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { runForge } from '../support/forge.js';
import { makePlainProject, makeRepository, type Project } from '../support/project.js';

export const CONFIG = '.forge/config.toml';
export const FEATURES = '.forge/memory/long-term/features.json';
export const KNOWLEDGE = '.forge/memory/long-term/knowledge.json';
export const FOCUS = '.forge/memory/short-term/focus.json';
export const PROGRESS = '.forge/memory/short-term/progress.txt';
export const SESSION = '.forge/memory/short-term/session.json';
export const ISSUES = '.forge/linear/active.json';
export const SESSIONS = '.forge/memory/sessions';

async function initialised(project: Project): Promise<Project> {
  const { exitCode, stderr } = await runForge(project, ['init']);
  if (exitCode !== 0) throw new Error(stderr);
  return project;
}

/** A repository where `forge init` ran and its folder is committed. */
export async function makeForge(): Promise<Project> {
  const project = await initialised(makeRepository());
  project.git('add', '.');
  project.git('commit', '-q', '-m', 'Add forge');
  return project;
}

/** The same without git. */
export const makePlainForge = (): Promise<Project> => initialised(makePlainProject());

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
 * of when forge was last used, which every command may write.
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
    if (/(\.git|\.forge\/local)(\/forge)?(\/activity)?$/.test(path)) delete tree[path];
  delete tree[''];
  return tree;
}

/** Paths that differ between two snapshots. */
export function differences(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}
