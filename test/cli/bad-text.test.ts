import { describe, expect, it } from 'vitest';
import { fixedClock, forgeJson, runForge } from '../support/forge.js';
import type { Project } from '../support/project.js';
import { NAUGHTY } from './naughty.js';
import {
  CONFIG,
  differences,
  FEATURES,
  FOCUS,
  ISSUES,
  KNOWLEDGE,
  makeForge,
  PROGRESS,
  snapshot,
} from './project.js';

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
    stored: (project) =>
      (project.json<Json>(KNOWLEDGE).patterns as { successful: Json[] }).successful.at(-1)?.approach,
    readBack: async (project) =>
      (await forgeJson<{ learnings: Json[] }>(project, ['knowledge', 'list'])).learnings.at(-1)?.approach,
  },
  {
    name: 'feature add',
    args: (text, n) => ['feature', 'add', `F-${n}`, '--', text],
    stored: (project) => project.json<{ features: Json[] }>(FEATURES).features.at(-1)?.name,
    readBack: async (project, n) => (await forgeJson<Json>(project, ['feature', 'show', `F-${n}`])).name,
  },
  {
    name: 'focus set --task',
    args: (text) => ['focus', 'set', `--task=${text}`],
    stored: (project) => project.json<Json>(FOCUS).task,
    readBack: async (project) => (await forgeJson<Json>(project, ['focus', 'show'])).task,
  },
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is shown is the point
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u;

async function prepared(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['session', 'start'], { world: fixedClock() });
  return project;
}

