import { describe, expect, it } from 'vitest';
import { stage, working } from '../support/commits.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';

describe('forge commit template', () => {
  it('GIT-02 fills in known parts and leaves the rest open, so that it does not pass unfilled', async () => {
    const empty = await makeForge();
    const { text } = await forgeJson<{ text: string }>(empty, ['commit', 'template']);
    expect(text).toMatch(/^\[FORGE\]\n\n## What\n\n\n## Why\n\n\n## Memory\n- Learned: none\n/);
    expect((await runForge(empty, ['commit', 'check', '-'], { stdin: text })).exitCode).toBe(1);
    const project = await working();
    stage(project);
    const filled = await runForge(project, ['commit', 'template']);
    expect(filled.stdout).toMatch(/^\[FORGE-001\] Wire the login form\n\n## What\n- Add src\/login.js\n/);
    expect((await runForge(project, ['commit', 'check', '-'], { stdin: filled.stdout })).exitCode).toBe(0);
  });

  it('GIT-02 --pr merges the messages of the branch’s commits into one that passes', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    for (const [name, title, learned] of [
      ['a', 'One', 'first'],
      ['b', 'Two', 'second'],
    ] as const) {
      stage(project, `${name}.js`);
      await forgeJson(
        project,
        `commit -m "[SX9-1] ${title}" --why "${title} is wanted" --learned "${learned}"`,
      );
    }
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('## What\n- Add a.js\n- Add b.js\n');
    expect(stdout).toContain('## Why\nOne is wanted\n\nTwo is wanted\n');
    expect(stdout).toContain('- Learned: first\n- Learned: second\n');
    expect(stdout).toContain('- Linear: SX9-1\n');
    expect((await runForge(project, ['commit', 'check', '-'], { stdin: stdout })).exitCode).toBe(0);
  });

  it('GIT-02 --pr has what sessions taught, and of a feature its last state', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['feature', 'add', 'F-9', 'Sign out', '--test', 'test -e src/out']);
    stage(project, 'a.js');
    project.git('add', '.forge');
    await forgeJson(project, ['commit', '-m', 'Begin', '--why', 'wanted']);
    stage(project, 'src/out');
    await forgeJson(project, ['commit', '-m', 'Sign out', '--why', 'wanted']);
    await forgeJson(project, ['done', 'F-9']);
    await forgeJson(project, ['session', 'end', '--learned', 'the cookie outlives the tab']);
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toContain('- Learned: the cookie outlives the tab\n');
    expect(stdout.match(/F-9 \w.*/g)).toEqual(['F-9 now passing)']);
  });

  it('GIT-02 --pr merges commits of another form too, and leaves out those that forge made', async () => {
    const project = await working();
    await forgeJson(project, ['config', 'set', 'commit.style', 'conventional']);
    project.git('switch', '-qc', 'side');
    for (const [name, message] of [
      ['a', 'feat: one'],
      ['b', 'fix: two\n\nTwo was wrong.'],
      ['c', 'chore: session end: one'],
    ] as const) {
      stage(project, `${name}.js`);
      project.git('commit', '-qm', message);
    }
    const { stdout } = await runForge(project, ['commit', 'template', '--pr']);
    expect(stdout).toMatch(
      /^feat: wire the login form\n\n## What\n- feat: one\n- fix: two\n\n## Why\nTwo was wrong\.\n/,
    );
  });

  it('GIT-02 repeats no line of the log that a commit of another branch has', async () => {
    const project = await working();
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['progress', 'add', 'wired the side']);
    stage(project, 'a.js');
    const { message } = await forgeJson<{ message: string }>(project, [
      'commit',
      '-m',
      'One',
      '--why',
      'wanted',
    ]);
    expect(message).toContain('- wired the side\n');
    project.git('switch', '-q', 'main');
    stage(project, 'b.js');
    const { text } = await forgeJson<{ text: string }>(project, ['commit', 'template']);
    expect(text).toMatch(/## What\n- Add b\.js\n/);
  });
});
