import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Recalled } from '../../src/index.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { makeForge, makeStarted } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

const INDEX = '.forge/local/recall.db';

const recall = (project: Project, ...args: string[]): Promise<Recalled> =>
  forgeJson(project, ['recall', ...args]);

const texts = async (project: Project, ...args: string[]): Promise<string[]> =>
  (await recall(project, ...args)).hits.map(({ text }) => text);

const note = (project: Project, text: string): Promise<{ id: string }> =>
  forgeJson(project, ['note', 'add', text]);

/** Where the index is, made by a first query. */
async function makeIndexed(): Promise<Project & { index: string }> {
  const project = await makeForge();
  await note(project, 'The heron build needs a warm cache');
  await note(project, 'Egrets are released on Fridays');
  expect(await texts(project, 'heron')).toHaveLength(1);
  const index = `${project.dir}/${INDEX}`;
  expect(existsSync(index)).toBe(true);
  return { ...project, index };
}

/** No file can be made in local/ any more. */
function blockIndex(project: Project): void {
  rmSync(`${project.dir}/.forge/local`, { recursive: true, force: true });
  writeFileSync(`${project.dir}/.forge/local`, 'in the way');
}

describe('the search index', () => {
  it('AGT-03 finds new records and drops removed ones, as does a search without it', async () => {
    const project = await makeIndexed();
    const { id } = await note(project, 'The heron build was moved to Monday');
    await forgeJson(project, ['session', 'start']);
    await forgeJson(project, ['progress', 'add', 'taught the heron build to fly']);
    await forgeJson(project, ['session', 'end', '--next', 'paint the heron']);
    project.write('b.txt', 'b');
    project.git('add', 'b.txt');
    project.git('commit', '-qm', 'Feed the heron');
    const found = (await recall(project, 'heron', '--limit', '50')).hits.map(({ source, text }) => [
      source,
      text,
    ]);
    expect(found).toEqual(
      expect.arrayContaining([
        ['note', 'The heron build needs a warm cache'],
        ['note', 'The heron build was moved to Monday'],
        ['session', 'taught the heron build to fly'],
        ['session', 'NEXT: paint the heron'],
        ['commit', 'Feed the heron'],
      ]),
    );
    expect(found.filter(([, text]) => text === 'NEXT: paint the heron')).toHaveLength(1);
    project.git('reset', '-q', '--hard', 'HEAD~1');
    expect((await recall(project, 'heron', '--limit', '50')).hits.map(({ source }) => source)).not.toContain(
      'commit',
    );
    expect(project.git('status', '--porcelain', '--', INDEX)).toBe('');
    await forgeJson(project, ['note', 'remove', id]);
    const left = await texts(project, 'heron', 'build');
    expect(left).not.toContain('The heron build was moved to Monday');
    blockIndex(project);
    expect(await texts(project, 'heron', 'build')).toEqual(left);
  });

  it('AGT-03 finds a line of a session that was resumed once', async () => {
    const project = await makeIndexed();
    const other = { holder: agent('other'), liveness: () => 'gone' as const };
    await forgeJson(project, ['session', 'start'], { world: other });
    await forgeJson(project, ['progress', 'add', 'an osprey was seen'], { world: other });
    await forgeJson(project, 'session start --resume latest', { world: { liveness: () => 'gone' } });
    await forgeJson(project, ['progress', 'add', 'the osprey was fed']);
    expect((await texts(project, 'osprey')).sort()).toEqual(['an osprey was seen', 'the osprey was fed']);
    await forgeJson(project, ['session', 'end']);
    expect((await texts(project, 'osprey')).sort()).toEqual(['an osprey was seen', 'the osprey was fed']);
  });

  it('AGT-03 does not find a commit by the words of the one that it replaced', async () => {
    const project = await makeIndexed();
    for (let i = 0; i < 12; i++) await note(project, `Egret ${i} was counted`);
    project.git('commit', '-q', '--allow-empty', '--amend', '-m', 'Count the ospreys');
    expect(await texts(project, 'ospreys')).toEqual(['Count the ospreys']);
    project.git('commit', '-q', '--allow-empty', '--amend', '-m', 'Feed the kingfishers');
    expect(await texts(project, 'kingfishers')).toEqual(['Feed the kingfishers']);
    expect((await runForge(project, ['recall', 'ospreys'])).exitCode).toBe(1);
  });

  it('LTM-19 no longer finds a redacted record, and its words are not in the file', async () => {
    const project = await makeIndexed();
    const { id } = await note(project, 'the heronry stands at Xyzzyville');
    expect(await texts(project, 'xyzzyville')).toHaveLength(1);
    await runForge(project, ['memory', 'redact', id, '--reason', 'private', '--yes'], { terminal: true });
    expect(await texts(project, 'xyzzyville', 'heron')).not.toContain('the heronry stands at Xyzzyville');
    expect(readFileSync(project.index).toString('latin1').toLowerCase()).not.toContain('xyzzyville');
  });

  it('AGT-03 gives the same answers as a full scan', async () => {
    const project = await makeStarted();
    for (let i = 0; i < 30; i++)
      await forgeJson(
        project,
        `progress add "step ${i}: ${i % 3 === 0 ? 'heron' : 'egret'} work on part ${i % 7}"`,
      );
    await forgeJson(project, ['session', 'end']);
    const notes = ['heron parts are cached', 'egret !(parts) are not', 'src/heron.ts exports heronPart'];
    for (const text of notes) await note(project, text);
    const queries = [
      'heron',
      'egret part',
      'src/heron.ts',
      'tier:note part',
      '"are cached" heron',
      'cached step 3',
      'tier:note',
      '"!("',
    ];
    const ask = (): Promise<unknown[]> =>
      Promise.all(queries.map(async (query) => [query, (await recall(project, query)).hits]));
    const indexed = await ask();
    blockIndex(project);
    expect(await ask()).toEqual(indexed);
    expect(JSON.stringify(indexed)).not.toContain('[]]');
  });

  const damages: [string, (index: string) => void][] = [
    ['cut in half', (index) => truncateSync(index, Math.floor(statSync(index).size / 2))],
    ['cut to nothing', (index) => truncateSync(index, 0)],
    ['overwritten', (index) => writeFileSync(index, 'this is no database'.repeat(1000))],
    ['removed', (index) => rmSync(index)],
    [
      'of another version',
      (index) => {
        const bytes = readFileSync(index);
        // SQLite reads the schema version from here, and its text from the first page.
        const at = bytes.indexOf('CREATE TABLE facts');
        bytes.write('CREATE TABLE faxts', at, 'latin1');
        writeFileSync(index, bytes);
      },
    ],
    [
      'brought by a clone',
      (index) => {
        copyFileSync(index, `${index}.copy`);
        rmSync(index);
        execFileSync('mv', [`${index}.copy`, index]);
      },
    ],
    [
      'a link',
      (index) => {
        rmSync(index);
        symlinkSync('/etc/passwd', index);
      },
    ],
  ];
  it.each(damages)('AGT-03 rebuilds an index that was %s', async (_, damage) => {
    const project = await makeIndexed();
    damage(project.index);
    const { hits, index } = await recall(project, 'heron');
    expect([hits.map(({ text }) => text), index.fresh]).toEqual([
      ['The heron build needs a warm cache'],
      true,
    ]);
    expect(await texts(project, 'egret')).toEqual(['Egrets are released on Fridays']);
    expect(readFileSync('/etc/passwd', 'utf8')).toContain('root');
  });

  it('AGT-03 answers two concurrent queries', async () => {
    const project = await makeForge();
    await note(project, 'The heron build needs a warm cache');
    const found = await Promise.all(Array.from({ length: 4 }, () => texts(project, 'heron')));
    expect(found).toEqual(Array.from({ length: 4 }, () => ['The heron build needs a warm cache']));
  });
});
