import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson } from '../support/forge.js';
import { makePlainProject } from '../support/project.js';
import { init } from '../support/proposals.js';

describe('an init.sh that is there', () => {
  const SCRIPT = '.forge/init.sh';

  it('LAY-02 is kept when the project changed; a new one fits it, and is approved', async () => {
    const project = makePlainProject();
    expect((await init(project)).stack).toBe('none');
    const before = project.read(SCRIPT);
    project.write('go.mod', 'module a\n');
    const kept = await init(project, ['--stack', 'go']);
    expect(kept.kept).toContain(SCRIPT);
    expect(kept.skipped).toContainEqual(expect.stringMatching(/^--stack: \.forge\/init\.sh stays as it is/));
    expect(project.read(SCRIPT)).toBe(before);
    rmSync(project.path(SCRIPT));
    expect((await init(project)).repaired).toEqual([SCRIPT]);
    expect(project.read(SCRIPT)).toContain('part go .');
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(true);
  });

  it('LAY-02 LTM-12 a builder cannot choose a stack', async () => {
    const project = makePlainProject();
    await init(project);
    const builder = { env: { FORGE_ROLE: 'builder' } };
    expect(await forgeError(project, ['init', '--stack', 'node'], builder)).toMatchObject({
      exitCode: 3,
      code: 'role.denied',
    });
  });
});
