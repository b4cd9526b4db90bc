import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { follow, makeFolder, makePlainProject, run } from '../support/project.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = ['bin', 'dist', 'scripts', 'src', 'templates', 'LICENSE', 'package.json', 'tsconfig.json'];

/** A checkout that may be built without disturbing the other tests. */
function makeCheckout(): string {
  const home = makeFolder();
  for (const part of PARTS) cpSync(join(root, part), join(home, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  return home;
}

/** A checkout with its own copy of the packages that a build needs, below a path that looks like parts of its own. */
function makeAwkwardCheckout(): string {
  const home = join(makeFolder(), 'node_modules', 'src', 'a b', 'forge');
  for (const part of PARTS.filter((name) => name !== 'dist'))
    cpSync(join(root, part), join(home, part), { recursive: true });
  const unused =
    /^(\.cache|\.vite|@biomejs|@typescript|typescript|@oxc.*|@rolldown|rolldown|vite|vitest|lightningcss.*)$/;
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => !unused.test(name)))
    cpSync(join(root, 'node_modules', name), join(home, 'node_modules', name), { recursive: true });
  return home;
}

async function build(home: string): Promise<[number | null, string]> {
  const child = spawn(process.execPath, [join(home, 'scripts/build.mjs'), '--no-types'], { cwd: home });
  const { exitCode, stderr } = await follow(child).ended;
  return [exitCode, stderr];
}

describe('a build', () => {
  it('replaces dist/ as a whole: forge works while it runs', async () => {
    const home = makeCheckout();
    // A build that was killed; no process has this number.
    mkdirSync(join(home, '.build-99999999', 'dist'), { recursive: true });
    const before = readdirSync(home).filter((name) => !name.startsWith('.build-'));
    const project = makePlainProject();
    const forge = () => run(project.dir, process.execPath, [join(home, 'bin/forge.js'), 'schema']);
    const right = forge();
    expect(right.exitCode).toBe(0);
    let open = true;
    const builds = Promise.all([build(home), build(home)]).finally(() => {
      open = false;
    });
    const tries: unknown[] = [];
    while (open) {
      tries.push(forge());
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(await builds).toEqual([
      [0, ''],
      [0, ''],
    ]);
    expect(tries.length).toBeGreaterThan(3);
    // Between two renames there is no dist/ for a moment.
    const others = tries.filter((said) => JSON.stringify(said) !== JSON.stringify(right));
    expect(others.length).toBeLessThanOrEqual(2);
    for (const said of others) expect(said).toMatchObject({ exitCode: 6, stdout: '' });
    expect(forge()).toEqual(right);
    expect(readdirSync(home)).toEqual(before);
  });

  it('works below folders named node_modules, src and "a b"', async () => {
    const home = makeAwkwardCheckout();
    expect(await build(home)).toEqual([0, '']);
    const { stdout, exitCode } = run(home, process.execPath, [join(home, 'bin/forge.js'), '--version']);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^\d/)]);
  });

  it('that fails keeps the previous build', async () => {
    const home = makeCheckout();
    const names = () => readdirSync(join(home, 'dist'), { recursive: true });
    const before = names();
    // The first of the source's files that is bundled needs what is not there.
    cpSync(join(home, 'package.json'), join(home, 'src/index.ts'));
    const [code] = await build(home);
    expect(code).not.toBe(0);
    expect(names()).toEqual(before);
    expect(existsSync(join(home, 'dist/cli/full.cjs'))).toBe(true);
    expect(readdirSync(home).filter((name) => name.startsWith('.build-'))).toEqual([]);
  });
});
