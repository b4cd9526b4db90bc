import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { startBinary } from './forge.js';
import { SESSIONS } from './forge-project.js';
import { HANG, type Project } from './project.js';

const share = Number(process.env.FORGE_SOAK ?? 0);

/** The long run: FORGE_SOAK=1 is all of it, 0.1 a tenth. */
export const isSoak = share > 0;
/** Enough of it that what takes minutes is worth them. */
export const isFar = share >= 0.1;

/** How often: a few in every run, many in the long one. */
export const kills = (quick: number, soak: number): number =>
  isSoak ? Math.max(quick, Math.ceil(soak * share)) : quick;

/** So many of them, evenly spread. */
export function sample<T>(all: readonly T[], quick: number, offset = 0): T[] {
  const step = Math.max(1, Math.floor(all.length / kills(quick, all.length)));
  return all.filter((_, i) => i % step === offset % step);
}

/** A zombie is not: nobody may be there to collect it. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** That the processes whose numbers a script wrote into these files are gone, or soon will be: a signal takes its moment. */
export async function expectEnded(project: Project, ...files: string[]): Promise<void> {
  for (const file of files) {
    const pid = Number(project.read(file));
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  }
}

/** The most memory a process has used, MiB; 0 when it is gone. */
export function peakMemory(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Figures of the long run. */
export function report(what: string): void {
  if (isSoak) process.stderr.write(`soak: ${what}\n`);
}

/** Starts the binary and ends it by SIGKILL after so many milliseconds; true when it was still at work. */
export function killAfter(project: Project, args: readonly string[], ms: number): Promise<boolean> {
  const child = startBinary(project.dir, args);
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  return new Promise((done) =>
    child.on('close', (_code, signal) => {
      clearTimeout(timer);
      done(signal === 'SIGKILL');
    }),
  );
}

/** How long the command takes here and now, ms. */
export async function measure(project: Project, args: readonly string[]): Promise<number> {
  const begin = performance.now();
  expect(await killAfter(project, args, HANG)).toBe(false);
  return performance.now() - begin;
}

const SHORT_TERM = '.forge/memory/short-term';

/** All progress there is: the live one, then the archived ones by folder. */
export function allProgress(project: Project): string[] {
  const archives = readdirSync(project.path(SESSIONS)).filter((name) => !name.startsWith('.'));
  return [project.read(`${SHORT_TERM}/progress.txt`), ...archives.map((file) => progressOf(project, file))];
}

/** Every line that was acknowledged is there, once. */
export function expectEachOnce(project: Project, lines: readonly string[]): void {
  const found = allProgress(project)
    .flatMap((text) => text.split('\n'))
    .map((line) => line.replace(/^\[\d\d:\d\d\] /, ''));
  const counts = lines.map((line) => [line, found.filter((candidate) => candidate === line).length]);
  expect(counts.filter(([, count]) => count !== 1)).toEqual([]);
}

/** The log in an archive. */
const progressOf = (project: Project, file: string): string =>
  project.json<{ progress: string[] }>(`${SESSIONS}/${file}`).progress.join('\n');

/**
 * Every archive is whole; nothing that was being written lies about, but what its next writer removes, as of a cache, and
 * drafts of kept copies, which forge does not read.
 */
export function expectWhole(
  project: Project,
  laterRemoved = /^(\.(?:anchors|append|written)\.json\.|cache\/|kept\/\.)/,
): void {
  for (const id of readdirSync(project.path(SESSIONS)).filter((name) => name !== '.gitkeep')) {
    expect(progressOf(project, id)).toMatch(/^=== FORGE Session .*\n$/s);
  }
  // Each learning has a file of its own, so nothing replaces the draft of one whose write was killed. git ignores it.
  const left = drafts(project.path('.forge')).filter((name) => !/learned\.d\/\.\w+\.json\.tmp$/.test(name));
  expect(left).toEqual([]);
  expect(drafts(project.path('.git/forge')).filter((name) => !laterRemoved.test(name))).toEqual([]);
}

const drafts = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tmp(\/|$)/.test(name))
    // No one reads the draft of a lock.
    .filter((name) => !/(^|\/)\.(?:session-ids\.)?lock\./.test(name));

/** As if whoever held the running session had gone with the last boot. */
export function abandon(project: Project): void {
  const path = `${SHORT_TERM}/session.json`;
  if (!project.has(path)) return;
  const record = project.json<{ holder: object }>(path);
  project.write(
    path,
    `${JSON.stringify({ ...record, holder: { ...record.holder, boot: 'gone' } }, null, 2)}\n`,
  );
}
