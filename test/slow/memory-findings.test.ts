import { appendFileSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { recordId } from '../../src/ledger/record.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { repair } from '../support/ledgers.js';
import {
  commit,
  containersOf,
  cyclesOf,
  flipByte,
  HALT,
  HUMAN,
  JOURNAL,
  LEDGER,
  linesOf,
  logOf,
  putLines,
  record,
  relink,
  typeHint,
  type Verified,
  verify,
  withCycles,
} from '../support/memory.js';
import { makeFolder, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const CODES = { intact: 0, removed: 1, corrupted: 4, halted: 4, secret: 5 };
const REPAIR = 'forge memory repair';

type Damage = (project: Project, file: string, lines: string[]) => void;

/** What `memory verify` says of a damage. */
interface Said {
  status: Verified['status'];
  code?: Verified['problems'][number]['code'];
  line?: number;
  message?: RegExp;
  /** Of the notes. */
  note?: RegExp;
  /** How many records came back at once. */
  restored?: number;
}

const sha256 = (line: string): string => recordId(line.trimStart());
const bytesOf = (project: Project, file: string): Buffer => readFileSync(project.path(file));
const cut =
  (count: number): Damage =>
  (project, file) =>
    truncateSync(project.path(file), bytesOf(project, file).length - count);
const spoil =
  (change: (lines: string[]) => string[]): Damage =>
  (project, file, lines) =>
    putLines(project, file, change([...lines]));

const unreadable = (line: number, message: RegExp): Said => ({
  ...{ status: 'corrupted', code: 'unreadable', line, message },
});
const edited = (line: number, message = /the record was changed/): Said => ({
  ...{ status: 'corrupted', code: 'edited', line, message },
});
const SET_BACK: Said = { status: 'removed', code: 'set_back' };
const UNLINKED = /"prev" is not the id of the line before/;
const MARKER = /a merge conflict marker/;

/** Damage of the file with three cycles, which no commit has: the journal knows them all. */
const JOURNALED: Record<string, [Damage, Said]> = {
  'B-23 a torn last line': [cut(10), { status: 'intact', restored: 1, note: /:3: an unfinished line/ }],
  'B-24 a whole last line without LF': [cut(1), { status: 'intact' }],
  'B-25 one bit flipped in the middle': [
    (project, file, lines) =>
      flipByte(project, file, project.read(file).indexOf('"task_id":"A"', lines[0]?.length) + 11),
    edited(2),
  ],
  'B-26 a removed line': [spoil((lines) => lines.toSpliced(1, 1)), unreadable(2, UNLINKED)],
  'B-26 a line that stands twice': [
    spoil((lines) => lines.toSpliced(1, 0, lines[1] as string)),
    unreadable(3, UNLINKED),
  ],
  'B-27 a file cut after its first line': [
    spoil((lines) => lines.slice(0, 1)),
    { status: 'intact', restored: 2 },
  ],
  'B-27 an emptied file': [spoil(() => []), { status: 'intact', restored: 3 }],
  'B-28 a file written anew with a valid chain': [
    spoil((lines) => relink(lines, (body) => Object.assign(body, { exit_code: 7 }))),
    edited(1),
  ],
  'B-29 a missing file': [(project, file) => rmSync(project.path(file)), { status: 'intact', restored: 3 }],
  'B-30 CRLF line ends': [
    (project, file) => project.write(file, project.read(file).replaceAll('\n', '\r\n')),
    { status: 'intact', note: /CRLF line ends.*sed -i.*\.gitattributes.*-text/ },
  ],
  'B-30 a record whose text holds a CR': [
    (project, file) => project.write(file, project.read(file).replace('"A"', '"\r"')),
    unreadable(1, /not JSON/),
  ],
  'B-31 a blank line': [spoil((lines) => lines.toSpliced(1, 0, '')), unreadable(2, /a blank line/)],
  'B-31 a line of spaces': [spoil((lines) => lines.toSpliced(3, 0, '   ')), unreadable(4, /a blank line/)],
  'B-32 a line of 2 MB': [
    spoil((lines) => [...lines, 'x'.repeat(2_000_000)]),
    unreadable(4, /longer than 1048576 bytes/),
  ],
  'B-32 a line of 200 MB': [
    (project, file) => truncateSync(project.path(file), 200_000_000),
    unreadable(0, /larger than/),
  ],
  'B-33 a tail filled with zeros': [
    (project, file) => truncateSync(project.path(file), bytesOf(project, file).length + 4096),
    { status: 'intact', note: /:4: an unfinished line/ },
  ],
  'B-34 conflict markers': [spoil((lines) => lines.toSpliced(1, 0, '<<<<<<< HEAD')), unreadable(2, MARKER)],
  'B-35 a number that is not above its parent’s': [
    spoil((lines) => [
      ...lines,
      ...relink(lines, () => {})
        .slice(0, 1)
        .map((line) => line.replace('"prev":null', `"prev":"${sha256(lines[2] as string)}"`)),
    ]),
    unreadable(4, /"n" is 2, the line before has/),
  ],
  'B-20 a link in place of the file': [
    (project, file) => {
      rmSync(project.path(file));
      symlinkSync('/etc/passwd', project.path(file));
    },
    unreadable(0, /not a regular file/),
  ],
};

async function expectSaid(project: Project, file: string, said: Said): Promise<Verified> {
  const found = await verify(project);
  expect(found).toMatchObject({ status: said.status, exitCode: CODES[said.status] });
  expect(found.restored).toHaveLength(said.restored ?? 0);
  if (said.note) expect(found.notes.join('\n')).toMatch(said.note);
  if (said.code === undefined) {
    expect(found.problems).toEqual([]);
    return found;
  }
  const [first] = found.problems;
  const hint = said.code === 'set_back' ? expect.stringMatching(/^git restore /) : REPAIR;
  expect(first).toMatchObject({ code: said.code, hint });
  if (said.line !== undefined) expect(first).toMatchObject({ file, line: said.line });
  if (said.message) expect(first?.message).toMatch(said.message);
  return found;
}

/** Everything that was acknowledged is there, memory is intact, and writing works. */
async function expectWell(project: Project, ids: Iterable<string>): Promise<void> {
  const found = await verify(project);
  expect(found).toMatchObject({ status: 'intact', exitCode: 0, problems: [] });
  const { records } = await forgeJson<{ records: { id: string }[] }>(project, 'memory log --limit 1000');
  const here = new Set(records.map(({ id }) => id));
  expect([...ids].filter((id) => !here.has(id))).toEqual([]);
  expect(project.has(HALT)).toBe(false);
  await record(project);
  commit(project);
  await forgeJson(project, ['session', 'start']);
  await forgeJson(project, ['session', 'end']);
  expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
}

async function expectHalted(project: Project): Promise<void> {
  for (const args of ['note add x', 'session start']) await expectError(project, args, '4 memory.corrupted');
}

describe('damaged memory, B-23 B-24 B-25 B-26 B-27 B-28 B-29 B-30 B-31 B-32 B-33 B-34 B-35', () => {
  it.each(Object.entries(JOURNALED))('LTM-04 LTM-21 %s, before a commit', async (_name, [damage, said]) => {
    const { project, file, lines } = await withCycles();
    const ids = lines.map(sha256);
    damage(project, file, lines);
    await expectSaid(project, file, said);
    if (said.status === 'corrupted') {
      await expectHalted(project);
      const dry = await runForge(project, ['memory', 'repair', '--reason', 'text', '-n', '--json'], HUMAN);
      expect(dry.exitCode, dry.stderr).toBe(0);
      expect((await verify(project)).exitCode).toBe(4);
      await repair(project);
      expect((await logOf(project, 'audit')).map(({ kind }) => kind)).toEqual(['repaired']);
    }
    await expectWell(project, ids);
  });

  it('LTM-04 an edited record is listed once, and no line from it on is called good', async () => {
    const { project, file, lines } = await withCycles();
    for (const [edit, good] of [
      [1, null],
      [2, sha256(lines[0] as string)],
    ] as const) {
      const changed = lines.with(edit - 1, (lines[edit - 1] as string).replace('"A"', '"B"'));
      putLines(project, file, [...changed, '']);
      const { problems, notes } = await verify(project);
      const offset = edit === 1 ? 0 : (lines[0] as string).length + 1;
      const last_good = good && { line: 1, id: good };
      // The blank line at the end is a place of its own.
      expect(problems).toMatchObject([
        { code: 'edited', line: edit, offset, last_good },
        { code: 'unreadable', line: 4, message: 'a blank line', last_good },
      ]);
      expect(notes).toEqual([]);
    }
  });

  it.each<[string, (lines: string[]) => string[], number, RegExp]>([
    ['a removed line', (lines) => lines.toSpliced(1, 1), 2, UNLINKED],
    ['a line that is no JSON', (lines) => lines.with(1, lines[1]?.replace('"A"', 'A') ?? ''), 2, /not JSON/],
    ['two lines in the wrong order', ([a = '', b = '', c = '']) => [a, c, b], 2, UNLINKED],
  ])('LTM-04 %s is one finding', async (_, change, line, message) => {
    const { project, file, lines } = await withCycles();
    putLines(project, file, change([...lines]));
    const offset = (lines[0] as string).length + 1;
    const { stdout, exitCode } = await runForge(project, 'memory verify');
    expect([exitCode, stdout.match(/^✗ .*/gm)]).toEqual([
      4,
      [`✗ unreadable  ${file}:${line} (byte ${offset})`],
    ]);
    expect(stdout).toMatch(message);
    await repair(project);
    await expectWell(project, lines.map(sha256));
  });

  it('LTM-04 the place of an edited record counts lines that are no records', async () => {
    const { project, file, lines } = await withCycles();
    const changed = ['', ...lines].with(2, (lines[1] as string).replace('"A"', '"B"'));
    putLines(project, file, changed);
    const { problems } = await verify(project);
    expect(problems).toMatchObject([
      { code: 'unreadable', line: 1, offset: 0 },
      { code: 'edited', line: 3, offset: (lines[0] as string).length + 2, last_good: { line: 2 } },
    ]);
  });

  /** Where no journal knows the records: what only git has. */
  const COMMITTED: Record<string, [Damage, Said]> = {
    'B-23 a torn last line': [cut(10), SET_BACK],
    'B-25 one bit flipped in the last line': [
      (project, file) => flipByte(project, file, project.read(file).lastIndexOf('"task_id":"A"') + 11),
      edited(3),
    ],
    'B-27 a file cut after its first line': [spoil((lines) => lines.slice(0, 1)), SET_BACK],
    'B-28 a file written anew, with another name': [
      (project, file, lines) => {
        rmSync(project.path(file));
        const anew = relink(lines, (body) => Object.assign(body, { seg: 'abcdef00', exit_code: 7 }));
        putLines(project, `${LEDGER}/solo-abcdef00.jsonl`, anew);
      },
      { status: 'removed', code: 'set_back', note: /forge did not write here/ },
    ],
    'B-29 a missing file': [(project, file) => rmSync(project.path(file)), SET_BACK],
    'B-29 a missing folder': [(project) => rmSync(project.path(LEDGER), { recursive: true }), SET_BACK],
    'B-34 conflict markers': [
      spoil((lines) => ['<<<<<<< HEAD', ...lines.slice(0, 1), '=======', ...lines.slice(1), '>>>>>>> x']),
      unreadable(1, MARKER),
    ],
  };

  it.each(Object.entries(COMMITTED))('LTM-04 LTM-21 %s, with only the commit', async (_, [damage, said]) => {
    const { project, file, lines } = await withCycles();
    commit(project);
    rmSync(project.path('.git/forge'), { recursive: true });
    damage(project, file, lines);
    await expectSaid(project, file, said);
    if (said.code === 'set_back') {
      expect((await runForge(project, ['doctor'])).stdout).not.toContain(`in no commit yet: ${file}`);
      const { problems } = await verify(project);
      const hint = problems.find(({ code }) => code === 'set_back')?.hint ?? '';
      expect(hint).toMatch(/^git restore --source=HEAD -- \.forge\/memory\/ledger/);
      project.git(...hint.split(' ').slice(1));
    } else await repair(project);
    await expectWell(project, said.note ? [] : lines.map(sha256));
  });

  it('B-25 LTM-03 LTM-21 a committed edit is damage, names its commit, and the former record is restored', async () => {
    const { project, file, lines } = await withCycles();
    commit(project);
    rmSync(project.path('.git/forge'), { recursive: true });
    putLines(
      project,
      file,
      relink(lines, (body) => Object.assign(body, { exit_code: 7 })),
    );
    commit(project);
    const head = project.git('rev-parse', 'HEAD');
    const { problems } = await expectSaid(project, file, edited(1));
    expect(problems[0]?.commit).toBe(head);
    expect(problems.flatMap(({ ids }) => ids)).toEqual(lines.map(sha256));
    await repair(project);
    await expectWell(project, lines.map(sha256));
  });

  it('B-25 LTM-21 without a copy a person vouches for the bytes, and writing works again', async () => {
    const { project, file, lines } = await withCycles();
    rmSync(project.path(JOURNAL));
    putLines(project, file, lines.toSpliced(1, 1, 'no record'));
    const damaged = bytesOf(project, file);
    await expectSaid(project, file, { status: 'corrupted', code: 'unreadable', line: 2 });
    await repair(project);
    expect(bytesOf(project, file)).toEqual(damaged);
    const [repaired] = await logOf(project, 'audit');
    expect(repaired?.record).toMatchObject({
      kind: 'repaired',
      by: 'terminal',
      reason: 'it was an accident',
      subjects: expect.arrayContaining([sha256('no record')]),
    });
    await expectWell(
      project,
      [lines[0], lines[2]].map((line) => sha256(line as string)),
    );
  });

  it('B-35 LTM-21 two files with different records in one place, and a number below a head that it names', async () => {
    const { project, file, lines } = await withCycles();
    const [, , third = ''] = lines;
    const seg = file.slice(-14, -6);
    const other = third.replace('"exit_code":0', '"exit_code":1');
    putLines(project, `${LEDGER}/put-${seg}-00000000.jsonl`, [...lines.slice(0, 2), other]);
    const { ledger } = JSON.parse(lines[0] as string) as { ledger: string };
    const late = { v: 1, tier: 'note', n: 2, seg: 'abcdef00', prev: null, seen: [sha256(third)], ledger };
    putLines(project, `${LEDGER}/solo-abcdef00.jsonl`, [
      JSON.stringify({ ...late, kind: 'note', text: 'x' }),
    ]);
    const { problems, exitCode } = await verify(project);
    expect([exitCode, problems.map(({ code }) => code)]).toEqual([4, ['link', 'link']]);
    expect(problems.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('another record has the same place'),
        expect.stringContaining('"n" is 2, not above'),
      ]),
    );
    await expectHalted(project);
    await repair(project);
    await expectWell(project, lines.map(sha256));
  });

  it('B-35 LTM-21 records of another ledger are a finding, do not halt, and are imported', async () => {
    const { project, lines } = await withCycles();
    const links = { v: 1, tier: 'note', n: 1, seg: 'abcdef00', prev: null, seen: [], ledger: 'f'.repeat(64) };
    const file = `${LEDGER}/solo-abcdef00.jsonl`;
    putLines(project, file, [JSON.stringify({ ...links, kind: 'note', text: 'foreign' })]);
    await expectSaid(project, file, { status: 'removed', code: 'foreign' });
    await record(project);
    await repair(project);
    expect((await logOf(project, 'note')).map(({ record: { text } }) => text)).toEqual(['foreign']);
    await expectWell(project, lines.map(sha256));
  });

  it('B-27 LTM-21 more than 20 lost records are a note, and are restored when a person decides so', async () => {
    const project = await makeForge();
    for (let i = 0; i < 11; i++) await record(project, '--classification', 'SUCCESS');
    const ids = (await cyclesOf(project)).map(({ id }) => id);
    project.git('clean', '-qfdx', '.forge/memory');
    const { notes, missing } = await expectSaid(project, '', { status: 'intact' });
    expect(missing).toEqual(expect.arrayContaining(ids));
    const count = `${missing.length} records are missing from memory`;
    for (const name of ['verify', 'stats']) {
      const { stdout } = await runForge(project, ['memory', name]);
      expect(stdout.split('\n')[0]).toContain(count);
      expect(stdout).not.toContain('intact');
    }
    expect(notes.join()).toMatch(
      /2\d records written here disappeared; none was restored: forge memory repair/,
    );
    const preview = await runForge(project, ['memory', 'repair', '-n'], { terminal: true });
    expect([preview.exitCode, preview.stdout]).toEqual([
      0,
      expect.stringMatching(
        /none was restored → put the records back; --discard accepts that they are gone\n$/,
      ),
    ]);
    await repair(project);
    await expectWell(project, ids);
  });

  it('B-37 LTM-19 finds a secret that was written by hand, and the hint removes it', async () => {
    const { project, file } = await withCycles();
    const secret = SAMPLES.secret();
    rmSync(project.path(JOURNAL));
    const lines = linesOf(project, file);
    putLines(project, file, relink(lines, (body) => Object.assign(body, { task_id: secret })).slice(0, 1));
    const { problems, exitCode, status } = await verify(project, '--scan');
    expect([exitCode, status, problems.map(({ code }) => code)]).toEqual([5, 'secret', ['secret']]);
    expect(problems[0]).toMatchObject({ file, line: 1 });
    expect(JSON.stringify(problems)).not.toContain(secret);
    await typeHint(project, problems[0]?.hint ?? '');
    expect(await verify(project, '--scan')).toMatchObject({ status: 'intact', exitCode: 0 });
    for (const path of containersOf(project)) expect(project.read(path)).not.toContain(secret);
  });

  it('B-31 LTM-03 line separators inside a text are not line endings', async () => {
    const project = await makeForge();
    await forgeJson(project, ['note', 'add', 'one\u2028two\u2029three']);
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
    expect((await logOf(project, 'note'))[0]?.record.text).toContain('\u2028two\u2029three');
  });

  it('LTM-04 a damaged object of git is named, by doctor once, and can be fetched again', async () => {
    const { project } = await withCycles();
    commit(project);
    const hub = makeFolder();
    project.git('clone', '-q', '--bare', '.', hub);
    project.git('remote', 'add', 'origin', hub);
    const tree = project.git('rev-parse', 'HEAD:.forge/memory/ledger');
    const path = `.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`;
    rmSync(project.path(path));
    project.write(path, 'garbage');
    const { exitCode, stderr } = await runForge(project, ['memory', 'verify']);
    expect([exitCode, stderr]).toEqual([6, expect.stringMatching(`${path}\\) is corrupt\n  → git fsck `)]);
    const { stdout } = await runForge(project, ['doctor']);
    expect(stdout.match(/is corrupt/g)).toHaveLength(1);
    rmSync(project.path(path));
    project.git('fetch', '-q', '--refetch', 'origin');
    expect((await verify(project)).status).toBe('intact');
  });

  it('LTM-21 interactively: verify shows the place and the command, and repair asks for the reason', async () => {
    const { project, file } = await withCycles();
    flipByte(project, file, project.read(file).indexOf('{'));
    const { stdout } = await runForge(project, ['memory', 'verify']);
    expect(stdout).toContain(`${file}:1 (byte 0)`);
    expect(stdout).toContain(`→ ${REPAIR}`);
    const { shown, exitCode } = await atTerminal(project, REPAIR.split(' ').slice(1), [
      ['Do this?', 'cosmic ray\r'],
    ]);
    expect(exitCode, shown).toBe(0);
    expect(shown).toMatch(/not JSON.*restore the file/s);
    expect((await logOf(project, 'audit'))[0]?.record.reason).toBe('cosmic ray');
    expect(await verify(project)).toMatchObject({ status: 'intact' });
    // A person who gives no reason changes nothing.
    const [back = ''] = containersOf(project);
    appendFileSync(project.path(back), 'no record\n');
    const before = bytesOf(project, back);
    const refused = await atTerminal(project, REPAIR.split(' ').slice(1), [['Do this?', '\r']]);
    expect(refused.shown).toContain('Nothing was changed.');
    expect(bytesOf(project, back)).toEqual(before);
    writeFileSync(project.path(back), before.subarray(0, before.length - 10));
    expect(await verify(project)).toMatchObject({ status: 'intact', problems: [] });
  });
});
