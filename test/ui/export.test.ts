import { afterAll, describe, expect, it } from 'vitest';
import type { Answers } from '../../src/ui/api.js';
import { escapeMarkdown } from '../../src/ui/export.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { ask, closeBrowser, servePage } from '../support/page.js';
import { makeLived } from '../support/page-project.js';
import { commitAll, makePlainProject } from '../support/project.js';

afterAll(closeBrowser);

describe('forge export', () => {
  it('VIS-03 writes a handoff as Markdown, in which text of memory is no markup', async () => {
    const project = await makeLived();
    await runForge(project, 'kfr patch --add "Constraint:<b>never</b> [charge](http://x) twice | @all # 1"');
    await runForge(project, ['knowledge', 'add', 'failure', 'retrying twice charges twice']);
    await runForge(project, ['note', 'add', 'The owner of the cart: Mira']);
    project.write('next.md', '# A\n\n## Invariants\n\n- Never charge twice\n');
    await runForge(project, ['architecture', 'edit', 'next.md'], { terminal: true });
    const { stdout } = await runForge(project, ['export', 'markdown']);
    for (const part of [
      '## Now',
      'PAY: Payment is retried',
      '## Waits for a person',
      'How long?',
      '- CART: The cart keeps its content: passing, passes since 20',
      '- failure: retrying twice charges twice',
      '- The owner of the cart: Mira',
      '- Never charge twice (approved)',
    ])
      expect(stdout).toContain(part);
    expect(stdout).toContain(
      '&lt;b&gt;never&lt;/b&gt; \\[charge\\]\\(http&#58;//x\\) twice \\| &#64;all \\# 1',
    );
    expect(escapeMarkdown('a\nb `c` *d*')).toBe('a b \\`c\\` \\*d\\*');
  });

  it('VIS-03 leaves out where the project is, and keeps the names of other folders', async () => {
    const project = await makeForge();
    const of = (here: string) => `See\n${here}/a.ts, not ${project.dir}-2 or https://x.org${project.dir}`;
    await forgeJson(project, ['note', 'add', of(project.dir)]);
    const { knowledge } = await forgeJson<Pick<Answers, 'knowledge'>>(project, 'export json');
    expect(knowledge.notes.map(({ text }) => text)).toEqual([of('.')]);
  });

  it('says where there is no .forge/, like any other command', async () => {
    const project = makePlainProject();
    for (const format of ['html', 'markdown', 'json']) {
      const { exitCode, stdout, stderr } = await runForge(project, ['export', format]);
      expect([format, exitCode, stdout]).toEqual([format, 2, '']);
      expect(stderr).toMatch(/^forge: There is no \.forge\/ .*\n {2}→ forge init\n$/);
    }
  });

  it('VIS-03 times of commits are in UTC', async () => {
    const project = await makeForge();
    const seconds = Math.floor(Date.now() / 1000);
    project.write('more.txt', 'more\n');
    process.env.GIT_COMMITTER_DATE = `${seconds} +0530`;
    try {
      commitAll(project, 'More');
    } finally {
      delete process.env.GIT_COMMITTER_DATE;
    }
    const { done } = await forgeJson<Pick<Answers, 'done'>>(project, 'export json');
    const at = new Date(seconds * 1000).toISOString();
    expect(done.done.find(({ text }) => text.endsWith(' More'))).toMatchObject({ at });
  });

  it('B-100 sends the log as a download', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'record', '--task', '=1+1', '--exit-code', '0']);
    const server = await servePage(project);
    const reply = await ask(server, '/api/log.csv', { headers: { authorization: `Bearer ${server.token}` } });
    expect(reply.headers['content-disposition']).toBe('attachment; filename="forge-log.csv"');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    const [head, ...lines] = reply.body.trimEnd().split('\r\n');
    expect(head).toBe('id,tier,n,kind,at,session,text');
    expect(lines.map((line) => line.split(',').at(-1))).toContain("'=1+1 exit 0");
  });
});
