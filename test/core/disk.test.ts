import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../../src/core/disk.js';
import { featuresFile, layoutOf, lockFile } from '../../src/core/paths.js';
import { encodeDocument } from '../../src/core/schema.js';
import { liveness, self } from '../../src/core/world.js';
import type { Feature } from '../../src/feature/rules.js';
import { FEATURES, type Features } from '../../src/feature/store.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const NOTHING: Features = { schema_version: '1.0', features: [] };
const A: Feature = { id: 'A', name: 'a', status: 'failing' };
const SHOWN = '.forge/memory/long-term/features.json';

/** A `.forge/` without git. */
function diskIn(root: string, dryRun = false) {
  const layout = layoutOf(root, null);
  const disk = new Disk(layout, { me: self, liveness, waitMs: 100 }, dryRun);
  disk.guard = () => {};
  return { disk, layout, path: featuresFile(layout), root };
}

function withFeatures(content: Buffer | string = encodeDocument(NOTHING), dryRun = false) {
  const made = diskIn(makeFolder(), dryRun);
  mkdirSync(dirname(made.path), { recursive: true });
  writeFileSync(made.path, content);
  return made;
}

/** Adds a feature as commands do; `meanwhile` runs between reading and writing. */
function addA({ disk, path }: ReturnType<typeof diskIn>, meanwhile = () => {}): void {
  disk.withLock(() => {
    const { value, bytes } = disk.readDocument(FEATURES, path, NOTHING);
    meanwhile();
    disk.replace(path, encodeDocument({ ...value, features: [...value.features, A] }), bytes);
  });
}

const files = (root: string): string[] =>
  (readdirSync(root, { recursive: true }) as string[])
    .filter((name) => statSync(join(root, name)).isFile())
    .sort();

describe('changing a file', () => {
  it('replaces it and lists the written files', () => {
    const made = withFeatures();
    addA(made);
    expect(made.disk.requireDocument(FEATURES, made.path).value.features).toEqual([A]);
    expect([made.disk.written, files(made.root)]).toEqual([[SHOWN], [SHOWN]]);
  });

  it.each<[string, (path: string) => void, string | null]>([
    ['replaced', (path) => writeFileSync(path, 'theirs'), 'theirs'],
    ['removed', (path) => rmSync(path), null],
  ])('B-21 overwrites nothing when another program %s it meanwhile', (_name, meddle, left) => {
    const made = withFeatures();
    const error = failure(() => addA(made, () => meddle(made.path)));
    expect(error).toMatchObject({ exit: 3, code: 'file.changed', details: { file: SHOWN } });
    expect(error.message).toBe(`${SHOWN} was changed by another program meanwhile; nothing was written.`);
    expect(existsSync(made.path) ? readFileSync(made.path, 'utf8') : null).toBe(left);
    expect(files(made.root)).toEqual(left === null ? [] : [SHOWN]);
  });

  it('B-21 overwrites nothing when another program made the file meanwhile', () => {
    const made = diskIn(makeFolder());
    mkdirSync(dirname(made.path), { recursive: true });
    expect(failure(() => addA(made, () => writeFileSync(made.path, 'theirs'))).code).toBe('file.changed');
    expect(readFileSync(made.path, 'utf8')).toBe('theirs');
  });

  it('B-54 writes nothing after the lock was taken over', () => {
    const made = withFeatures();
    const lock = lockFile(made.layout);
    const takeOver = (): void => {
      rmSync(lock);
      writeFileSync(lock, 'of another process');
    };
    expect(failure(() => addA(made, takeOver))).toMatchObject({ exit: 3, code: 'lock.lost' });
    expect(readFileSync(made.path)).toEqual(encodeDocument(NOTHING));
    expect(readFileSync(lock, 'utf8')).toBe('of another process');
  });

  it.each([
    ['LAY-08 B-17', '{"schema_version": "2.0", "features": []}', 3, 'file.newer'],
    ['B-12', '{"schema_version": "1.0", "features": [', 4, 'file.json'],
    ['B-12', '', 4, 'file.json'],
  ])('%s leaves %j as it is', (_id, content, exit, code) => {
    const made = withFeatures(content);
    expect(failure(() => addA(made))).toMatchObject({ exit, code });
    expect([readFileSync(made.path, 'utf8'), files(made.root)]).toEqual([content, [SHOWN]]);
  });

  it('LAY-02 names the command that restores a missing file', () => {
    const { disk, path } = diskIn(makeFolder());
    const expected = { exit: 4, code: 'file.missing', message: `${SHOWN} is missing.` };
    const error = failure(() => disk.requireDocument(FEATURES, path));
    expect(error).toMatchObject({ ...expected, hint: expect.stringMatching(/^forge init/) });
  });

  it('LAY-02 a dry run writes nothing and lists what it would write', () => {
    const { disk, path, root, layout } = withFeatures(undefined, true);
    disk.withLock(() => disk.replace(path, encodeDocument({ ...NOTHING, features: [A] })));
    disk.replace(join(layout.dir, 'new', 'a.txt'), Buffer.from('x'), null);
    disk.makeFolder(join(layout.dir, 'more'));
    disk.remove(path);
    expect([files(root), readdirSync(layout.dir)]).toEqual([[SHOWN], ['memory']]);
    expect(readFileSync(path)).toEqual(encodeDocument(NOTHING));
    expect(disk.written).toEqual([SHOWN, '.forge/new/a.txt']);
  });
});

