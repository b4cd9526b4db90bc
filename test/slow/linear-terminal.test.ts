import { describe, expect, it } from 'vitest';
import type { Issue, IssueList } from '../../src/index.js';
import { atTerminal } from '../support/e2e-terminal.js';
import { forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { run } from '../support/project.js';

const pty = run('/', 'script', ['--version']).exitCode === 0;

describe.skipIf(!pty)('forge linear at a terminal', () => {
  it('LIN-02 new --template bug asks the questions of the form and refuses wrong answers by rule', async () => {
    const project = await makeForge();
    const { shown, exitCode } = await atTerminal(
      project,
      ['linear', 'new', '--template', 'bug'],
      [
        ['title', 'Save fails\r'],
        ['does not match [BUG] *', '[BUG] Save fails\r'],
        ['reproduction steps', '\r'],
        ['reproduction_steps needs an answer', 'Press save\r'],
        ['expected behavior', 'A file\r'],
        ['actual behavior', '\r'],
        ['git bisect range', 'main..dev\r'],
        ['does not match [a-f0-9]', 'a1b2c3d..e4f5a6b\r'],
      ],
    );
    expect([exitCode, shown]).toEqual([0, expect.stringContaining('LOCAL-1135')]);
    const { issues } = await forgeJson<IssueList>(project, ['linear', 'list']);
    expect(issues).toMatchObject([
      {
        title: '[BUG] Save fails',
        type: 'bug',
        fields: {
          reproduction_steps: 'Press save',
          expected_behavior: 'A file',
          git_bisect_range: 'a1b2c3d..e4f5a6b',
        },
      } satisfies Partial<Issue>,
    ]);
  });
});
