import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readText } from '../core/files.js';
import { readToml } from '../core/toml.js';
import { textsIn } from '../ledger/record.js';

/** The packages of an npm, cargo, go or python workspace, by name. Empty when there is none. */
export function workspacePackages(root: string): string[] {
  const members = [...npmMembers(root), ...cargoMembers(root), ...goMembers(root), ...pythonMembers(root)];
  return [...new Set(members)].sort();
}

/** Null for a file that is missing, empty or damaged. */
function readParsed(parse: (text: string) => unknown, ...path: string[]): unknown {
  const text = readText(join(...path));
  try {
    return text === '' ? null : parse(text);
  } catch {
    return null;
  }
}

const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null | undefined)?.[key], value);

/** Folders that a pattern such as `packages/*` names. */
function expand(root: string, pattern: string): string[] {
  const clean = pattern.replace(/^\.\//, '').replace(/\/+$/, '');
  if (clean.includes('..')) return [];
  if (!clean.includes('*')) return [clean];
  const base = clean.slice(0, clean.indexOf('*')).replace(/\/$/, '');
  try {
    return readdirSync(join(root, base), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .map((entry) => (base === '' ? entry.name : `${base}/${entry.name}`));
  } catch {
    return [];
  }
}

/** The names that the manifests in these folders have at `path`, else the folders' names. */
const namesIn = (
  root: string,
  patterns: readonly string[],
  file: string,
  parse: (text: string) => unknown,
  ...path: string[]
): string[] =>
  patterns
    .flatMap((pattern) => expand(root, pattern))
    .flatMap((folder) => {
      const member = readParsed(parse, root, folder, file);
      return member ? [String(at(member, ...path) ?? basename(folder))] : [];
    });

function npmMembers(root: string): string[] {
  const manifest = readParsed(JSON.parse, root, 'package.json');
  const workspaces = at(manifest, 'workspaces');
  const pnpm = readText(join(root, 'pnpm-workspace.yaml')).matchAll(/^\s*-\s*['"]?([^'"#\n]+?)['"]?\s*$/gm);
  const patterns = [
    ...textsIn(workspaces),
    ...textsIn(at(workspaces, 'packages')),
    ...[...pnpm].map(([, pattern = '']) => pattern),
  ].filter((pattern) => !pattern.startsWith('!'));
  return namesIn(root, patterns, 'package.json', JSON.parse, 'name');
}

function cargoMembers(root: string): string[] {
  const manifest = readParsed(readToml, root, 'Cargo.toml');
  const members = textsIn(at(manifest, 'workspace', 'members'));
  const own = at(manifest, 'package', 'name');
  const names = namesIn(root, members, 'Cargo.toml', readToml, 'package', 'name');
  return typeof own === 'string' ? [own, ...names] : names;
}

function goMembers(root: string): string[] {
  const work = readText(join(root, 'go.work'));
  const block = /\buse\s*\(([^)]*)\)/.exec(work)?.[1]?.split('\n') ?? [];
  const single = [...work.matchAll(/^\s*use\s+([^\s(]+)/gm)].map(([, path = '']) => path);
  const paths = [...block, ...single].map((line) => line.replace(/\/\/.*/, '').trim());
  return paths.map((path) => path.replace(/^\.\//, '')).filter(Boolean);
}

function pythonMembers(root: string): string[] {
  const project = readParsed(readToml, root, 'pyproject.toml');
  const members = textsIn(at(project, 'tool', 'uv', 'workspace', 'members'));
  return namesIn(root, members, 'pyproject.toml', readToml, 'project', 'name');
}
