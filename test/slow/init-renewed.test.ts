import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson } from '../support/forge.js';
import { makePlainProject } from '../support/project.js';
import { init } from '../support/proposals.js';

describe('init.sh that forge wrote', () => {
  const SCRIPT = '.forge/init.sh';

  it('LAY-02 is updated when the project changed, and kept if edited or chosen by a person', async () => {
    const project = makePlainProject();
    expect((await init(project)).stack).toBe('none');
    project.write('go.mod', 'module a\n');
    const renewed = await init(project);
    expect([renewed.renewed, renewed.stack]).toEqual([[SCRIPT], 'go']);
    expect(project.read(SCRIPT)).toContain('part go .');
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(true);
    expect((await init(project)).renewed).toEqual([]);

    expect((await init(project, ['--stack', 'python'])).renewed).toEqual([SCRIPT]);
    expect((await init(project)).renewed).toEqual([]);
    expect(project.read(SCRIPT)).toContain('part python .');

    const edited = `${project.read(SCRIPT)}make db\n`;
    project.write(SCRIPT, edited);
    const kept = await init(project, ['--stack', 'go']);
    expect([kept.renewed, kept.kept.includes(SCRIPT)]).toEqual([[], true]);
    expect(kept.skipped).toContainEqual(
      expect.stringMatching(/^--stack go: \.forge\/init\.sh stays as it is/),
    );
    expect(project.read(SCRIPT)).toBe(edited);
    const crlf = edited.replaceAll('\n', '\r\n');
    project.write(SCRIPT, crlf);
    await init(project);
    expect(project.read(SCRIPT)).toBe(crlf);
  });

  it('LAY-02 LTM-12 a builder cannot update it', async () => {
    const project = makePlainProject();
    await init(project);
    const script = project.read(SCRIPT);
    project.write('go.mod', 'module a\n');
    const builder = { env: { FORGE_ROLE: 'builder' } };
    expect(await forgeError(project, ['init', '--stack', 'node'], builder)).toMatchObject({
      exitCode: 3,
      code: 'role.denied',
    });
    expect((await init(project, [], builder)).renewed).toEqual([]);
    expect(project.read(SCRIPT)).toBe(script);
    expect((await init(project)).renewed).toEqual([SCRIPT]);
  });

  it('LAY-02 B-85 an update does not approve a script that was not approved', async () => {
    const project = makePlainProject();
    await init(project);
    await forgeJson(project, ['trust', '--revoke']);
    project.write('go.mod', 'module a\n');
    expect((await init(project)).renewed).toEqual([SCRIPT]);
    expect((await forgeJson<{ trusted: boolean }>(project, ['trust', '--show'])).trusted).toBe(false);
  });
});
