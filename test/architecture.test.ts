import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/**
 * A folder of src/ imports only folders above it in this list, and so does a file that stands here by itself: it is
 * needed earlier than the rest of its folder, or needs more.
 */
const ORDER = [
  'core',
  'session/rules.ts',
  'feature/rules.ts',
  'feature/tasks.ts',
  'kfr/rules.ts',
  'git',
  'project',
  'feature/store.ts',
  'session/running.ts',
  'guard',
  'ledger',
  'guard/allow.ts',
  'guard/scan-tree.ts',
  'trust/approvals.ts',
  'events',
  'learning',
  'knowledge/rules.ts',
  'trust',
  'feature',
  'recall',
  'kfr',
  'note',
  'config',
  'skill',
  'session/focus.ts',
  'artifact',
  'linear',
  'import',
  'knowledge',
  'commit/message.ts',
  'session/store.ts',
  'session/commit.ts',
  'commit',
  'session/record.ts',
  'finding',
  'session/briefing.ts',
  'recall/documents.ts',
  'recall/recall.ts',
  'hooks',
  'checkpoint',
  'ledger/verify-memory.ts',
  'cycle',
  'recover',
  'session',
  'recover/undo.ts',
  'agent',
  'init',
  'doctor/rescue.ts',
  'status',
  'doctor',
  'ci',
  'library',
  'index.ts',
  'mcp',
  'ui',
  'cli',
  'main.ts',
];

/** The only files that import a package. */
const OWNERS: Record<string, readonly string[]> = {
  '@inquirer/prompts': ['cli/prompt.ts'],
  '@modelcontextprotocol/server': ['mcp'],
  '@modelcontextprotocol/server/stdio': ['mcp'],
  '@hono/node-server': ['ui/server.ts'],
  hono: ['ui/server.ts'],
  'hono/streaming': ['ui/server.ts'],
  '@nats-io/jetstream': ['events'],
  '@nats-io/kv': ['events'],
  '@nats-io/transport-node': ['events'],
  chalk: ['cli/style.ts'],
  commander: ['cli/program.ts'],
  execa: ['core/process.ts'],
  'fast-string-width': ['cli/style.ts'],
  'fast-wrap-ansi': ['cli/style.ts'],
  'jsonc-parser': ['core/json.ts', 'agent'],
  'murmurhash3js-revisited': ['artifact/artifact.ts'],
  picomatch: ['skill/rules.ts'],
  yaml: ['core/yaml.ts'],
  libsql: ['recall/search-index.ts'],
  re2js: ['core/pattern.ts'],
  stemmer: ['recall/terms.ts'],
  'simple-git': ['git/client.ts'],
  'smol-toml': ['core/toml.ts'],
};
/** Data in, data out. */
const FOR_ALL = ['zod/mini', 'node:buffer', 'node:crypto', 'node:path'];

interface Import {
  from: string;
  /** A file below src/, or a package. */
  to: string;
  isType: boolean;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(src, join(entry.parentPath, entry.name)))
    // It runs in a browser, and has types of its own.
    .filter((file) => !file.startsWith(join('ui', 'page')));