describe('the lock of a worktree', () => {
  it('SES-09 nests, keeps others out, and is released at the end', () => {
    const { disk, layout, root } = withFeatures();
    for (let n = 0; n < 2; n++)
      disk.withLock(() => {
        disk.withLock(() => undefined);
        expect(existsSync(lockFile(layout))).toBe(true);
        expect(failure(() => diskIn(root).disk.withLock(() => 'in')).code).toBe('lock.held');
      });
    expect(existsSync(lockFile(layout))).toBe(false);
    expect(diskIn(root).disk.withLock(() => 'in')).toBe('in');
  });
});

describe('a symlink', () => {
  const calls: [string, (disk: Disk, path: string) => unknown][] = [
    ['read', (disk, path) => disk.read(path)],
    ['replace', (disk, path) => disk.replace(path, Buffer.from('x'))],
    ['make', (disk, path) => disk.makeFolder(dirname(path))],
    ['list', (disk, path) => disk.list(dirname(path))],
    ['remove', (disk, path) => disk.remove(path)],
  ];

  it.each(calls)('B-20 to a folder outside .forge is not followed to %s something', (_name, call) => {
    const outside = makeFolder();
    writeFileSync(join(outside, 'features.json'), 'theirs');
    const { disk, layout, path } = diskIn(makeFolder());
    mkdirSync(join(layout.dir, 'memory'), { recursive: true });
    symlinkSync(outside, dirname(path));
    const error = failure(() => call(disk, path));
    expect(error).toMatchObject({ exit: 4, code: 'file.outside' });
    expect(error.message).toBe(`.forge/memory/long-term is reached through a symlink (to ${outside}).`);
    expect([readdirSync(outside), readFileSync(join(outside, 'features.json'), 'utf8')]).toEqual([
      ['features.json'],
      'theirs',
    ]);
  });

  it.each(calls)('B-20 higher up is not followed to %s something', (_name, call) => {
    const outside = makeFolder();
    const { disk, layout, path } = diskIn(makeFolder());
    mkdirSync(layout.dir);
    symlinkSync(outside, join(layout.dir, 'memory'));
    expect(failure(() => call(disk, path))).toMatchObject({ exit: 4, code: 'file.outside' });
    expect(readdirSync(outside)).toEqual([]);
  });

  it('B-20 in place of a file is refused, and its target is unchanged', () => {
    const made = withFeatures();
    const target = join(made.root, 'target.json');
    writeFileSync(target, encodeDocument(NOTHING));
    rmSync(made.path);
    symlinkSync(target, made.path);
    expect(failure(() => addA(made))).toMatchObject({ exit: 4, code: 'file.kind' });
    expect(readFileSync(target)).toEqual(encodeDocument(NOTHING));
  });

  it('B-20 in place of the machine-local folder is refused before a lock is made there', () => {
    const outside = makeFolder();
    const { disk, layout } = diskIn(makeFolder());
    mkdirSync(layout.dir);
    symlinkSync(outside, layout.state);
    expect(failure(() => disk.withLock(() => 'in')).code).toBe('file.outside');
    expect(readdirSync(outside)).toEqual([]);
  });
});
