import type { ChildProcess } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionOverview } from '../../src/index.js';
import { Agent } from '../support/e2e-agents.js';
import { startBinary, startLibrary } from '../support/forge.js';
import { PROGRESS } from '../support/forge-project.js';
import { expectWhole, kills } from '../support/kills.js';
import { follow, makeFolder, type Project } from '../support/project.js';
import { makeForgeRepository, typed, typedJson } from '../support/typed.js';

/** A process that adds lines with the library and prints each acknowledged one. */
function startWriter(project: Project, name: string, count: number): ChildProcess {
  const script = `
    for (let n = 0; n < ${count}; n++) {
      await open().progress.add({ text: '${name} ' + n + ' ' + 'x'.repeat(n % 90) });
      process.stdout.write('${name} ' + n + '\\n');
    }`;
  return startLibrary(project.dir, script);
}

/** The lines that a writer printed until it ended. */
const acknowledged = async (child: ChildProcess): Promise<string[]> =>
  (await follow(child).ended).stdout.split('\n').slice(0, -1);

const ENTRY = /^\[\d\d:\d\d\] (?:(\w+ \d+) x*|Started - branch: main|Active issues: 0)$/;

/** The lines of a progress.txt that were added; fails on anything torn or out of place. */
function addedLines(text: string): string[] {
  const [header, zone, blank, ...lines] = text.replace(/\n$/, '').split('\n');
  expect(text.endsWith('\n')).toBe(true);
  expect([header, zone, blank]).toEqual([
    expect.stringMatching(/^=== FORGE Session \d{4}-\d\d-\d\d ===$/),
    '(times in UTC)',
    '',
  ]);
  expect(lines.filter((line) => !ENTRY.test(line))).toEqual([]);
  return lines.flatMap((line) => ENTRY.exec(line)?.[1] ?? []);
}

const ordered = (lines: readonly string[], name: string): number[] =>
  lines.filter((line) => line.startsWith(`${name} `)).map((line) => Number(line.split(' ')[1]));

describe('many writers', () => {
  it('SES-09 SES-04 B-53 loses no acknowledged line and no order when writers are killed, and does not block the next one', async () => {
    const project = makeForgeRepository();
    typed(project, ['session', 'start']);
    const steady = startWriter(project, 'steady', 100_000);
    const steadyLines = acknowledged(steady);
    const doomed: string[] = [];
    for (let n = 0; n < kills(8, 100); n++) {
      const writer = startWriter(project, `w${n}`, 100_000);
      const lines = acknowledged(writer);
      await new Promise((ready) => writer.stdout?.once('data', ready));
      await pause(n % 13);
      writer.kill('SIGKILL');
      doomed.push(...(await lines));
    }
    steady.kill('SIGKILL');

    const acks = [...doomed, ...(await steadyLines)];
    expect(JSON.parse(typed(project, ['progress', 'add', 'last 0 x', '--json']))).toBeTruthy();
    const lines = addedLines(project.read(PROGRESS));
    expect(acks.filter((line) => !lines.includes(line))).toEqual([]);
    expect(new Set(lines).size).toBe(lines.length);
    for (const name of ['steady', 'w0', 'w1'])
      expect(ordered(lines, name)).toEqual([...ordered(lines, name).keys()]);
    expect(lines.at(-1)).toBe('last 0');
    expectWhole(project);
  });
});

describe('readers during writes', () => {
  it('B-56 see the whole old file or the whole new one', async () => {
    const project = makeForgeRepository();
    typed(project, ['session', 'start']);
    const writer = startWriter(project, 'ada', 100_000);
    void acknowledged(writer);
    await new Promise((ready) => writer.stdout?.once('data', ready));

    let [last, reads] = [0, 0];
    for (; reads < 300 || last < 100; reads++) {
      const numbers = ordered(addedLines(project.read(PROGRESS)), 'ada');
      expect(numbers).toEqual([...Array(numbers.length).keys()]);
      expect(numbers.length).toBeGreaterThanOrEqual(last);
      last = numbers.length;
      if (reads % 20 === 0) await pause(1);
    }
    for (let n = 0; n < 5; n++) {
      const shown = typedJson<{ lines: { text: string }[] }>(project, ['progress', 'show']);
      expect(shown.lines.length).toBeGreaterThanOrEqual(last);
      last = shown.lines.length;
    }
  });

  it('B-56 see no half archive and no error while sessions start and end', async () => {
    const project = makeForgeRepository();
    const agent = new Agent(project);
    const stop = join(makeFolder(), 'stop');
    const churn = (async () => {
      while (!existsSync(stop)) {
        await agent.json('session', 'start');
        await agent.json('session', 'end', '--next', 'go on', '--no-commit');
      }
    })();
    onTestFinished(() => churn);

    let seen = 0;
    // The first sessions take long on a slow machine.
    for (let n = 0; n < 12 || seen < 2; n++) {
      const reader = startBinary(project.dir, ['session', 'list', '--json']);
      const { exitCode, stdout } = await follow(reader).ended;
      expect(exitCode).toBe(0);
      const { sessions } = JSON.parse(stdout) as SessionOverview;
      expect(sessions.filter(({ status, next }) => status !== 'ended' || next !== 'go on')).toEqual([]);
      expect(sessions.length).toBeGreaterThanOrEqual(seen);
      seen = Math.min(sessions.length, 20);
    }
    writeFileSync(stop, '');
    await churn;
    expectWhole(project);
  });
});
