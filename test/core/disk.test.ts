import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../../src/core/disk.js';
import { featuresFile, layoutOf, lockFile } from '../../src/core/paths.js';
import { liveness, self } from '../../src/core/process-identity.js';
import { encodeDocument } from '../../src/core/schema.js';
import type { Feature } from '../../src/feature/rules.js';
import { FEATURES, type Features } from '../../src/feature/store.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const NOTHING: Features = { schema_version: '1.0', features: [] };
const A: Feature = { id: 'A', name: 'a', status: 'failing' };
const SHOWN = '.forge/memory/long-term/features.json';

/** A `.forge/` without git that holds features.json alone. */
function diskIn(root: string, dryRun = false) {
  const layout = layoutOf(root, null);
  const path = featuresFile(layout);
  const disk = new Disk(layout, { me: self, liveness, waitMs: 100 }, dryRun);
  disk.guard = () => {};
  return { disk, layout, path };
}

function withFeatures(content: Buffer | string = encodeDocument(NOTHING), dryRun = false) {
  const root = makeFolder();
  const made = diskIn(root, dryRun);
  mkdirSync(dirname(made.path), { recursive: true });
  writeFileSync(made.path, content);
  return { ...made, root };
}

const addA = (before: Features): Features => ({ ...before, features: [...before.features, A] });
const files = (root: string): string[] =>
  (readdirSync(root, { recursive: true }) as string[])
    .filter((name) => statSync(join(root, name)).isFile())
    .sort();

describe('changing a file', () => {
  it('reads, decides and replaces it, and says what was written', () => {
    const { disk, path, root } = withFeatures();
    expect(disk.update(FEATURES, path, addA).features).toEqual([A]);
    expect(disk.requireDocument(FEATURES, path).value.features).toEqual([A]);
    expect(disk.written).toEqual([SHOWN]);
    expect(files(root)).toEqual([SHOWN]);
  });

  it('writes nothing when nothing changes', () => {
    const { disk, path } = withFeatures();
    const before = statSync(path);
    disk.update(FEATURES, path, (value) => value);
    expect([statSync(path).ino, disk.written]).toEqual([before.ino, []]);
  });

  it.each<[string, (path: string) => void, string | null]>([
    ['replaced it', (path) => writeFileSync(path, 'theirs'), 'theirs'],
    [
      'added a space',
      (path) => writeFileSync(path, `${readFileSync(path, 'utf8')} `),
      `${encodeDocument(NOTHING)} `,
    ],
    ['removed it', (path) => rmSync(path), null],
  ])('B-21 overwrites nothing when another program has %s meanwhile', (_name, meddle, left) => {
    const { disk, path, root } = withFeatures();
    const error = failure(() =>
      disk.update(FEATURES, path, (value) => {
        meddle(path);
        return addA(value);
      }),
    );
    expect(error).toMatchObject({ exit: 3, code: 'file.changed', details: { file: SHOWN } });
    expect(error.message).toBe(`${SHOWN} was changed by another program meanwhile; nothing was written.`);
    expect(existsSync(path) ? readFileSync(path, 'utf8') : null).toBe(left);
    expect(files(root)).toEqual(left === null ? [] : [SHOWN]);
  });

  it('B-21 overwrites nothing when another program has made the file meanwhile', () => {
    const { disk, path } = diskIn(makeFolder());
    const { value, bytes } = disk.readDocument(FEATURES, path, NOTHING);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'theirs');
    expect(failure(() => disk.replace(path, encodeDocument(addA(value)), bytes)).code).toBe('file.changed');
    expect(readFileSync(path, 'utf8')).toBe('theirs');
  });

  it('B-21 goes on when the file was written again with the same bytes', () => {
    const { disk, path } = withFeatures();
    const rewrite = (value: Features): Features => {
      writeFileSync(path, readFileSync(path));
      return addA(value);
    };
    expect(disk.update(FEATURES, path, rewrite).features).toEqual([A]);
  });

  it('B-54 writes nothing once the lock was taken away from it', () => {
    const { disk, layout, path } = withFeatures();
    const overtaken = (value: Features): Features => {
      rmSync(lockFile(layout));
      writeFileSync(lockFile(layout), 'of another one');
      return addA(value);
    };
    expect(failure(() => disk.update(FEATURES, path, overtaken))).toMatchObject({
      exit: 3,
      code: 'lock.lost',
    });
    expect(readFileSync(path)).toEqual(encodeDocument(NOTHING));
    expect(readFileSync(lockFile(layout), 'utf8')).toBe('of another one');
  });

  it('B-19 clears away what a crash left, and does not merge it', () => {
    const { disk, path, root } = withFeatures();
    writeFileSync(`${path}.tmp`, encodeDocument(addA(NOTHING)));
    writeFileSync(join(dirname(path), 'notes.tmp'), 'mine');
    expect(disk.update(FEATURES, path, (value) => ({ ...value, more: 1 })).features).toEqual([]);
    expect(files(root)).toEqual([SHOWN, '.forge/memory/long-term/notes.tmp']);
  });

  it('LAY-08 keeps the older form beside a file that it migrates, and migrates by writing only', () => {
    const old = '{"schema_version": "0", "features": [{"id": "B", "name": "b", "passes": true}]}';
    const { disk, path, root } = withFeatures(old);
    const older = { ...FEATURES, migrations: { 0: (fields: object) => ({ ...fields, features: [] }) } };
    expect(disk.requireDocument(older, path)).toMatchObject({ migratedFrom: '0' });
    expect(readFileSync(path, 'utf8')).toBe(old);
    disk.update(older, path, addA);
    expect(readFileSync(`${path}.v0`, 'utf8')).toBe(old);
    expect(disk.requireDocument(FEATURES, path)).not.toHaveProperty('migratedFrom');
    expect(files(root)).toEqual([SHOWN, `${SHOWN}.v0`]);
  });

  it.each([
    ['LAY-08 B-17', '{"schema_version": "2.0", "features": []}', 3, 'file.newer'],
    ['B-12', '{"schema_version": "1.0", "features": [', 4, 'file.json'],
    ['B-12', '', 4, 'file.json'],
  ])('%s leaves %j as it is', (_id, content, exit, code) => {
    const { disk, path, root } = withFeatures(content);
    expect(failure(() => disk.update(FEATURES, path, addA))).toMatchObject({ exit, code });
    expect([readFileSync(path, 'utf8'), files(root)]).toEqual([content, [SHOWN]]);
  });

  it('LAY-02 names the way back when a file is missing', () => {
    const { disk, path } = diskIn(makeFolder());
    expect(failure(() => disk.requireDocument(FEATURES, path))).toMatchObject({
      exit: 4,
      code: 'file.missing',
      message: `${SHOWN} is missing.`,
      hint: expect.stringMatching(/^forge init/),
    });
  });
});

