import { describe, expect, it } from 'vitest';
import { cleanText } from '../../src/guard/guard.js';
import { fixedClock, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  FOCUS,
  ISSUES,
  KNOWLEDGE,
  makeStarted,
  PROGRESS,
  snapshot,
} from '../support/forge-project.js';
import { NAUGHTY, UNSAFE } from '../support/naughty.js';
import type { Project } from '../support/project.js';

interface Place {
  name: string;
  /** Puts the text in; `n` makes it another record each time. */
  args(text: string, n: number): string[];
  /** What stands in the file now. */
  stored(project: Project, n: number): unknown;
  /** What forge gives back. */
  readBack(project: Project, n: number): Promise<unknown>;
}

type Json = Record<string, unknown>;

const PLACES: Place[] = [
  {
    name: 'progress add',
    args: (text) => ['progress', 'add', '--', text],
    // Later lines of a text stand indented below its stamp.
    stored: (project) =>
      /\n\[10:00\] ((?:(?!\n\[10:00\] )[\s\S])*)\n$/
        .exec(project.read(PROGRESS))?.[1]
        ?.replaceAll('\n        ', '\n'),
    readBack: async (project) =>
      (await forgeJson<{ lines: Json[] }>(project, ['progress', 'show'])).lines.at(-1)?.text,
  },
  {
    name: 'knowledge add',
    args: (text, n) => ['knowledge', 'add', 'success', '--context', `case ${n}`, '--', text],
    stored: (project, n) =>
      (project.json<Json>(KNOWLEDGE).patterns as { successful: Json[] }).successful.find(
        ({ context }) => context === `case ${n}`,
      )?.approach,
    readBack: async (project, n) =>
      (await forgeJson<{ learnings: Json[] }>(project, ['knowledge', 'list'])).learnings.find(
        ({ context }) => context === `case ${n}`,
      )?.approach,
  },
  // Before the features: a text that is the name of one means that one.
  {
    name: 'focus set --task',
    args: (text) => ['focus', 'set', `--task=${text}`],
    stored: (project) => project.json<Json>(FOCUS).task,
    readBack: async (project) => (await forgeJson<Json>(project, ['focus', 'show'])).task,
  },
  {
    name: 'feature add',
    args: (text, n) => ['feature', 'add', `F-${n}`, '--', text],
    stored: (project, n) =>
      project.json<{ features: Json[] }>(FEATURES).features.find(({ id }) => id === `F-${n}`)?.name,
    readBack: async (project, n) => (await forgeJson<Json>(project, ['feature', 'show', `F-${n}`])).name,
  },
];

describe('--json', () => {
  it('B-06 writes out what no reader sees: controls, changes of direction, invisible characters', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const text = '\u{1f469}\u200d\u{1f52c} é 日本';
    await forgeJson(project, ['progress', 'add', text]);
    const shown = await runForge(project, ['progress', 'show', '--json']);
    expect(shown.stdout).toContain('\u{1f469}\\u200d\u{1f52c} é 日本');
    expect(JSON.stringify(JSON.parse(shown.stdout))).toContain(text);
    project.git('commit', '--allow-empty', '-qm', 'evil \u202egpj.exe \u009b31m \u{e0041}\u007f');
    const { stdout } = await runForge(project, ['briefing', '--json']);
    expect(stdout).not.toMatch(/[\u007f-\u009f\u202e\u{e0041}]/u);
    const missing = await runForge(project, ['feature', 'show', 'x\u202ey', '--json']);
    expect([missing.exitCode, UNSAFE.test(missing.stderr.trimEnd())]).toEqual([2, false]);
  });
});

describe('bad text', () => {
  it('B-11 each naughty string is stored byte for byte and read back, or refused with exit 2', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const world = fixedClock();
    const before = snapshot(project.dir);
    for (const [i, place] of PLACES.entries()) {
      const refused: string[] = [];
      for (const [n, text] of NAUGHTY.entries()) {
        // Each string goes to two of the four places.
        if ((n + i) % 2 === 1) continue;
        const files = [PROGRESS, KNOWLEDGE, FEATURES, FOCUS].map((path) => project.read(path));
        const { exitCode, stderr, stdout } = await runForge(project, place.args(text, n), { world });
        const at = [place.name, JSON.stringify(text)];
        expect([...at, UNSAFE.test(stdout + stderr)]).toEqual([...at, false]);
        if (exitCode === 0) {
          // Left out on the way in, and reported.
          const kept = cleanText(text).text;
          expect([...at, place.stored(project, n)]).toEqual([...at, kept]);
          expect([...at, await place.readBack(project, n)]).toEqual([...at, kept]);
        } else {
          expect([...at, exitCode]).toEqual([...at, 2]);
          expect([PROGRESS, KNOWLEDGE, FEATURES, FOCUS].map((path) => project.read(path))).toEqual(files);
          refused.push(text);
        }
      }
      // Only what hides, moves the cursor, is no text, or breaks a line where one line is asked for.
      const reason =
        /[\p{Cc}\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\ufff9\ud800-\udfff\u{e0000}-\u{e007f}]/u;
      const without = refused.filter((text) => !reason.test(text) && text !== '-');
      expect([place.name, without]).toEqual([place.name, []]);
      expect(refused.length).toBeLessThan(NAUGHTY.length / 8);
    }
    const changed = differences(before, snapshot(project.dir));
    const isEntry = (path: string): boolean =>
      /long-term\/\w+\.d|^\.git\/forge\/(?:kept|views|written)/.test(path);
    expect(changed.filter((path) => !isEntry(path))).toEqual([FEATURES, KNOWLEDGE, FOCUS, PROGRESS]);
    // All of them together are still valid files that every command can show.
    for (const args of ['briefing', 'next', 'feature list', 'knowledge list', 'progress show', []]) {
      const { stdout, exitCode } = await runForge(project, args);
      expect([args, exitCode, UNSAFE.test(stdout)]).toEqual([args, 0, false]);
    }
    const { commit } = await forgeJson<{ commit?: Json }>(project, ['session', 'end'], { world });
    expect(commit).toBeDefined();
    expect(project.has('pwned')).toBe(false);
  });
});

