import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CrashDisk, type State } from '../support/crash-states.js';
import { hasStrace, traceCalls } from '../support/faults.js';
import { forgeJson, runForge } from '../support/forge.js';
import { kills, report } from '../support/kills.js';
import { commit, LEDGER } from '../support/memory.js';
import { countKeys, foundRecords, recordArgs } from '../support/memory-truth.js';
import type { Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

type Files = Map<string, Buffer>;

/** What forge keeps, byte for byte. */
function snapshot(project: Project): Files {
  const files: Files = new Map();
  for (const top of ['.forge', '.git/forge'])
    for (const name of readdirSync(project.path(top), { recursive: true, encoding: 'utf8' })) {
      const path = project.path(top, name);
      if (statSync(path).isFile()) files.set(path, readFileSync(path));
    }
  return files;
}

/** The files as they were, and over them what the power left. */
function restore(project: Project, files: Files, state: State): void {
  for (const path of snapshot(project).keys()) rmSync(path);
  const all: [string, Buffer | null][] = [...files, ...state];
  for (const [path, bytes] of new Map(all)) {
    if (bytes === null) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

interface Scene {
  project: Project;
  acknowledged: string[];
  args: string[];
  /** What the command stores; null when it stores nothing new. */
  key: string | null;
}

interface Crash extends Scene {
  /** Every record there is when the command has ended. */
  known: ReadonlySet<string>;
  /** The command has said that it is done. */
  done: boolean;
}

/** What a half-written block may look like. */
const TORN = ['unreadable', 'edited'];

/** No state loses what was acknowledged, takes half a record for one, or has no way out. */
async function expectSound(crash: Crash, what: unknown): Promise<string> {
  const { project, acknowledged, known, done, key } = crash;
  const keys = [...acknowledged, ...(done && key !== null ? [key] : [])];
  const unknown = foundRecords(project).filter(({ id }) => !known.has(id));
  expect(unknown, `${what}: half a record was taken for one`).toEqual([]);
  const lost = keys.filter((wanted) => !countKeys(project, 'execution').has(wanted));
  expect(lost, `${what}: lost`).toEqual([]);

  const answer = await runForge(project, ['memory', 'verify', '--json']);
  expect(answer.stdout, `${what}: ${answer.stderr}`).not.toBe('');
  const { status, problems } = JSON.parse(answer.stdout) as { status: string; problems: { code: string }[] };
  expect(
    problems.filter(({ code }) => !TORN.includes(code)),
    `${what}`,
  ).toEqual([]);
  if (status !== 'intact')
    await forgeJson(project, ['memory', 'repair', '--reason', 'power'], { terminal: true });

  const again = await runForge(project, recordArgs(key ?? 'another'));
  expect(again, `${what}`).toMatchObject({ exitCode: 0 });
  for (const tier of ['execution', 'evaluation'])
    for (const wanted of [...keys, key ?? 'another'])
      expect([tier, wanted, countKeys(project, tier).get(wanted), what]).toEqual([tier, wanted, 1, what]);
  const after = await forgeJson<{ status: string }>(project, ['memory', 'verify']);
  expect(after.status).toBe('intact');
  return status === 'intact' ? 'intact' : problems.map(({ code }) => code).join();
}

/** Records the command's calls, builds each state that a crash after each call may leave, and looks at it. */
async function replay(scene: Scene): Promise<{ states: number; found: Record<string, number> }> {
  const { project, args } = scene;
  const files = snapshot(project);
  const calls = traceCalls(project, args, { strings: 1_000_000, hex: true });
  const known = new Set(foundRecords(project).map(({ id }) => id));
  const disk = new CrashDisk((path) => files.get(path) ?? null);
  const crashes: [State, Omit<Crash, keyof Scene>, string][] = [];
  const seen = new Set<string>();
  for (const [i, call] of calls.entries()) {
    disk.apply(call);
    for (const state of disk.states()) {
      const print = JSON.stringify([...state].map(([path, bytes]) => [path, bytes?.toString('latin1')]));
      const done = i === calls.length - 1;
      if (seen.has(`${done}${print}`)) continue;
      seen.add(`${done}${print}`);
      crashes.push([state, { known, done }, `after call ${i} of ${calls.length} (${call.name})`]);
    }
  }
  const step = Math.max(1, Math.floor(crashes.length / kills(22, crashes.length)));
  const found: Record<string, number> = {};
  const chosen = crashes.filter((_, i) => i % step === 0 || i === crashes.length - 1);
  for (const [state, crash, what] of chosen) {
    restore(project, files, state);
    const result = await expectSound({ ...scene, ...crash }, what);
    found[result] = (found[result] ?? 0) + 1;
  }
  report(
    `${args.join(' ').slice(0, 40)}: ${chosen.length} states after a power failure, ${JSON.stringify(found)}`,
  );
  return { states: chosen.length, found };
}

/** Records in a commit, and in an open file. */
function begun(): Project {
  const project = makeForgeRepository();
  typed(project, recordArgs('first'));
  commit(project);
  typed(project, recordArgs('second'));
  return project;
}

const acknowledged = ['first', 'second'];

describe.skipIf(!hasStrace)('when the power fails', () => {
  it.each([
    ['is appended to an open file', () => {}],
    ['begins a new file', commit],
  ])('LTM-16 LTM-03 B-33 while a record %s', async (_name, prepare) => {
    const project = begun();
    prepare(project);
    const { states, found } = await replay({ project, acknowledged, args: recordArgs('new'), key: 'new' });
    expect(states).toBeGreaterThan(15);
    expect(found.intact).toBeGreaterThan(states / 2);
  });

  it('LTM-16 a new folder is durable before its record counts', () => {
    const project = makeForgeRepository();
    typed(project, ['memory', 'verify']);
    rmSync(project.path(LEDGER), { recursive: true });
    const calls = traceCalls(project, recordArgs('new'));
    const made = calls.findIndex(({ line }) => /^mkdir.*memory\/ledger".* = 0$/.test(line));
    const synced = calls.findIndex(({ line }) => /^fsync.*\/\.forge\/memory>/.test(line));
    const stored = calls.findIndex(({ line }) => /^write.*memory\/ledger/.test(line));
    expect(made).toBeGreaterThan(0);
    expect(synced).toBeGreaterThan(made);
    expect(stored).toBeGreaterThan(synced);
  });
});
