import { describe, expect, it } from 'vitest';
import type { CommitCheck, TrustReport } from '../../src/index.js';
import { list } from '../support/checkpoints.js';
import { cycle, noteOf, readyToKeep as ready, sh, storedCycles } from '../support/cycles.js';
import { forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, PROGRESS } from '../support/forge-project.js';
import { commitAll, type Project, writeHook } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const head = (project: Project): string => project.git('rev-parse', 'HEAD');
const status = (project: Project): string => project.git('status', '--porcelain');

describe('[cycle] commit', () => {
  it('GOV-04 commits a changed tree whose checks pass, with its record, in the protocol', async () => {
    const project = await ready('commit');
    await forgeJson(project, ['session', 'start', '--task', 'people sign in']);
    project.git('rm', '-q', 'src/app.js');
    const parent = head(project);
    const work = sh('touch done "odd *name"; mkdir -p new; echo 1 > new/file');
    const result = await cycle(project, ['--task', 'FORGE-001', ...work]);
    expect(result).toMatchObject({ classification: 'SUCCESS', exit: 0, warnings: [] });
    const commit = result.report?.commit;
    expect(commit).toEqual({
      hash: head(project),
      short: project.git('rev-parse', '--short', 'HEAD'),
      subject: '[FORGE-001] Login works',
    });
    expect(noteOf(result, 'report')).toBe(`commit ${commit?.short}`);
    expect([project.git('rev-parse', 'HEAD~1'), status(project)]).toEqual([parent, '']);
    const message = project.git('log', '-1', '--format=%B');
    expect(message).toMatch(
      /^\[FORGE-001\] Login works\n\n## What\n- Cycle 1 SUCCESS: FORGE-001, 1\/1 features passing, \d+ s\n- Passed: test -f done \(FORGE-001\)\n- Files: .*odd \*name/,
    );
    expect(message).toContain('## Why\npeople sign in\n');
    expect(message).toContain('Updated: features.json (FORGE-001 now passing)');
    expect(message).toMatch(/^Forge-Ledger: \d+ [0-9a-f]{64}$/m);
    const checked = await forgeJson<CommitCheck>(project, ['commit', 'check', '--range', 'HEAD~1..HEAD']);
    expect(checked.ok).toBe(true);
    expect(project.read(PROGRESS)).toContain('Cycle 1 SUCCESS');
    expect((await forgeJson<{ status: string }>(project, ['memory', 'verify'])).status).toBe('intact');
    expect((await runForge(project, ['cycle', ...sh('echo 2 > new/file')])).stdout).toMatch(
      /made: commit \w{7}/,
    );
  });

  it('GOV-04 commits nothing by default, with failing checks, or without changes', async () => {
    const project = await ready();
    const before = head(project);
    expect((await cycle(project, sh('touch done'))).report).toMatchObject({ commit: null, checkpoint: null });
    for (const name of ['commit', 'checkpoint'])
      await forgeJson(project, ['config', 'set', `cycle.${name}`, 'true']);
    commitAll(project, '[FORGE] Settings');
    project.git('reset', '-q', '--soft', before);
    project.git('commit', '-qm', '[FORGE] All');
    const all = head(project);
    await forgeJson(project, ['feature', 'add', '--no-run', 'FORGE-002', 'Logout', '--test', 'test -f gone']);
    expect((await cycle(project, sh('echo 1 >> done; exit 3'))).classification).toBe('FAILURE');
    expect((await cycle(project, sh('rm done'))).classification).toBe('REGRESSION');
    expect((await cycle(project, sh(`touch gone; echo >> ${CONFIG}`))).classification).toBe(
      'GOVERNANCE_VIOLATION',
    );
    expect(head(project)).toBe(all);
    // Only memory changed: its commit is the session's.
    commitAll(project, '[FORGE] By hand');
    const last = head(project);
    expect((await cycle(project, ['--task', 'X', '--', 'true'])).report?.commit).toBeNull();
    expect(head(project)).toBe(last);
  });

  it('GOV-04 leaves commits of the command alone', async () => {
    const project = await ready('commit', 'checkpoint');
    const result = await cycle(project, sh('touch done && git add done && git commit -qm "[FORGE] Mine"'));
    expect(result).toMatchObject({ classification: 'SUCCESS', warnings: [] });
    expect(result.report).toMatchObject({ commit: null, checkpoint: 'checkpoint/FORGE-001-v1' });
    expect(project.git('log', '-3', '--format=%s')).toContain('[FORGE] Mine');
  });

  it('GOV-04 restores the index after a refused commit, and the next cycle commits the work', async () => {
    const project = await ready('commit');
    project.write('staged', 'staged\n');
    project.git('add', 'staged');
    const index = project.git('ls-files', '--stage');
    writeHook(project, 'pre-commit', 'echo "no, role $FORGE_ROLE" >&2; exit 1');
    const refused = await cycle(project, sh('touch done; echo more >> staged'));
    expect(refused).toMatchObject({ classification: 'SUCCESS', exit: 0, report: { commit: null } });
    expect(refused.warnings.join()).toMatch(/The cycle is not committed: .*no, role builder.*git commit/);
    expect(project.git('ls-files', '--stage')).toBe(index);
    expect((await storedCycles(project)).length).toBe(1);
    writeHook(project, 'pre-commit', 'exit 0');
    const next = await cycle(project, ['--task', 'FORGE-001', '--', 'true']);
    expect(next.report?.commit?.hash).toBe(head(project));
    expect(status(project)).toBe('');
  });

  it('GOV-04 does not commit a tree that tests changed, or during a git operation', async () => {
    const project = await ready('commit');
    await forgeJson(
      project,
      `feature edit FORGE-001 --no-run --test 'sh -c "date +%N > seen; test -f done"'`,
    );
    const wrote = await cycle(project, sh('touch done'));
    expect(wrote.warnings.join()).toMatch(/changed after it was judged.*\.gitignore/);
    await forgeJson(project, ['feature', 'edit', 'FORGE-001', '--no-run', '--test', 'test -f done']);
    project.write('.git/MERGE_HEAD', `${head(project)}\n`);
    expect((await cycle(project, sh('echo 2 > done'))).warnings.join()).toMatch(/A merge is in progress/);
  });

  it('GOV-04 LTM-13 B-51 does not commit or show a secret', async () => {
    const project = await ready('commit');
    const secret = SAMPLES.secret();
    project.write('.git/text', `key = "${secret}"\n`);
    const result = await cycle(project, sh('touch done; cp .git/text .env'));
    expect(result).toMatchObject({ classification: 'SUCCESS', report: { commit: null } });
    expect(result.warnings.join()).toMatch(/The cycle is not committed: \.env:1: /);
    expect(JSON.stringify(result)).not.toContain(secret);
  });

  it('GOV-04 needs trust for a setting that came with the repository', async () => {
    const project = await ready();
    const text = project.read(CONFIG).replace('#commit = false', 'commit = true');
    project.write(CONFIG, text.replace('#checkpoint = false', 'checkpoint = true'));
    commitAll(project, '[FORGE] Settings');
    const first = await cycle(project, sh('touch done'));
    expect(first.report).toMatchObject({ commit: null, checkpoint: null });
    expect(first.warnings.join('\n')).toMatch(
      /not committed: "forge commit --all" \(\[cycle\] commit\) was not approved here.*forge trust\)\n.*"forge checkpoint create"/,
    );
    const terminal: RunOptions = { terminal: true };
    expect((await runForge(project, ['trust', '--yes'], terminal)).exitCode).toBe(0);
    expect((await forgeJson<TrustReport>(project, ['trust', '--show'])).trusted).toBe(true);
    expect((await cycle(project, sh('echo 2 > done'))).report?.commit?.hash).toBe(head(project));
  });
});

describe('[cycle] checkpoint', () => {
  it('GOV-04 is made only when a feature became passing', async () => {
    const project = await ready('commit', 'checkpoint');
    const result = await cycle(project, sh('touch done'));
    expect(result).toMatchObject({ warnings: [], report: { checkpoint: 'checkpoint/FORGE-001-v1' } });
    const [made] = await list(project);
    expect(made).toMatchObject({ state: 'ok', features_passing: ['FORGE-001'] });
    expect(project.git('merge-base', '--is-ancestor', String(result.report?.commit?.hash), 'HEAD')).toBe('');
    expect(status(project)).toBe('');
    expect((await cycle(project, sh('echo 2 > done'))).report?.checkpoint).toBeNull();
    expect((await forgeJson<{ status: string }>(project, ['memory', 'verify'])).status).toBe('intact');
  });

  it('GOV-04 is refused with a warning for uncommitted files', async () => {
    const project = await ready('checkpoint');
    const result = await cycle(project, sh('touch done'));
    expect(result).toMatchObject({ exit: 0, report: { checkpoint: null, commit: null } });
    expect(result.warnings.join()).toMatch(/The cycle made no checkpoint: 1 file outside .*done/);
    expect(await list(project)).toEqual([]);
  });
});
