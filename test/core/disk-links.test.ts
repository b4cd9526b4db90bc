import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Disk } from '../../src/core/disk.js';
import { featuresFile, layoutOf } from '../../src/core/paths.js';
import { liveness, self } from '../../src/core/process-identity.js';
import { encodeDocument } from '../../src/core/schema.js';
import { FEATURES, type Features } from '../../src/feature/store.js';
import { failure } from '../support/failure.js';
import { makeFolder } from '../support/project.js';

const NOTHING: Features = { schema_version: '1.0', features: [] };
const more = (before: Features): Features => ({ ...before, more: 1 });

function diskIn(root: string) {
  const layout = layoutOf(root, null);
  const disk = new Disk(layout, { me: self, liveness }, false);
  disk.guard = () => {};
  return { disk, layout, path: featuresFile(layout), root };
}

function diskWith() {
  const made = diskIn(makeFolder());
  mkdirSync(dirname(made.path), { recursive: true });
  writeFileSync(made.path, encodeDocument(NOTHING));
  return made;
}

describe('a link on the way', () => {
  const calls: [string, (disk: Disk, path: string) => unknown][] = [
    ['read', (disk, path) => disk.read(path)],
    ['replace', (disk, path) => disk.replace(path, Buffer.from('x'))],
    ['create', (disk, path) => disk.createMoved(path, Buffer.from('x'))],
    ['make', (disk, path) => disk.makeFolder(dirname(path))],
    ['remove', (disk, path) => disk.remove(path)],
  ];

  it.each(calls)('B-20 that leads out of .forge is not followed to %s something', (_name, call) => {
    const root = makeFolder();
    const outside = makeFolder();
    writeFileSync(join(outside, 'features.json'), 'theirs');
    const { disk, layout, path } = diskIn(root);
    mkdirSync(join(layout.dir, 'memory'), { recursive: true });
    symlinkSync(outside, dirname(path));
    const error = failure(() => call(disk, path));
    expect(error).toMatchObject({ exit: 4, code: 'file.outside' });
    expect(error.message).toBe(`.forge/memory/long-term leads out of the .forge folder (to ${outside}).`);
    expect([readdirSync(outside), readFileSync(join(outside, 'features.json'), 'utf8')]).toEqual([
      ['features.json'],
      'theirs',
    ]);
  });

  it.each(calls.slice(1, 4))(
    'B-20 that leads out higher up gets no folder made when asked to %s',
    (_name, call) => {
      const outside = makeFolder();
      const { disk, layout, path } = diskIn(makeFolder());
      mkdirSync(layout.dir);
      symlinkSync(outside, join(layout.dir, 'memory'));
      expect(failure(() => call(disk, path))).toMatchObject({ exit: 4, code: 'file.outside' });
      expect(readdirSync(outside)).toEqual([]);
    },
  );

  it('B-20 that leads to a folder whose name begins like ours is not followed', () => {
    const root = makeFolder();
    const { disk, layout, path } = diskIn(root);
    mkdirSync(layout.dir);
    mkdirSync(join(root, '.forge-other', 'long-term'), { recursive: true });
    symlinkSync(join(root, '.forge-other'), join(layout.dir, 'memory'));
    expect(failure(() => disk.read(path)).code).toBe('file.outside');
  });

  it('B-20 that stays inside is followed', () => {
    const { disk, layout, path } = diskWith();
    symlinkSync(dirname(path), join(layout.dir, 'short'));
    expect(disk.read(join(layout.dir, 'short', 'features.json'))).toEqual(encodeDocument(NOTHING));
  });

  it('B-20 in the place of the file itself is refused, and its target untouched', () => {
    const { disk, path, root } = diskWith();
    const target = join(root, 'target.json');
    writeFileSync(target, encodeDocument(NOTHING));
    rmSync(path);
    symlinkSync(target, path);
    expect(failure(() => disk.update(FEATURES, path, more))).toMatchObject({ exit: 4, code: 'file.kind' });
    expect(readFileSync(target)).toEqual(encodeDocument(NOTHING));
  });

  it('B-20 in the place of the machine-local folder is refused before a lock is made there', () => {
    const outside = makeFolder();
    const { disk, layout } = diskIn(makeFolder());
    mkdirSync(layout.dir);
    symlinkSync(outside, layout.state);
    expect(failure(() => disk.withLock(() => 'in')).code).toBe('file.outside');
    expect(readdirSync(outside)).toEqual([]);
  });
});