/** Without the text of programs that forge only writes: a plugin. */
const codeOf = (file: string): string =>
  readFileSync(join(src, file), 'utf8').replace(/String\.raw`[^`]*`/g, '');

const STATEMENT = /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'|\b(?:import|require)\('([^']+)'\)/gm;

const files = filesIn(src);
const imports: Import[] = files.flatMap((from) =>
  [...codeOf(from).matchAll(STATEMENT)].map((match) => {
    const target = match[2] ?? match[3] ?? '';
    const to = target.startsWith('.')
      ? relative(src, resolve(src, dirname(from), target)).replace(/\.js$/, '.ts')
      : target;
    return { from, to, isType: match[1] !== undefined };
  }),
);
const ours = imports.filter(({ to }) => to.endsWith('.ts'));

const isIn = (file: string, place: string): boolean => file === place || file.startsWith(`${place}/`);

/** Commands print what the library returns. */
const isCommand = (file: string): boolean => /\/(?:command|render)[^/]*\.ts$/.test(file);

/** Rules: no disk, no process, no git, and nothing that has them. Other subjects' rules may be imported anywhere. */
const impure = new Set(
  files.filter((file) => {
    const packages = imports.filter(({ from, to }) => from === file && !to.endsWith('.ts'));
    return (
      packages.some(({ to }) => to.startsWith('node:') && !FOR_ALL.includes(to)) ||
      /\bprocess\.(?!getBuiltinModule\('node:crypto'\))|\bimport\(/.test(codeOf(file))
    );
  }),
);
for (let before = -1; before !== impure.size; ) {
  before = impure.size;
  for (const { from, to, isType } of ours) if (!isType && impure.has(to)) impure.add(from);
}
const isRules = (file: string): boolean => !impure.has(file);

function placeOf(file: string): number {
  const own = ORDER.indexOf(file);
  return own >= 0 ? own : ORDER.findIndex((place) => isIn(file, place));
}

/** The first files found that import each other, from one back to itself; empty when there are none. */
function findCycle(): string[] {
  const done = new Set<string>();
  const search = (file: string, way: readonly string[]): string[] => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { to } of ours.filter(({ from }) => from === file)) {
      const cycle = search(to, [...way, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  return files.map((file) => search(file, [])).find((cycle) => cycle.length > 0) ?? [];
}

describe('the folders of src/', () => {
  it('import only folders before them', () => {
    const wrong = ours
      .filter(({ from, to }) => from.split('/')[0] !== to.split('/')[0] && !isCommand(from))
      .filter(({ from, to }) => placeOf(to) > placeOf(from) && !(isRules(from) && isRules(to)))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(wrong).toEqual([]);
    expect(files.filter((file) => placeOf(file) < 0)).toEqual([]);
    expect(ours.length).toBeGreaterThan(100);
  });

  it('have no cycles of files', () => {
    expect(findCycle()).toEqual([]);
  });

  it('give every package one place', () => {
    const packages = imports.filter(({ to }) => !to.endsWith('.ts') && !to.startsWith('node:'));
    const wrong = packages.filter(
      ({ from, to }) => !FOR_ALL.includes(to) && !OWNERS[to]?.some((place) => isIn(from, place)),
    );
    expect(wrong).toEqual([]);
    expect(new Set(packages.map(({ to }) => to))).toEqual(new Set([...Object.keys(OWNERS), 'zod/mini']));
  });

  it('leave starting programs to core, git and the entry points', () => {
    const starters = files.filter((file) => /node:child_process/.test(codeOf(file)));
    expect(starters.filter((file) => !isIn(file, 'core') && !isIn(file, 'git'))).toEqual([]);
    const lookers = files.filter((file) => /\bprocess\.(?:kill|pid|ppid|cwd|argv)\b/.test(codeOf(file)));
    expect(lookers.filter((file) => !/^(?:core|git|cli)\/|^main\.ts$/.test(file))).toEqual([]);
  });

  it('let only main.ts print and exit', () => {
    const found = files.filter((file) =>
      /console\.\w+\(|process\.(?:exit|stdout|exitCode)/.test(readFileSync(join(src, file), 'utf8')),
    );
    expect(found).toEqual(['main.ts']);
  });

  it('AGT-02 hand forge to the MCP server as a value', () => {
    const code = ours.filter(({ from, to, isType }) => !isType && isIn(from, 'mcp') && !isIn(to, 'mcp'));
    const services = code.filter(({ from, to }) => !isCommand(from) && !isRules(to));
    expect(services).toEqual([]);
  });

  it('GIT-01 judge a commit message without zod', () => {
    const needed = new Set(['commit/rules.ts', 'commit/protocol.ts']);
    for (const file of needed)
      for (const { to } of imports.filter(({ from, isType }) => from === file && !isType)) needed.add(to);
    expect(needed).toContain('commit/message.ts');
    expect([...needed].filter((to) => to.startsWith('zod'))).toEqual([]);
  });
});
