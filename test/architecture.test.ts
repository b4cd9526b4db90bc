import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

interface Import {
  from: string;
  /** A file of ours from src/, or a package. */
  to: string;
  typeOnly: boolean;
}

const files = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : path.endsWith('.ts') ? [path] : [];
  });

/** Without the text of programs that forge only writes: a plugin. */
const codeOf = (file: string): string => readFileSync(file, 'utf8').replace(/String\.raw`[^`]*`/g, '');

const STATEMENT = /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

const imports: Import[] = files(src).flatMap((file) =>
  [...codeOf(file).matchAll(STATEMENT)].map((match) => {
    const target = match[2] ?? match[3] ?? '';
    const to = target.startsWith('.')
      ? relative(src, resolve(dirname(file), target)).replace(/\.js$/, '.ts')
      : target;
    return { from: relative(src, file), to, typeOnly: match[1] !== undefined };
  }),
);

const layer = (path: string): string => path.split('/')[0] ?? '';

/** Who may import whom; types of the surroundings (World) and of the CLI's own files apart. */
const ALLOWED: Record<string, readonly string[]> = {
  domain: ['domain'],
  store: ['store', 'domain'],
  adapters: ['adapters', 'domain'],
  routines: ['routines', 'store', 'adapters', 'domain'],
  library: ['library', 'routines', 'adapters', 'domain'],
  'index.ts': ['library'],
  // A bundle of its own, which has none of the code behind the library: see the test below.
  mcp: ['mcp', 'index.ts', 'domain'],
  cli: ['cli', 'index.ts', 'domain', 'mcp'],
};

/** The first files found that need each other: from one back to itself; empty when there are none. */
function findCircle(): string[] {
  const needs = new Map<string, string[]>();
  for (const { from, to } of imports) needs.set(from, [...(needs.get(from) ?? []), to]);
  const done = new Set<string>();
  const search = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of needs.get(file) ?? []) {
      const circle = search(next, [...way, file]);
      if (circle.length > 0) return circle;
    }
    done.add(file);
    return [];
  };
  for (const file of needs.keys()) {
    const circle = search(file, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

/** A file, or a folder with all that is in it. */
const OWNERS: Record<string, string> = {
  '@modelcontextprotocol/server': 'mcp/',
  '@modelcontextprotocol/server/stdio': 'mcp/',
  commander: 'cli/program.ts',
  chalk: 'cli/style.ts',
  '@inquirer/prompts': 'cli/prompt.ts',
  'smol-toml': 'domain/toml.ts',
  'jsonc-parser': 'domain/agent/',
};

describe('the layers', () => {
  it('let imports run one way only', () => {
    const ours = imports.filter(({ to }) => to.endsWith('.ts'));
    const wrong = ours.filter(({ from, to }) => !ALLOWED[layer(from)]?.includes(layer(to)));
    expect(wrong).toEqual([]);
    expect(ours.length).toBeGreaterThan(100);
  });

  it('keep the domain pure: zod, smol-toml, jsonc-parser and node:crypto only', () => {
    const packages = imports.filter(({ from, to }) => layer(from) === 'domain' && !to.endsWith('.ts'));
    expect([...new Set(packages.map(({ to }) => to))].sort()).toEqual([
      'jsonc-parser',
      'node:crypto',
      'smol-toml',
      'zod/mini',
    ]);
  });

  it('GIT-01 let a hook check a message at once: without zod, and with little of the domain', () => {
    const code = imports.filter(({ from, typeOnly }) => from.startsWith('domain/commit/') && !typeOnly);
    const outwards = code.filter(({ to }) => !to.startsWith('domain/commit/'));
    expect([...new Set(outwards.map(({ to }) => to))]).toEqual(['domain/text.ts']);
  });

  it('have no circles: no file needs, by whatever way, one that needs it', () => {
    expect(findCircle()).toEqual([]);
  });

  it('give each outside library one owner', () => {
    const owns = (owner: string, from: string): boolean =>
      owner.endsWith('/') ? from.startsWith(owner) : owner === from;
    const wrong = imports.filter(({ from, to }) => OWNERS[to] !== undefined && !owns(OWNERS[to], from));
    expect(wrong).toEqual([]);
  });

  it('AGT-02 keep the MCP server apart: forge comes to it as a value, and one file of the command line loads it', () => {
    const code = imports.filter(({ typeOnly }) => !typeOnly);
    const outwards = code.filter(
      ({ from, to }) => layer(from) === 'mcp' && to.endsWith('.ts') && layer(to) !== 'mcp',
    );
    expect([...new Set(outwards.map(({ to }) => to))].sort()).toEqual(['domain/text.ts', 'domain/token.ts']);
    const inwards = code.filter(({ from, to }) => layer(from) !== 'mcp' && layer(to) === 'mcp');
    expect(inwards).toEqual([{ from: 'cli/mcp-server.ts', to: 'mcp/server.ts', typeOnly: false }]);
  });

  it('leave the disk to the store and the adapters', () => {
    const users = imports.filter(({ to }) => to === 'node:fs').map(({ from }) => layer(from));
    expect([...new Set(users)].sort()).toEqual(['adapters', 'cli', 'store']);
  });

  it('let only the adapters start programs and look at processes', () => {
    const outside = files(src).filter((file) => !/\/(adapters|cli)\//.test(file));
    const found = outside.filter((file) =>
      /node:child_process|process\.(kill|pid|ppid|platform|cwd|argv)/.test(codeOf(file)),
    );
    expect(found.map((file) => relative(src, file))).toEqual([]);
  });

  it('let only cli/bin.ts print and exit', () => {
    const found = files(src).filter((file) =>
      /console\.\w+\(|process\.(exit|stdout|exitCode)/.test(readFileSync(file, 'utf8')),
    );
    expect(found.map((file) => relative(src, file))).toEqual(['cli/bin.ts']);
  });
});
