import { describe, expect, it } from 'vitest';
import { fixedClock, forgeJson, runForge } from '../support/forge.js';
import {
  CONFIG,
  differences,
  FEATURES,
  FOCUS,
  ISSUES,
  KNOWLEDGE,
  makeStarted,
  PROGRESS,
  snapshot,
} from '../support/forge-project.js';
import { UNSAFE } from '../support/naughty.js';

describe('terminal control in text', () => {
  it('B-06 refuses terminal controls in input', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const before = snapshot(project.dir);
    const evil = [
      '\u001b]0;title\u0007',
      '\u001b]52;c;ZXZpbA==\u0007',
      '\u001b]8;;https://evil.example\u001b\\click\u001b]8;;\u001b\\',
      'safe\revil',
      'abc\u202egnp.exe',
      '\u2067isolated\u2069',
      '\u009b31m',
      'hidden \u{e0041}\u{e0042} tags',
      'zero\u200bwidth',
      'back\bspace',
    ];
    for (const text of evil)
      for (const args of [
        ['progress', 'add', text],
        ['progress', 'next', text],
        ['knowledge', 'add', 'invariant', text],
        ['feature', 'add', 'A', text],
        ['feature', 'add', '--no-run', 'A', 'a', '--test', text],
        ['focus', 'set', '--task', text],
        ['focus', 'set', '--file', text],
        ['session', 'start', '--task', text],
        ['session', 'end', '--learned', text],
        ['config', 'set', 'project.name', text],
        ['feature', 'show', text],
        [text],
        ['feature', text],
        ['config', 'get', text],
        ['-C', text, 'next'],
      ]) {
        const { exitCode, stderr, stdout } = await runForge(project, args);
        expect([args, exitCode, stdout]).toEqual([args, 2, '']);
        expect([args, UNSAFE.test(stderr)]).toEqual([args, false]);
      }
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-06 every command escapes text that got into files in other ways', async () => {
    const project = await makeStarted({ world: fixedClock() });
    const evil = '\u001b]0;owned\u0007\u001b[2J\r\u202e\u009b31m\u200b';
    const world = fixedClock();
    await forgeJson(project, ['feature', 'add', '--no-run', 'A', 'a', '--test', 'true'], { world });
    await forgeJson(project, ['session', 'end', '--no-commit', '--learned', 'x', '--next', 'y'], { world });
    await forgeJson(project, ['session', 'start'], { world });
    project.write(ISSUES, JSON.stringify({ issues: [{ linear_id: `I${evil}`, title: evil, state: evil }] }));
    const features = ['B', 'C'].map((id) => ({
      id,
      name: evil,
      status: 'failing',
      tests: [`echo '${evil}'`],
      blocked_by: id === 'C' ? [evil] : null,
      linear_issue: `I${evil}`,
      verified_at: evil,
      verified_commit: evil,
    }));
    project.write(FEATURES, JSON.stringify({ schema_version: '1.0', features }));
    const learned = { context: evil, approach: evil, issue: evil, resolution: evil, learned_at: evil };
    project.write(
      KNOWLEDGE,
      JSON.stringify({
        schema_version: '1.0',
        patterns: { successful: [learned], failed: [learned] },
        invariants: [evil],
      }),
    );
    project.write(
      FOCUS,
      JSON.stringify({
        task: evil,
        linear_issue: evil,
        files: [evil],
        phase: evil,
        blockers: [evil],
        skill: evil,
        started_at: evil,
      }),
    );
    project.write(PROGRESS, `${project.read(PROGRESS)}[10:00] ${evil}\n\nNEXT: ${evil}\n`);
    project.write(
      CONFIG,
      project
        .read(CONFIG)
        .replace(/^name = .*$/m, `name = ${JSON.stringify(evil)}`)
        .concat(`[${JSON.stringify(evil)}]\nx = 1\n`),
    );
    project.write('.forge/init.sh', `# ${evil}\n`);
    const archive = Object.keys(snapshot(project.path('.forge/memory/sessions'))).find((path) =>
      path.endsWith('.json'),
    );
    const path = `.forge/memory/sessions/${archive}`;
    const { id } = project.json<{ id: string }>(path);
    project.write(
      path,
      JSON.stringify({
        ...project.json(path),
        started_at: evil,
        ended_at: evil,
        branch: evil,
        next: evil,
        learned: [evil],
        failed: [evil],
        goal: evil,
      }),
    );
    for (const args of [
      [],
      ['briefing'],
      ['briefing', '--format', 'markdown'],
      ['next'],
      ['feature', 'list'],
      ['feature', 'show', 'B'],
      ['feature', 'verify', 'B'],
      ['knowledge', 'list'],
      ['focus', 'show'],
      ['progress', 'show'],
      ['session', 'list'],
      ['session', 'status'],
      ['session', 'show', id],
      ['config', 'list'],
      ['config', 'get', 'project.name'],
      ['trust', '--show'],
      ['init'],
      ['session', 'start'],
      ['session', 'end'],
    ]) {
      const { stdout, stderr } = await runForge(project, args, { world });
      expect([args, UNSAFE.exec(stdout + stderr)?.[0]]).toEqual([args, undefined]);
    }
  });
});
