import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { firstCommands, makeShop, retype, type } from '../support/console.js';

const PAGE = fileURLToPath(new URL('../../README.md', import.meta.url));

describe('README.md', () => {
  it('prints what it says, when all of it is typed in its order', async () => {
    const page = readFileSync(PAGE, 'utf8');
    // The two commands that do all the set-up are found by these marks.
    expect(page.match(/^```sh \S+$/gm)).toEqual(['```sh main-job', '```sh tests']);
    const place = makeShop();
    const commands = firstCommands(page);
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
