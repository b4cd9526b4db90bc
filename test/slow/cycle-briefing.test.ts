import { describe, expect, it } from 'vitest';
import { cycle, loop, ready, sh } from '../support/cycles.js';
import { forgeJson, runForge } from '../support/forge.js';
import type { Project } from '../support/project.js';

const TRIES = '.forge/local/tries.json';
const KEEP = 'cat "$FORGE_BRIEFING" > seen';

/** The briefing that the next cycle's command gets. */
async function briefing(project: Project, more = 'true'): Promise<string> {
  await cycle(project, sh(`${KEEP}; ${more}`));
  return project.read('seen');
}

const sectionIn = (text: string, title: string): string =>
  text.split(/^(?=## |--- )/m).find((part) => part.startsWith(`## ${title}\n`)) ?? '';

describe('the briefing of a builder', () => {
  it('GOV-05 has the task in focus, and no workflow of sessions', async () => {
    const project = await ready();
    const text = await briefing(project);
    expect(sectionIn(text, 'Focus')).toMatch(
      /^- Task: A: a\n- Status: not_implemented\n- Tests: test -f done$/m,
    );
    expect(text).not.toMatch(/No task is set|forge log|forge end|forge keeps the memory/);
    const { stdout } = await runForge(project, ['briefing']);
    expect(stdout).toContain('forge log "TEXT"');
    // Only the focus of the cycle's own task is shown.
    await forgeJson(project, ['feature', 'add', '--no-run', 'B', 'b', '--test', 'test -f b']);
    await forgeJson(project, ['focus', 'set', '--task', 'A: a', '--file', 'src/a.ts']);
    await cycle(project, ['--task', 'B', ...sh(KEEP)]);
    expect(project.read('seen')).not.toContain('src/a.ts');
  });

  it('GOV-05 tells how the last try failed, with the end of the output, until the task passes', async () => {
    const project = await ready('sh check.sh');
    project.write(
      'check.sh',
      'for i in $(seq 1 60); do echo "line $i"; done; echo "mail bob@corp-mail.org"; test -f done\n',
    );
    expect(sectionIn(await briefing(project), 'Last try')).toBe('');
    const failed = sectionIn(await briefing(project, 'echo x >> .forge/config.toml; exit 3'), 'Last try');
    expect(failed).toMatch(
      /^- FAILURE\n- Failed: sh check.sh \(A, exit code 1\)\n- The end of its output:\n {2}line 22\n/m,
    );
    expect(failed).toContain('\n  line 60\n  mail ');
    expect(failed).not.toContain('bob@corp');
    expect(project.read(TRIES)).not.toContain('bob@corp');
    const text = await briefing(project, 'touch done');
    const broken = sectionIn(text, 'Last try');
    expect(broken).toMatch(
      /^- GOVERNANCE_VIOLATION\n- Violation: .forge\/config.toml was changed by the command, and put back\n- execution: exit code 3\n/m,
    );
    // The output of a test is quoted data.
    expect(text.indexOf('## Last try')).toBeLessThan(text.indexOf('\n--- end '));
    expect([project.has(TRIES), project.git('status', '--porcelain', '.forge/local')]).toEqual([false, '']);
  });

  it('GOV-02 GOV-05 names a test that did not end in time, in the next cycle of a loop', async () => {
    const project = await ready('sleep 9');
    await forgeJson(project, ['config', 'set', 'features.timeout_seconds', '1']);
    await loop(project, ['--max-failures', '2', ...sh(KEEP)]);
    expect(sectionIn(project.read('seen'), 'Last try')).toContain('Failed: sleep 9 (A, stopped after 1 s)');
  });

  it('GOV-05 survives a file that was damaged', async () => {
    const project = await ready();
    for (const text of ['{', '[1]', '{"A":7}', '{"A":[null]}']) {
      project.write(TRIES, text);
      expect(await cycle(project, ['--', 'true'])).toMatchObject({ classification: 'FAILURE' });
    }
  });
});

describe('a note of a builder', () => {
  it('GOV-05 KNO-02 is a note, also in the next briefing, and no candidate', async () => {
    const project = await ready();
    const question = 'For a person: may the port be public?';
    await cycle(project, sh(`forge note add "${question}"`));
    const { notes } = await forgeJson<{ notes: object[] }>(project, ['note', 'list']);
    expect(notes).toEqual([expect.objectContaining({ text: question, by: 'agent' })]);
    expect((await runForge(project, ['briefing'])).stdout).toContain(`${question} (A) [note `);
    const text = await briefing(project);
    expect(text).toContain(`${question} (A) [note `);
    expect(text).not.toMatch(/C-\d+/);
    expect(text).toContain('forge note add "For a person: TEXT"');
  });
});
