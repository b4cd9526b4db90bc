import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { BIN } from '../support/forge.js';
import { makeFolder, run } from '../support/project.js';

const SOURCE = 'process.stdout.write("from the source"), ["build", () => {}]';
const COMPILED = 'process.stdout.write("from the cache."), ["build", () => {}]';

/** A package whose cache was made of another text of the same length, which is all of the text that V8 compares. */
function makePackage() {
  const folder = makeFolder('forge-cache-');
  cpSync(dirname(BIN), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist', 'cli'), { recursive: true });
  writeFileSync(join(folder, 'dist', 'cli', 'main.cjs'), SOURCE);
  const bin = join(folder, 'bin', 'forge.js');
  const { caches } = nodeModule.createRequire(import.meta.url)(bin) as { caches: string };
  mkdirSync(caches);
  const cache = join(caches, 'main.v8');
  writeFileSync(cache, new Script(COMPILED).createCachedData());
  return { folder, bin, cache };
}

/** Node 22.1 and newer keep a cache of their own. */
describe.skipIf('enableCompileCache' in nodeModule)('the code that was compiled at build time', () => {
  it('is used by the Node that compiled it', () => {
    const { folder, bin } = makePackage();
    expect(run(folder, process.execPath, [bin])).toMatchObject({ stdout: 'from the cache.', stderr: '' });
  });

  it('is not looked at by another build of the same version, which it could crash', () => {
    const { folder, bin } = makePackage();
    const other = join(folder, 'node');
    copyFileSync(process.execPath, other);
    chmodSync(other, 0o755);
    appendFileSync(other, '\0');
    expect(run(folder, other, [bin])).toMatchObject({ stdout: 'from the source', stderr: '', exitCode: 0 });
  });

  it('is left aside when this Node was taken away after it had started', () => {
    const { folder, bin } = makePackage();
    const other = join(folder, 'node');
    copyFileSync(process.execPath, other);
    chmodSync(other, 0o755);
    writeFileSync(join(folder, 'gone.cjs'), "require('node:fs').unlinkSync(process.execPath);");
    expect(run(folder, other, ['--require', './gone.cjs', bin])).toMatchObject({
      stdout: 'from the source',
      stderr: '',
      exitCode: 0,
    });
  });

  it('is left aside when it is damaged or cut short', () => {
    const { folder, bin, cache } = makePackage();
    const whole = readFileSync(cache);
    for (const bytes of [Buffer.alloc(0), Buffer.from('nonsense'), whole.subarray(0, whole.length / 2)]) {
      writeFileSync(cache, bytes);
      expect(run(folder, process.execPath, [bin])).toMatchObject({
        stdout: 'from the source',
        stderr: '',
        exitCode: 0,
      });
    }
  });
});

/** Node 22.1 and newer: compiled once by themselves, and kept in the temp folder. */
describe.skipIf(!('enableCompileCache' in nodeModule))('the code that Node keeps', () => {
  const name = `forge-compile-cache-${process.getuid?.() ?? 'user'}`;

  const start = (temp: string) => run(temp, process.execPath, [BIN, 'help'], { env: { TMPDIR: temp } });

  it('lies in a folder that is the user’s own', () => {
    const temp = makeFolder();
    expect(start(temp)).toMatchObject({ stderr: '', exitCode: 0 });
    expect(readdirSync(temp)).toEqual([name]);
    expect(statSync(join(temp, name)).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(temp, name), { recursive: true }).length).toBeGreaterThan(1);
  });

  it('is neither looked for nor put where others may write, nor behind a link', () => {
    const temp = makeFolder();
    mkdirSync(join(temp, name));
    chmodSync(join(temp, name), 0o777);
    expect(start(temp)).toMatchObject({ stderr: '', exitCode: 0 });
    expect(readdirSync(join(temp, name))).toEqual([]);
    const [linked, elsewhere] = [makeFolder(), makeFolder()];
    symlinkSync(elsewhere, join(linked, name));
    expect(start(linked)).toMatchObject({ stderr: '', exitCode: 0 });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('is missed by nobody where the temp folder cannot be written to, or is none', () => {
    const file = join(makeFolder(), 'file');
    writeFileSync(file, '');
    const started = run(makeFolder(), process.execPath, [BIN, 'help'], { env: { TMPDIR: file } });
    expect(started).toMatchObject({ stderr: '', exitCode: 0 });
  });
});