describe('terminal control in text', () => {
  it('B-06 refuses terminal controls in input', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const before = snapshot(project.dir);
    const evil = [
      ...[
        '\u001b]0;title\u0007',
        '\u001b]52;c;ZXZpbA==\u0007',
        'safe\revil',
        'abc\u202egnp.exe',
        '\u009b31m',
      ],
      '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
      ...['\u2067isolated\u2069', 'hidden \u{e0041}\u{e0042} tags', 'zero\u200bwidth', 'back\bspace'],
    ];
    for (const text of evil)
      for (const line of [
        ...['progress add TEXT', 'progress next TEXT', 'knowledge add invariant TEXT', 'feature add A TEXT'],
        ...['feature add --no-run A a --test TEXT', 'focus set --task TEXT', 'focus set --file TEXT'],
        ...['session start --task TEXT', 'session end --learned TEXT', 'config set project.name TEXT'],
        ...['feature show TEXT', 'TEXT', 'feature TEXT', 'config get TEXT', '-C TEXT next'],
      ]) {
        const args = line.split(' ').map((word) => (word === 'TEXT' ? text : word));
        const { exitCode, stderr, stdout } = await runForge(project, args);
        expect([args, exitCode, stdout]).toEqual([args, 2, '']);
        expect([args, UNSAFE.test(stderr)]).toEqual([args, false]);
      }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-06 every command escapes text that got into files in other ways', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const evil = '\u001b]0;owned\u0007\u001b[2J\r\u202e\u009b31m\u200b';
    const world = fixedClock();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true'], { world });
    await forgeJson(project, ['session', 'end', '--no-commit', '--learned', 'x', '--next', 'y'], { world });
    await forgeJson(project, ['session', 'start'], { world });
    project.write(ISSUES, JSON.stringify({ issues: [{ linear_id: `I${evil}`, title: evil, state: evil }] }));
    const all = (keys: string, more: object = {}): object => ({
      ...Object.fromEntries(keys.split(' ').map((key) => [key, evil])),
      ...more,
    });
    const features = ['B', 'C'].map((id) =>
      all('name verified_at verified_commit', {
        ...{ id, status: 'failing', tests: [`echo '${evil}'`], linear_issue: `I${evil}` },
        blocked_by: id === 'C' ? [evil] : null,
      }),
    );
    project.write(FEATURES, JSON.stringify({ schema_version: '1.0', features }));
    const learned = all('context approach issue resolution learned_at');
    const patterns = { successful: [learned], failed: [learned] };
    project.write(KNOWLEDGE, JSON.stringify({ schema_version: '1.0', patterns, invariants: [evil] }));
    const focus = all('task linear_issue phase skill started_at', { files: [evil], blockers: [evil] });
    project.write(FOCUS, JSON.stringify(focus));
    project.write(PROGRESS, `${project.read(PROGRESS)}[10:00] ${evil}\n\nNEXT: ${evil}\n`);
    project.write(
      CONFIG,
      project
        .read(CONFIG)
        .replace(/^name = .*$/m, `name = ${JSON.stringify(evil)}`)
        .concat(`[${JSON.stringify(evil)}]\nx = 1\n`),
    );
    project.write('.forge/init.sh', `# ${evil}\n`);
    const archive = Object.keys(snapshot(project.path('.forge/memory/sessions'))).find((path) =>
      path.endsWith('.json'),
    );
    const path = `.forge/memory/sessions/${archive}`;
    const { id } = project.json<{ id: string }>(path);
    const ended = all('started_at ended_at branch next goal', { learned: [evil], failed: [evil] });
    project.write(path, JSON.stringify({ ...project.json(path), ...ended }));
    for (const args of [
      ...[[], 'briefing', 'briefing --format markdown', 'next', 'feature list', 'feature show B'],
      ...['feature verify B', 'knowledge list', 'focus show', 'progress show', 'session list', 'init'],
      ...['session status', `session show ${id}`, 'config list', 'config get project.name', 'trust --show'],
      ...['session start', 'session end'],
    ]) {
      const { stdout, stderr } = await runForge(project, args, { world });
      expect([args, UNSAFE.exec(stdout + stderr)?.[0]]).toEqual([args, undefined]);
    }
  });
});