describe('making a file', () => {
  it('LAY-02 makes what is missing, folders too, and never goes over what is there', () => {
    const { disk, layout, root } = withFeatures();
    const path = join(layout.dir, 'new', 'deep', 'a.txt');
    expect([
      disk.createMoved(path, Buffer.from('first')),
      disk.createMoved(path, Buffer.from('second')),
    ]).toEqual([true, false]);
    expect(diskIn(root).disk.createMoved(path, Buffer.from('third'))).toBe(false);
    expect([readFileSync(path, 'utf8'), disk.written]).toEqual(['first', ['.forge/new/deep/a.txt']]);
  });
});

describe('the lock of a folder', () => {
  it('SES-09 may be asked for again by who has it, and is given back at the end', () => {
    const { disk, layout } = withFeatures();
    const inside = disk.withLock(
      () => disk.withLock(() => existsSync(lockFile(layout))) && existsSync(lockFile(layout)),
    );
    expect([inside, existsSync(lockFile(layout))]).toEqual([true, false]);
  });

  it('SES-09 is taken anew each time', () => {
    const { disk, layout } = withFeatures();
    const seen = [1, 2].map(() => disk.withLock(() => disk.exists(lockFile(layout))));
    expect([seen, disk.exists(lockFile(layout))]).toEqual([[true, true], false]);
  });

  it('SES-09 keeps a second one out', () => {
    const { disk, root } = withFeatures();
    disk.withLock(() => {
      expect(failure(() => diskIn(root).disk.withLock(() => 'in')).code).toBe('lock.held');
    });
    expect(diskIn(root).disk.withLock(() => 'in')).toBe('in');
  });
});

describe('a dry run', () => {
  it('LAY-02 writes nothing, and says what it would', () => {
    const { disk, path, root, layout } = withFeatures(undefined, true);
    const before = readFileSync(path, 'utf8');
    const [fresh, folder] = [join(layout.dir, 'new', 'a.txt'), join(layout.dir, 'more')];
    expect(disk.update(FEATURES, path, addA).features).toEqual([A]);
    disk.replace(fresh, Buffer.from('x'), null);
    expect(disk.createMoved(join(layout.dir, 'b.txt'), Buffer.from('x'))).toBe(true);
    disk.makeFolder(folder);
    disk.remove(path);
    expect([files(root), readdirSync(layout.dir), readFileSync(path, 'utf8')]).toEqual([
      [SHOWN],
      ['memory'],
      before,
    ]);
    expect(disk.written).toEqual([SHOWN, '.forge/new/a.txt', '.forge/b.txt']);
  });
});
