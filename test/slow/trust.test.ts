import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { approve, CHECK, cloneOf, makeClone, pull, show, type Verified, verify } from '../support/clones.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { makeFolder, projectAt } from '../support/project.js';
import { makeForgeRepository, typed, typedError, typedJson, workAndEnd } from '../support/typed.js';

describe('commands that came with a clone', () => {
  it('B-85 runs after a person at a terminal answered yes, and not after no', async () => {
    const { clone, ran } = makeClone();

    const no = await atTerminal(clone, ['trust'], [['on this machine?', 'n\r']]);
    expect(no).toMatchObject({ exitCode: 3 });
    expect(no.shown).toContain('echo ran');
    expect(typedError(clone, verify).code).toBe('trust.needed');

    expect((await approve(clone)).exitCode).toBe(0);
    expect(show(clone).trusted).toBe(true);
    expect(typedJson<Verified>(clone, verify).results[0]?.status).toBe('passing');
    expect(ran()).toBe(1);

    typed(clone, ['trust', '--revoke']);
    expect(typedError(clone, verify).code).toBe('trust.needed');
    expect(ran()).toBe(1);
  });

  it('B-87 runs no script that is too large to show and store', async () => {
    const { origin, clone, ran } = makeClone();
    await approve(clone);
    pull(origin, clone, '.forge/check.sh', `${CHECK}#${'x'.repeat(9 * 1024 * 1024)}\n`);
    expect(typedError(clone, verify).exitCode).not.toBe(0);
    expect(ran()).toBe(0);
  });
});

describe('commands that were entered here', () => {
  it('B-38 runs in linked worktrees of the same repository, but not in another clone or copy', () => {
    const project = makeForgeRepository();
    typed(project, ['feature', 'add', '--no-run', 'F-1', 'Entered', '--test', 'node -e 0']);
    typed(project, verify);
    workAndEnd(project);

    const tree = projectAt(join(makeFolder(), 'tree'));
    project.git('worktree', 'add', '-q', tree.dir);
    typed(tree, verify);

    const copy = projectAt(join(makeFolder(), 'copy'));
    cpSync(project.dir, copy.dir, { recursive: true });
    for (const place of [cloneOf(project), copy])
      expect(typedError(place, verify)).toMatchObject({ exitCode: 3, code: 'trust.needed' });
  });
});
