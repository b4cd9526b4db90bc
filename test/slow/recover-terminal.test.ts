import { describe, expect, it } from 'vitest';
import { atTerminal } from '../support/e2e-terminal.js';
import { breakThings, differsFrom, files, withCheckpoint } from '../support/recovery.js';

describe('forge recover at a terminal', () => {
  it('GIT-06 shows the table and asks; no changes nothing, yes rolls back', async () => {
    const project = await withCheckpoint();
    await breakThings(project);
    const before = files(project);
    const refused = await atTerminal(project, ['recover'], [['Roll back?', 'n\r']]);
    expect([refused.exitCode, files(project)]).toEqual([3, before]);
    expect(refused.shown).toContain('FORGE-001');
    const agreed = await atTerminal(project, ['recover'], [['Roll back?', 'y\r']]);
    expect([agreed.exitCode, differsFrom(project, 'checkpoint/APP-1-v1')]).toEqual([0, '']);
    expect(agreed.shown.split('since then:')).toHaveLength(2);
    const undone = await atTerminal(project, ['recover', '--undo'], [['Bring back', 'y\r']]);
    expect([undone.exitCode, files(project)]).toEqual([0, before]);
  });
});
