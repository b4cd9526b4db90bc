import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commit, sealedProject } from '../support/e2e-sealed.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { HUMAN, logOf, record, segmentOf } from '../support/memory.js';
import { makeFolder, type Project, projectAt } from '../support/project.js';
import { forgetAll, initKey, makeMachine, rewriteAll, seal, verifySeals } from '../support/seals.js';

const plain = async (project: Project, machine: RunOptions): Promise<string> =>
  JSON.parse((await runForge(project, ['memory', 'verify', '--json'], machine)).stdout).status;

function cloneOf(project: Project, ...options: string[]): Project {
  const folder = makeFolder();
  projectAt(folder).git('clone', '-q', ...options, project.dir, 'clone');
  return projectAt(`${folder}/clone`);
}

describe('forge memory verify --signatures', () => {
  it('LTM-18 says who vouched for what, and how much came since', async () => {
    const { project, machine } = await sealedProject();
    await record(project);
    await record(project);
    const { status, exitCode, signatures } = await verifySeals(project, machine);
    expect([status, exitCode]).toEqual(['intact', 0]);
    const key = signatures?.keys[0]?.fingerprint;
    expect(signatures?.seals).toMatchObject([
      { key, valid: true, known: true, records: 12, ledgers: { execution: { records: 4, n: 4 } } },
    ]);
    expect(signatures?.unsealed).toEqual({ execution: 2, evaluation: 0, knowledge: 0, audit: 0, notes: 0 });
    const { stdout } = await runForge(project, ['memory', 'verify', '--signatures'], machine);
    expect(stdout).toMatch(
      new RegExp(
        `key ${key} sealed 12 records up to number execution 4, .* on \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\n2 records since are unsealed \\(execution 2\\)`,
      ),
    );
  });

  it('LTM-18 LTM-19 holds over what is redacted later; only the redaction is unsealed then', async () => {
    const { project, machine } = await sealedProject();
    const note = await forgeJson<{ id: string }>(
      project,
      ['note', 'add', 'what should not be kept'],
      machine,
    );
    await seal(project, machine);
    const human = { ...machine, ...HUMAN };
    await forgeJson(project, ['memory', 'redact', note.id, '--reason', 'it was private'], human);
    const { status, signatures } = await verifySeals(project, machine);
    expect([status, signatures?.seals.every(({ valid }) => valid)]).toEqual(['intact', true]);
    expect(signatures?.unsealed).toEqual({ execution: 0, evaluation: 0, knowledge: 0, audit: 1, notes: 0 });
  });

  it('LTM-18 catches a rewrite of the whole chain, which passes as a graph', async () => {
    const { project, machine, public_key } = await sealedProject();
    rewriteAll(project, (line) => (line.kind === 'cycle' ? { ...line, task_id: 'B' } : line));
    expect(await plain(project, machine)).toBe('intact');
    const found = await verifySeals(project, machine);
    expect([found.exitCode, found.status]).toEqual([4, 'corrupted']);
    expect(found.codes.sort()).toEqual(['seal_broken', 'seal_broken', 'seal_broken', 'seal_removed']);
    // Another machine has not seen the seal; the key in the settings is enough.
    const elsewhere = await verifySeals(cloneOf(project), makeMachine());
    expect(elsewhere.codes).toEqual(
      ['seal_broken', 'seal_broken', 'seal_broken'].slice(0, elsewhere.codes.length),
    );
    expect(elsewhere.codes).toContain('seal_broken');
    expect(elsewhere.signatures?.keys).toMatchObject([{ public_key, state: 'known' }]);
  });

  it("LTM-18 LTM-14 a repair names what was sealed as lost, and a human's new seal settles the old one", async () => {
    const { project, machine } = await sealedProject();
    rewriteAll(project, (line) => (line.kind === 'cycle' ? { ...line, task_id: 'B' } : line));
    await verifySeals(project, machine);
    await forgeJson(project, ['memory', 'repair', '--reason', 'nobody has them'], machine);
    expect((await verifySeals(project, machine)).codes).toEqual(['seal_removed']);
    expect(await forgeError(project, ['memory', 'seal'], machine)).toMatchObject({
      exitCode: 3,
      code: 'seal.removed',
    });
    // LTM-14: the key lies where every process of this person finds it; the reason is a human's.
    const agent = { ...machine, terminal: false };
    expect(await forgeError(project, ['memory', 'seal', '--reason', 'all is well'], agent)).toMatchObject({
      exitCode: 3,
      code: 'human.required',
    });
    expect((await verifySeals(project, machine)).codes).toEqual(['seal_removed']);
    await seal(project, machine, '--reason', 'looked into it');
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'seal',
      by: 'terminal',
      reason: 'looked into it',
    });
    expect(await verifySeals(project, machine)).toMatchObject({ status: 'intact', exitCode: 0 });
  });

  it('LTM-18 an edited seal does not hold', async () => {
    const { project, machine } = await sealedProject();
    rewriteAll(project, (line) =>
      line.kind === 'seal' ? { ...line, at: '2026-01-01T00:00:00.000Z' } : line,
    );
    expect(await plain(project, machine)).toBe('intact');
    const { codes, problems, exitCode } = await verifySeals(project, machine);
    expect([exitCode, codes.sort()]).toEqual([4, ['seal_invalid', 'seal_removed']]);
    expect(problems.map(({ message }) => message).join()).toMatch(/its signature does not hold/);
  });

  it('LTM-18 a seal that this machine made or saw is missed; others cannot know of it', async () => {
    const { project, machine } = await sealedProject();
    const other = makeMachine();
    expect((await verifySeals(project, other)).codes).toEqual([]);
    rewriteAll(project, (line) => (line.kind === 'seal' ? null : line));
    for (const who of [machine, other]) {
      const { codes, exitCode } = await verifySeals(project, who);
      expect([codes, exitCode]).toEqual([['seal_removed'], 4]);
    }
    expect((await verifySeals(project, makeMachine())).exitCode).toBe(0);
    // Nothing is vouched for by itself any more.
    await record(project);
    await forgeJson(project, ['session', 'start'], machine);
    const { stderr } = await runForge(project, ['session', 'end'], machine);
    expect(stderr).toMatch(/Not sealed: a seal that this machine knows is gone/);
  });

  it('LTM-18 B-104 a removed override is missed, wherever it was removed from', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    await initKey(project, machine);
    await forgeJson(project, ['feature', 'add', 'A', 'a', '--test', 'false']);
    const call = ['feature', 'edit', 'A', '--status', 'passing', '--reason', 'the device is away'];
    await forgeJson(project, call, machine);
    const file = segmentOf(project, 'audit');
    const lines = project.read(file).split('\n').slice(0, -1);
    expect(lines.at(-1)).toContain('"kind":"feature_override"');
    // From the file alone: the journal has it.
    project.write(file, `${lines.slice(0, -1).join('\n')}\n`);
    expect((await runForge(project, ['memory', 'verify'], HUMAN)).exitCode).toBe(4);
    project.write(file, `${lines.join('\n')}\n`);
    await forgeJson(project, ['memory', 'override', 'acknowledge', '--reason', 'put back'], machine);
    await seal(project, machine);
    rewriteAll(project, (line) => (line.kind === 'feature_override' ? null : line));
    expect(await plain(project, machine)).toBe('intact');
    expect((await verifySeals(project, machine)).codes).toEqual(['seal_broken', 'seal_removed']);
  });

  it('LTM-18 records beside the last one are missed too, where only a count knows of them', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    await initKey(project, machine);
    commit(project);
    project.git('switch', '-qc', 'side');
    await forgeJson(project, ['note', 'add', 'on the side']);
    commit(project);
    project.git('switch', '-q', 'main');
    await forgeJson(project, ['note', 'add', 'on main']);
    commit(project);
    project.git('merge', '-q', '--no-edit', 'side');
    await forgeJson(project, ['note', 'add', 'after the merge']);
    await seal(project, machine);
    commit(project);
    expect((await verifySeals(project, machine)).codes).toEqual([]);
    const [side = ''] = project.git('grep', '-l', 'on the side', '--', '.forge/memory').split('\n');
    rmSync(project.path(side));
    project.git('branch', '-qD', 'side');
    forgetAll(project);
    expect(await plain(project, machine)).toBe('intact');
    expect((await verifySeals(project, machine)).codes).toEqual(['seal_count']);
  });

  it('LTM-18 B-94 a key that came with the repository beside a known one is foreign until a human accepts it', async () => {
    const { project, machine, public_key } = await sealedProject();
    const clone = cloneOf(project);
    const theirs = makeMachine();
    const { key, keys } = await initKey(clone, theirs);
    expect(keys).toHaveLength(2);
    await record(clone);
    await seal(clone, theirs);
    commit(clone);
    project.git('pull', '-q', clone.dir, 'main');
    const { codes, signatures, exitCode, problems } = await verifySeals(project, machine);
    expect([exitCode, codes]).toEqual([4, ['key_foreign']]);
    expect(problems[0]?.hint).toContain(`forge supervisor trust ${key?.public_key}`);
    expect(signatures?.seals.map(({ known }) => known)).toEqual([true, false]);
    expect(signatures?.unsealed.execution).toBe(1);
    const trust = ['supervisor', 'trust', key?.fingerprint ?? '', '--reason', "Ada's laptop"];
    expect(await forgeError(project, trust, { ...machine, terminal: false })).toMatchObject({
      exitCode: 3,
      code: 'human.required',
    });
    await forgeJson(project, trust, machine);
    expect(await verifySeals(project, machine)).toMatchObject({ codes: [], exitCode: 0 });
    expect(project.read(CONFIG)).toContain(public_key);
  });

  it('LTM-18 B-94 a key that was replaced in the settings is missed, and the other one is foreign', async () => {
    const { project, machine, public_key } = await sealedProject();
    const other = await initKey(await makeForge(), makeMachine());
    const theirs = other.key?.public_key ?? '';
    project.write(CONFIG, project.read(CONFIG).replace(public_key, theirs));
    expect((await verifySeals(project, machine)).codes.sort()).toEqual(['key_foreign', 'key_removed']);
    expect(await forgeError(project, ['memory', 'seal'], machine)).toMatchObject({ code: 'key.unknown' });
    project.write(CONFIG, project.read(CONFIG).replace(/^keys = .*$/m, 'keys = []'));
    expect((await verifySeals(project, machine)).codes.sort()).toEqual(
      ['key_foreign', 'key_removed'].slice(1),
    );
    await forgeJson(project, ['supervisor', 'trust', public_key, '--reason', 'put back'], machine);
    expect((await verifySeals(project, machine)).codes).toEqual([]);
  });

  it('LTM-18 a key that a human retired is missed no more, its seals do not count, and putting it back is no way in', async () => {
    const { project, machine, public_key } = await sealedProject();
    const newer = makeMachine();
    await initKey(project, {
      ...machine,
      env: { ...machine.env, ...newer.env, XDG_STATE_HOME: machine.env?.XDG_STATE_HOME },
    });
    await forgeJson(project, ['supervisor', 'retire', public_key, '--reason', 'the laptop is lost'], machine);
    expect(project.read(CONFIG)).not.toContain(public_key);
    expect(await forgeError(project, ['memory', 'seal'], machine)).toMatchObject({ code: 'key.unknown' });
    for (const who of [machine, makeMachine()]) {
      const { codes, signatures } = await verifySeals(project, who);
      expect([codes, signatures?.seals.map(({ known }) => known)]).toEqual([[], [false]]);
      expect(signatures?.unsealed.execution).toBe(3);
    }
    project.write(CONFIG, project.read(CONFIG).replace('\nkeys = [', `\nkeys = ["${public_key}", `));
    expect((await verifySeals(project, machine)).codes).toEqual(['key_foreign']);
  });

  it('LTM-18 is silent where branches, merges, folds and archives only move what was sealed', async () => {
    const { project, machine } = await sealedProject();
    project.git('switch', '-qc', 'work');
    await record(project);
    await seal(project, machine);
    commit(project);
    project.git('switch', '-q', 'main');
    expect((await verifySeals(project, machine)).codes).toEqual([]);
    await record(project);
    await seal(project, machine);
    commit(project);
    project.git('merge', '-q', '--no-edit', 'work');
    await forgeJson(project, ['memory', 'fold']);
    commit(project);
    const { codes, signatures } = await verifySeals(project, machine);
    expect([codes, signatures?.seals.length]).toEqual([[], 3]);
    for (const clone of [cloneOf(project), cloneOf(project, '--depth', '1', '--no-local')])
      expect((await verifySeals(clone, makeMachine())).codes).toEqual([]);
  });
});
