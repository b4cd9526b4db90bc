import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Integrity, Problem, RecordedCycle } from '../../src/index.js';
import { recordId, type Tier } from '../../src/ledger/record.js';
import { forgeFound, forgeJson, type RunOptions, runForge } from './forge.js';
import { makeForge } from './forge-project.js';
import type { Project } from './project.js';

export const HALT = '.git/forge/halt.json';
export const JOURNAL = '.git/forge/journal/main.jsonl';
/** A person at a terminal. */
export const HUMAN: RunOptions = { terminal: true };

export const LEDGER = '.forge/memory/ledger';

/** The files of the ledger but the first record's, as paths from the root, oldest first. */
export const containersOf = (project: Pick<Project, 'path'>): string[] =>
  readdirSync(project.path(LEDGER))
    .filter((name) => name.endsWith('.jsonl') && !name.startsWith('init-'))
    .map((name) => `${LEDGER}/${name}`)
    .sort((a, b) => statSync(project.path(a)).mtimeMs - statSync(project.path(b)).mtimeMs);

/** The one file beside the first record's. */
export function containerOf(project: Pick<Project, 'path'>): string {
  const [first, ...more] = containersOf(project);
  if (first === undefined || more.length > 0) throw new Error(`${more.length} files too many`);
  return first;
}

export type Verified = Integrity & { exitCode: number | null; duration_ms: number };

export async function verify(project: Project, ...args: string[]): Promise<Verified> {
  const found = await forgeFound<Verified>(project, ['memory', 'verify', ...args]);
  expect(found.problems.flatMap(lacking)).toEqual([]);
  return found;
}

/** Every field that a finding has, for people and for machines. */
const FINDING_FIELDS = ['code', 'file', 'line', 'offset', 'message', 'last_good', 'hint', 'ids'];

const lacking = (finding: Problem): string[] => FINDING_FIELDS.filter((field) => !(field in finding));

export type Recorded = RecordedCycle;

export const record = (project: Project, ...flags: string[]): Promise<Recorded> =>
  forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0', ...flags]);

export interface Logged {
  id: string;
  tier: Tier;
  n: number;
  kind: string;
  record: Record<string, unknown>;
}

export async function logOf(project: Project, tier: Tier): Promise<Logged[]> {
  const args = ['memory', 'log', '--tier', tier, '--limit', '10000'];
  return (await forgeJson<{ records: Logged[] }>(project, args)).records;
}

export const linesOf = (project: Project, file: string): string[] =>
  project.read(file).split('\n').slice(0, -1);

export const putLines = (project: Project, file: string, lines: readonly string[]): void =>
  writeFileSync(project.path(file), lines.map((line) => `${line}\n`).join(''));

/** Lines with fresh links, as a program writes them that knows the format. */
export function relink(
  lines: readonly string[],
  change: (record: Record<string, unknown>) => void,
): string[] {
  const indent = /^ */.exec(lines[0] ?? '')?.[0] ?? '';
  let prev: string | null = null;
  return lines.map((line) => {
    const body = JSON.parse(line) as Record<string, unknown>;
    change(body);
    const text: string = JSON.stringify({ ...body, prev });
    prev = recordId(text);
    return indent + text;
  });
}

/** The same file with one byte changed. */
export function flipByte(project: Project, file: string, at: number): void {
  const bytes = readFileSync(project.path(file));
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(project.path(file), bytes);
}

/** Types a hint as it stands: a shell runs what is no forge command, and `…` is what a person would write. */
export async function typeHint(project: Project, hint: string): Promise<void> {
  const steps = hint
    .replaceAll(/ {2,}#.*/g, '')
    .split(/ {2}or, if [^:]*: /)[0]
    ?.split(/\n|(?:,| {2}) ?then: | {2}\([^)]*\)(?:, then: )?/)
    .map((step) => step.trim())
    .filter(Boolean) as string[];
  for (const step of steps) {
    if (!step.startsWith('forge ')) {
      execFileSync('sh', ['-c', step], { cwd: project.dir, stdio: 'pipe' });
      continue;
    }
    const words = [...step.replaceAll('…', 'because').matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, word]) => quoted ?? word ?? '',
    );
    const { exitCode, stderr } = await runForge(project, words.slice(1), HUMAN);
    if (exitCode !== 0) throw new Error(`${step}: exit ${exitCode}: ${stderr}`);
  }
}

/** So many cycles at once. */
export async function recordMany(project: Project, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ task_id: `T${i + 1}`, exit_code: 0, idempotency_key: `key-${i + 1}` }),
  );
  await forgeJson(project, ['memory', 'record', '-'], { stdin: lines.join('\n') });
}

export { commitAll as commit } from './project.js';

/** The shortest call that records a cycle. */
export const BASE = ['memory', 'record', '--task', 'A', '--exit-code', '0'];
export const cyclesOf = async (
  project: Project,
  tier: 'execution' | 'evaluation' = 'execution',
): Promise<Logged[]> => (await logOf(project, tier)).filter(({ kind }) => kind === 'cycle');

/** A repository whose ledger has a file of three cycles without evaluations. */
export async function withCycles(
  make = makeForge,
): Promise<{ project: Project; file: string; lines: string[] }> {
  const project = await make();
  for (let i = 0; i < 3; i++) await record(project);
  const file = containerOf(project);
  return { project, file, lines: linesOf(project, file) };
}
