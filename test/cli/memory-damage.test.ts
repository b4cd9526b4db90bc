import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/index.js';
import { forgeJson, runForge } from '../support/forge.js';
import type { Project } from '../support/project.js';
import {
  commitFolded,
  fixedOf,
  flipByte,
  HALT,
  JOURNAL,
  linesOf,
  logOf,
  putLines,
  record,
  segmentOf,
  typeHint,
  verify,
} from './memory.js';
import { makeForge, makePlainForge } from './project.js';

const note = (project: Project, text: string) => runForge(project, ['note', 'add', text]);
const NOTES = fixedOf('notes');

/** A repository whose execution ledger has a segment of three cycles. */
async function withCycles(make = makeForge): Promise<{ project: Project; file: string; lines: string[] }> {
  const project = await make();
  for (let i = 0; i < 3; i++) await record(project);
  const file = segmentOf(project, 'execution');
  return { project, file, lines: linesOf(project, file) };
}

/** The same, folded and committed. */
async function withCommitted(): Promise<{ project: Project; file: string; lines: string[] }> {
  const { project } = await withCycles();
  await commitFolded(project);
  await verify(project);
  const file = fixedOf('execution');
  return { project, file, lines: linesOf(project, file) };
}

/** Damage must be found where it is, and told in full. */
async function expectFound(project: Project, expected: Partial<Finding>, what: unknown): Promise<void> {
  const { status, exitCode, problems } = await verify(project);
  expect([what, status, exitCode]).toEqual([what, 'corrupted', 4]);
  expect([what, problems.map(({ file, line }) => ({ file, line }))]).toEqual([
    what,
    [{ file: expected.file, line: expected.line }],
  ]);
  expect(problems[0]).toMatchObject(expected);
}

/** Every byte in the soak; here every ninth, which meets each field, and the last ones. */
const STEP = process.env.FORGE_SOAK ? 1 : 9;

describe('damage in a container', () => {
  it('B-25 LTM-04 any byte of an untracked segment that is another is found, in its line', async () => {
    const project = await makePlainForge();
    await note(project, 'a');
    const file = segmentOf(project, 'notes');
    const whole = readFileSync(project.path(file));
    for (let at = 0; at < whole.length; at += STEP) {
      flipByte(project, file, at);
      await expectFound(project, { file, line: 1, offset: 0, tier: 'notes' }, at);
      writeFileSync(project.path(file), whole);
    }
    expect((await verify(project)).problems).toEqual([]);
  });

  it('B-25 LTM-04 any byte of a committed fixed file that is another is found, in its line', async () => {
    const project = await makeForge();
    const whole = readFileSync(project.path(NOTES));
    for (let at = 0; at < whole.length; at += STEP) {
      flipByte(project, NOTES, at);
      await expectFound(project, { file: NOTES, line: 1, offset: 0, tier: 'notes' }, at);
      writeFileSync(project.path(NOTES), whole);
    }
    expect((await verify(project)).problems).toEqual([]);
  });

  it.each([
    ['an untracked segment', withCycles],
    ['a committed fixed file', withCommitted],
  ])('B-26 any line removed from %s is found, with the record and the last good one', async (_, make) => {
    const { project, file, lines } = await make();
    for (const [i, line] of lines.entries()) {
      putLines(
        project,
        file,
        lines.filter((other) => other !== line),
      );
      const { n } = JSON.parse(line) as { n: number };
      const offset = Buffer.byteLength(
        lines
          .slice(0, i)
          .map((before) => `${before}\n`)
          .join(''),
      );
      const last_good = i === 0 ? null : { line: i, n: n - 1 };
      const message = `record ${n} was removed`;
      const expected = { file, line: i + 1, offset, code: 'removed', message } as const;
      await expectFound(project, expected, i);
      const [{ last_good: good } = { last_good: undefined }] = (await verify(project)).problems;
      expect(good === null ? null : { line: good?.line, n: good?.n }).toEqual(last_good);
      putLines(project, file, lines);
    }
    expect((await verify(project)).problems).toEqual([]);
  });

  it('B-26 the same line twice is one record, and lines in any order are the same ledger', async () => {
    const { project, file, lines } = await withCommitted();
    const before = await verify(project);
    const orders = [[...lines, ...lines], [...lines].reverse(), [lines[2], ...lines] as string[]];
    for (const order of orders) {
      putLines(project, file, order);
      const after = await verify(project);
      expect([after.status, after.problems]).toEqual(['intact', []]);
      expect(after.tiers.map(({ records, heads }) => [records, heads])).toEqual(
        before.tiers.map(({ records, heads }) => [records, heads]),
      );
    }
    expect((await logOf(project, 'execution')).map(({ n }) => n)).toEqual([2, 3, 4]);
  });
});

