import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/index.js';
import { runForge } from '../support/forge.js';
import { makeForge, makePlainForge } from '../support/forge-project.js';
import {
  commitFolded,
  fixedOf,
  flipByte,
  HALT,
  logOf,
  putLines,
  record,
  segmentOf,
  typeHint,
  verify,
  withCommitted,
  withCycles,
} from '../support/memory.js';
import type { Project } from '../support/project.js';

const note = (project: Project, text: string) => runForge(project, ['note', 'add', text]);
const NOTES = fixedOf('notes');

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

/** Every byte in the whole soak; else every ninth, which meets each field, and the last ones. */
const STEP = Number(process.env.FORGE_SOAK ?? 0) < 0.1 ? 9 : 1;

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
  );
});