describe('bad text', () => {
  it('B-11 each naughty string is stored byte for byte and read back, or refused with exit 2', async () => {
    const project = await prepared();
    const world = fixedClock();
    const before = snapshot(project.dir);
    for (const place of PLACES) {
      const refused: string[] = [];
      for (const [n, text] of NAUGHTY.entries()) {
        const files = [PROGRESS, KNOWLEDGE, FEATURES, FOCUS].map((path) => project.read(path));
        const { exitCode, stderr, stdout } = await runForge(project, place.args(text, n), { world });
        const at = [place.name, JSON.stringify(text)];
        expect([...at, UNSAFE.test(stdout + stderr)]).toEqual([...at, false]);
        if (exitCode === 0) {
          expect([...at, place.stored(project, n)]).toEqual([...at, text]);
          expect([...at, await place.readBack(project, n)]).toEqual([...at, text]);
        } else {
          expect([...at, exitCode]).toEqual([...at, 2]);
          expect([PROGRESS, KNOWLEDGE, FEATURES, FOCUS].map((path) => project.read(path))).toEqual(files);
          refused.push(text);
        }
      }
      // Only what hides, moves the cursor, is no text, or breaks a line where one line is asked for.
      const reason = /[\p{Cc}\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9\ud800-\udfff\u{e0000}-\u{e007f}]/u;
      expect([place.name, refused.filter((text) => !reason.test(text) && text !== '-')]).toEqual([
        place.name,
        [],
      ]);
      expect(refused.length).toBeLessThan(NAUGHTY.length / 5);
    }
    expect(differences(before, snapshot(project.dir))).toEqual([FEATURES, KNOWLEDGE, FOCUS, PROGRESS]);
    // All of them together are still valid files that every command can show.
    for (const args of [
      ['briefing'],
      ['next'],
      ['feature', 'list'],
      ['knowledge', 'list'],
      ['progress', 'show'],
      [],
    ]) {
      const { stdout, exitCode } = await runForge(project, args);
      expect([args, exitCode, UNSAFE.test(stdout)]).toEqual([args, 0, false]);
    }
    const { commit } = await forgeJson<{ commit?: Json }>(project, ['session', 'end'], { world });
    expect(commit).toBeDefined();
    expect(project.has('pwned')).toBe(false);
  });

  it('B-06 terminal control is refused where text comes in', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    const evil = [
      '\u001b]0;title\u0007',
      '\u001b]52;c;ZXZpbA==\u0007',
      '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
      'safe\revil',
      'abc\u202egnp.exe',
      '\u2067isolated\u2069',
      '\u009b31m',
      'hidden \u{e0041}\u{e0042} tags',
      'zero\u200bwidth',
    ];
    for (const text of evil)
      for (const args of [
        ['progress', 'add', text],
        ['progress', 'next', text],
        ['knowledge', 'add', 'invariant', text],
        ['feature', 'add', 'A', text],
        ['feature', 'add', 'A', 'a', '--test', text],
        ['focus', 'set', '--task', text],
        ['focus', 'set', '--file', text],
        ['session', 'start', '--goal', text],
        ['session', 'end', '--learned', text],
        ['config', 'set', 'project.name', text],
        ['feature', 'show', text],
        [text],
        ['feature', text],
        ['config', 'get', text],
        ['-C', text, 'next'],
      ]) {
        const { exitCode, stderr, stdout } = await runForge(project, args);
        expect([args, exitCode, stdout]).toEqual([args, 2, '']);
        expect([args, UNSAFE.test(stderr)]).toEqual([args, false]);
      }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-06 what stands in files by other ways is shown escaped by every command', async () => {
    const project = await prepared();
    const evil = '\u001b]0;owned\u0007\u001b[2J\r\u202e\u009b31m\u200b';
    const world = fixedClock();
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'true'], { world });
    await forgeJson(project, ['session', 'end', '--no-commit', '--learned', 'x', '--next', 'y'], { world });
    await forgeJson(project, ['session', 'start'], { world });
    project.write(ISSUES, JSON.stringify({ issues: [{ linear_id: `I${evil}`, title: evil, state: evil }] }));
    const features = ['B', 'C'].map((id) => ({
      id,
      name: evil,
      status: 'failing',
      tests: [`echo '${evil}'`],
      blocked_by: id === 'C' ? [evil] : null,
      linear_issue: `I${evil}`,
      verified_at: evil,
      verified_commit: evil,
    }));
    project.write(FEATURES, JSON.stringify({ schema_version: '1.0', features }));
    const learned = { context: evil, approach: evil, issue: evil, resolution: evil, learned_at: evil };
    project.write(
      KNOWLEDGE,
      JSON.stringify({
        schema_version: '1.0',
        patterns: { successful: [learned], failed: [learned] },
        invariants: [evil],
      }),
    );
    project.write(
      FOCUS,
      JSON.stringify({
        task: evil,
        linear_issue: evil,
        files: [evil],
        phase: evil,
        blockers: [evil],
        skill: evil,
        started_at: evil,
      }),
    );
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
      path.endsWith('session.json'),
    );
    const path = `.forge/memory/sessions/${archive}`;
    const { id } = project.json<{ id: string }>(path);
    project.write(
      path,
      JSON.stringify({
        ...project.json(path),
        started_at: evil,
        ended_at: evil,
        branch: evil,
        next: evil,
        learned: [evil],
        failed: [evil],
        goal: evil,
      }),
    );
    for (const args of [
      [],
      ['briefing'],
      ['briefing', '--format', 'markdown'],
      ['next'],
      ['feature', 'list'],
      ['feature', 'show', 'B'],
      ['feature', 'verify', 'B'],
      ['knowledge', 'list'],
      ['focus', 'show'],
      ['progress', 'show'],
      ['session', 'list'],
      ['session', 'status'],
      ['session', 'show', id],
      ['config', 'list'],
      ['config', 'get', 'project.name'],
      ['trust', '--show'],
      ['init'],
      ['session', 'start'],
      ['session', 'end'],
    ]) {
      const { stdout, stderr } = await runForge(project, args, { world });
      expect([args, UNSAFE.exec(stdout + stderr)?.[0]]).toEqual([args, undefined]);
    }
  });
});