/** How a file is damaged; the findings that must follow. */
const DAMAGES: [
  name: string,
  damage: (project: Project, file: string, lines: string[]) => void,
  code: Finding['code'],
  line: number,
  message: RegExp,
][] = [
  [
    'B-23 a torn last line',
    (project, file) => truncateSync(project.path(file), statSync(project.path(file)).size - 9),
    'torn',
    3,
    /^it does not end in a line feed/,
  ],
  [
    'B-24 a last line that lacks only its line feed',
    (project, file) => truncateSync(project.path(file), statSync(project.path(file)).size - 1),
    'torn',
    3,
    /^it does not end in a line feed/,
  ],
  [
    'B-33 a tail of zeros',
    (project, file) => truncateSync(project.path(file), statSync(project.path(file)).size + 512),
    'torn',
    4,
    /512 zero bytes/,
  ],
  [
    'B-33 zeros that a record stands behind',
    (project, file, [a, b, c]) => putLines(project, file, [a, b, '\0'.repeat(40), c] as string[]),
    'edited',
    3,
    /^it is filled with zeros/,
  ],
  [
    'B-31 a blank line',
    (project, file, [a, b, c]) => putLines(project, file, [a, '', b, c] as string[]),
    'edited',
    2,
    /^it is blank/,
  ],
  [
    'B-31 a line of spaces',
    (project, file, [a, b, c]) => putLines(project, file, [a, b, '   ', c] as string[]),
    'edited',
    3,
    /^it is blank/,
  ],
  [
    'B-31 a carriage return inside a line',
    (project, file, [a, b, c]) => putLines(project, file, [a, `${b}\r${b}`, c] as string[]),
    'glued',
    2,
    /^2 records are glued together/,
  ],
  [
    'B-25 line feeds that are none any more',
    (project, file, lines) => writeFileSync(project.path(file), `${lines.join('\v')}\n`),
    'glued',
    1,
    /^3 records are glued together/,
  ],
  [
    'B-25 an edited record',
    (project, file, [a, b, c]) => putLines(project, file, [a, b?.replace('"A"', '"B"'), c] as string[]),
    'edited',
    2,
    /^record 3 was edited/,
  ],
  [
    'B-26 two lines removed',
    (project, file, [a]) => putLines(project, file, [a] as string[]),
    'removed',
    2,
    /^2 records \(from 3 on\) were removed/,
  ],
  [
    'B-29 all lines removed',
    (project, file) => putLines(project, file, []),
    'removed',
    1,
    /^3 records \(from 2 on\) were removed/,
  ],
  [
    'B-32 a line of 200 MB',
    (project, file, lines) => {
      putLines(project, file, lines);
      truncateSync(project.path(file), 200_000_000);
      writeFileSync(project.path(file), '\n', { flag: 'a' });
    },
    'edited',
    4,
    /^it has \d{9} bytes; a record has 1 MB at most/,
  ],
];

const IN_FIXED = DAMAGES.filter(([name]) => /torn last|blank|edited|two lines|any more/.test(name));

