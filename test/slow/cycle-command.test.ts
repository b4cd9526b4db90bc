import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cycle, noteOf, ready, refusal, sh, storedCycles } from '../support/cycles.js';
import { runForge } from '../support/forge.js';
import { FEATURES } from '../support/forge-project.js';
import { LEDGER } from '../support/memory.js';
import { makeFolder } from '../support/project.js';

describe('forge cycle', () => {
  it('GOV-01 GOV-02 a command that cannot start makes no cycle and ends a loop', async () => {
    const project = await ready();
    for (const verb of ['cycle', 'loop'])
      expect(await refusal(project, [verb, '--', 'no-such-agent'])).toMatchObject({
        exitCode: 2,
        message: 'no-such-agent: not found; no cycle was recorded.',
      });
    project.write('plain', '');
    expect((await refusal(project, ['cycle', '--', './plain'])).message).toMatch(
      /^\.\/plain: not executable;/,
    );
    expect(await storedCycles(project)).toEqual([]);
    expect((await cycle(project, ['--', 'true'])).warnings).toEqual([]);
    expect(await refusal(project, ['cycle'])).toMatchObject({ exitCode: 2, code: 'cycle.command' });
    expect(await refusal(project, ['cycle', '--task', '../x', '--', 'true'])).toMatchObject({
      exitCode: 2,
    });
  });

  it.each([
    ['edits a ledger', `sed -i 's/"task_id":"A"/"task_id":"B"/' ${LEDGER}/*.jsonl`, /memory/],
    ['changes the settings', `echo '# more' >> .forge/config.toml`, /config\.toml was changed/],
    ['changes init.sh', `echo 'true' >> .forge/init.sh`, /init\.sh was changed/],
    ['weakens its test', `sed -i 's/test -f done/true/' ${FEATURES}`, /the tests of A were changed/],
    ['damages the list of features', `echo '{' > ${FEATURES}`, /damaged by the command/],
  ])(
    'GOV-01 LTM-05 a command that %s broke a rule, whatever its exit code',
    async (_name, script, violation) => {
      const project = await ready();
      await cycle(project, ['--', 'true']);
      const result = await cycle(project, sh(`touch done; ${script}`));
      expect(result.classification).toBe('GOVERNANCE_VIOLATION');
      expect(result.report?.governance_violations).toContainEqual(expect.stringMatching(violation));
      expect(result.exit).not.toBe(0);
    },
  );

  it('B-93 runs the command as a BUILDER in the caller’s environment, with the briefing as a file and on stdin', async () => {
    const project = await ready();
    const env = {
      API_TOKEN: 'kept',
      FORGE_TRUST: 'x'.repeat(64),
      FORGE_ROLE: 'supervisor',
    };
    const out = makeFolder();
    const script = `env > ${out}/env; cat > ${out}/stdin; cat "$FORGE_BRIEFING" > ${out}/file; stat -c %a "$(dirname "$FORGE_BRIEFING")" > ${out}/mode; dirname "$FORGE_BRIEFING" > ${out}/folder`;
    await cycle(project, sh(script), { env });
    const read = (name: string): string => readFileSync(join(out, name), 'utf8');
    expect(read('env')).toMatch(/^API_TOKEN=kept$/m);
    expect(read('env')).toMatch(/^FORGE_ROLE=builder$/m);
    expect(read('env')).toMatch(/^FORGE_TASK=A$/m);
    expect(read('env')).toMatch(/^FORGE_CYCLE=[0-9a-f]{16}$/m);
    expect(read('env')).not.toMatch(/^FORGE_TRUST=/m);
    expect(read('stdin')).toBe(read('file'));
    expect(read('stdin')).toMatch(/FORGE briefing[\s\S]*- Task: "A: a"[\s\S]*FORGE_OBSERVATIONS/);
    expect(read('mode')).toBe('700\n');
    expect(existsSync(read('folder').trim())).toBe(false);
  });

  it('B-92 leaves control sequences out of the shown and the stored output, and keeps its end', async () => {
    const project = await ready();
    const { stderr } = await runForge(project, ['cycle', ...sh(`printf 'a\\033]0;x\\007b\\n'`)]);
    expect(stderr).toContain('  | ab\n');
    await cycle(project, sh('yes abcdefg | head -c 100000'));
    const all = 'abcdefg\n'.repeat(12_500);
    const sha256 = createHash('sha256').update(all).digest('hex');
    expect((await storedCycles(project)).map(({ execution }) => execution.log)).toMatchObject([
      { tail: 'ab\n', bytes: 9 },
      { tail: all.slice(-4096), bytes: 100_000, sha256 },
    ]);
  });

  it('B-92 ends a command at the time limit, and gives it time to handle SIGTERM', async () => {
    const project = await ready();
    const script = `trap 'sleep 0.2; echo saved > saved; exit 0' TERM; while :; do sleep 0.1; done`;
    const result = await cycle(project, ['--timeout', '1', ...sh(script)]);
    expect(result).toMatchObject({ classification: 'FAILURE', exit_code: null, exit: 1 });
    expect(noteOf(result, 'execution')).toBe('sh: stopped after 1 s');
    expect(project.has('saved')).toBe(true);
  });
});
