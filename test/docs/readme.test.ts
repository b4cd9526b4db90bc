import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeHome, retype, type } from '../support/console.js';

const pageAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const [PAGE, TOUR] = [pageAt('README.md'), pageAt('docs/tour.md')];

/** A project with one test, `npm test`. */
function makeShop() {
  const { cwd: home, env } = makeHome();
  const cwd = join(home, 'shop');
  mkdirSync(cwd);
  writeFileSync(
    join(cwd, 'package.json'),
    '{ "name": "shop", "scripts": { "test": "node login.test.js" } }\n',
  );
  // It fails once, as a test does before there is work.
  const fails = "if (!fs.existsSync('.git/tried')) { fs.writeFileSync('.git/tried', ''); process.exit(1); }";
  writeFileSync(
    join(cwd, 'login.test.js'),
    `const fs = require('fs');\n${fails}\nconsole.log('people can log in');\n`,
  );
  writeFileSync(join(cwd, 'README.md'), '# Shop\n');
  // What is typed lies there as a script.
  const begin =
    'git init -q -b main && echo typed.sh >>.git/info/exclude && git add . && git commit -q -m Shop';
  expect(spawnSync('sh', ['-c', begin], { cwd, env }).status).toBe(0);
  return { cwd, env };
}

describe('README.md and docs/tour.md', () => {
  it('print what they say, when all of it is typed in its order', async () => {
    const page = readFileSync(PAGE, 'utf8');
    const place = makeShop();
    const [, first = ''] = /^```sh\n(forge init [\s\S]*?)^```$/m.exec(page) ?? [];
    // Nobody sits there to be asked.
    const commands = first
      .trim()
      .replace(/^forge init/, 'forge init --yes')
      .split('\n');
    expect(commands.map((command) => command.split(' ', 2).join(' '))).toEqual([
      'forge init',
      'forge feature',
      'forge start',
      'forge log',
      'forge done',
      'git add',
      'forge end',
    ]);
    expect(type(commands, place).at(-1)).toContain('Session end: Login works');
    // `npx vitest run test/docs/readme.test.ts -u` writes what is printed now into the page.
    await expect(retype(page, place)).toMatchFileSnapshot(PAGE);
    await expect(retype(readFileSync(TOUR, 'utf8'), place)).toMatchFileSnapshot(TOUR);
    const [, last = ''] = /^```sh\n(forge agent uninstall [\s\S]*?)^```$/m.exec(page) ?? [];
    type(['git worktree add -q ../tree && forge -C ../tree start -q'], place);
    type(last.trim().split('\n'), place);
    const left = spawnSync(
      'sh',
      [
        '-c',
        'git status --porcelain; git for-each-ref refs/forge refs/tags; ls -A . .git .git/hooks .git/worktrees/tree',
      ],
      place,
    );
    expect(String(left.stdout)).not.toMatch(/forge|claude|^ ?[AMD?]/m);
  });
});