describe('the findings of forge memory verify', () => {
  it.each(DAMAGES)(
    '%s: exit 4 with its place; its hint leads out of it',
    async (_, damage, code, line, message) => {
      const { project, file, lines } = await withCycles();
      const before = await logOf(project, 'execution');
      damage(project, file, lines);
      const memory = process.memoryUsage().rss;
      await expectFound(project, { file, line, code, message: expect.stringMatching(message) }, code);
      expect(process.memoryUsage().rss - memory).toBeLessThan(150_000_000);
      expect(project.has(HALT)).toBe(true);
      expect(
        (await runForge(project, ['memory', 'record', '--task', 'A', '--exit-code', '0'])).exitCode,
      ).toBe(4);
      const { problems } = await verify(project);
      await typeHint(project, problems[0]?.hint ?? '');
      expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
      await record(project);
      expect((await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle').slice(0, 3)).toEqual(
        before,
      );
      const said = (await logOf(project, 'audit')).map(({ record }) => record);
      expect(said).toContainEqual(
        expect.objectContaining({ by: 'terminal', reason: 'because', actor: 'supervisor' }),
      );
      expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
      // Folding and a commit leave it at that, and a key means the record that was written.
      await commitFolded(project);
      expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
      const second = before[1];
      const again = await record(project, '--key', second?.record.key as string);
      expect(again).toMatchObject({ execution: { id: second?.id }, known: true });
    },
    20_000,
  );

  it.each(IN_FIXED)(
    '%s in a committed fixed file: the same, and git or forge leads out of it',
    async (_, damage, code, at, message) => {
      const { project, file, lines } = await withCommitted();
      const [genesis = '', ...cycles] = lines;
      putLines(project, file, cycles);
      damage(project, file, cycles);
      writeFileSync(
        project.path(file),
        Buffer.concat([Buffer.from(`${genesis}\n`), readFileSync(project.path(file))]),
      );
      await expectFound(project, { file, line: at + 1, code, message: expect.stringMatching(message) }, code);
      await typeHint(project, (await verify(project)).problems[0]?.hint ?? '');
      expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
      await record(project);
      expect((await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle')).toHaveLength(4);
      const said = (await logOf(project, 'audit')).map(({ record }) => record);
      expect(said).toContainEqual(expect.objectContaining({ by: 'terminal', reason: 'because' }));
    },
    20_000,
  );
});

describe('what is gone as a whole', () => {
  it('B-29 LTM-04 a committed fixed file that is missing is no new memory', async () => {
    const { project, file } = await withCommitted();
    rmSync(project.path(file));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.length]).toEqual([4, 1]);
    expect(problems[0]).toMatchObject({ file, tier: 'execution' });
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect((await record(project)).cycle).toBe(4);
  });

  it('B-29 without git, the journal has what a removed segment had', async () => {
    const { project, file } = await withCycles(makePlainForge);
    rmSync(project.path(file));
    const { exitCode, problems } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, ['lost']]);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    expect((await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle')).toHaveLength(3);
  });

  it('B-28 a file rewritten with a valid chain is forked at the first record that is another', async () => {
    const { project, file, lines } = await withCycles();
    const other = await makeForge();
    for (let i = 0; i < 3; i++) await record(other, '--key', `other-${i}`);
    const theirs = linesOf(other, segmentOf(other, 'execution'));
    putLines(project, file, theirs);
    const { problems, exitCode } = await verify(project);
    expect(exitCode).toBe(4);
    expect(problems).toMatchObject([{ code: 'rewritten', file, line: 1, last_good: null }]);
    expect(problems[0]?.message).toMatch(/forked at record 2, 3 records gone, 3 others in their place/);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project)).toMatchObject({ status: 'intact', exitCode: 0 });
    const cycles = (await logOf(project, 'execution')).filter(({ kind }) => kind === 'cycle');
    expect(cycles.map(({ record }) => record.key)).toEqual(lines.map((line) => JSON.parse(line).key));
  });

  it('B-104 an override or audit record that is removed is found', async () => {
    const { project, file, lines } = await withCycles();
    putLines(project, file, lines.slice(1));
    await verify(project);
    await forgeJson(project, ['memory', 'restore', '--reason', 'a slip'], { terminal: true });
    const audit = segmentOf(project, 'audit');
    for (const empty of [false, true]) {
      const kept = linesOf(project, audit);
      putLines(project, audit, empty ? [] : kept.slice(0, -1));
      const { problems, exitCode } = await verify(project);
      expect([exitCode, problems.map(({ tier, code }) => [tier, code])]).toEqual([4, [['audit', 'removed']]]);
      putLines(project, audit, kept);
    }
    rmSync(project.path(JOURNAL));
    expect((await verify(project)).problems).toEqual([]);
  });
});
