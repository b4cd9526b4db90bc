import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addTomlItem } from '../../src/core/toml.js';
import type { SupervisorReport } from '../../src/index.js';
import { forgeError, forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, differences, makeForge, makePlainForge, snapshot } from '../support/forge-project.js';
import { logOf, makeKey, record } from '../support/memory.js';
import { makeFolder, type Project } from '../support/project.js';
import { initKey, keyOf, makeMachine, seal, verifySeals } from '../support/seals.js';

const show = (project: Project, machine: RunOptions): Promise<SupervisorReport> =>
  forgeJson(project, ['supervisor', 'show'], machine);
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('forge supervisor init', () => {
  it('LTM-18 makes a key that only this person can read, and names its public half in the settings', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    const before = project.read(CONFIG);
    const { key, keys, last_seal } = await initKey(project, machine);
    const file = keyOf(machine);
    expect(key).toMatchObject({
      file,
      encrypted: false,
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect([mode(file), mode(join(file, '..')), last_seal]).toEqual(['600', '700', null]);
    expect(keys).toEqual([{ fingerprint: key?.fingerprint, public_key: key?.public_key, state: 'known' }]);
    const after = project.read(CONFIG);
    expect(after.replace(`keys = ["${key?.public_key}"]\n`, '')).toBe(before);
    // The public half as openssl has it.
    const der = execFileSync('openssl', ['pkey', '-in', file, '-pubout', '-outform', 'DER']);
    expect(key?.public_key).toBe(`ed25519:${der.subarray(-32).toString('base64')}`);
    expect((await logOf(project, 'audit')).map(({ record: stored }) => stored)).toMatchObject([
      { kind: 'supervisor_key', action: 'added', key: key?.fingerprint, by: 'terminal' },
    ]);
  });

  it('LTM-18 takes the key that is there and never writes over it; again changes nothing', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    mkdirSync(join(keyOf(machine), '..'));
    execFileSync('cp', [makeKey(makeFolder()), keyOf(machine)]);
    const bytes = readFileSync(keyOf(machine));
    const { key } = await initKey(project, machine);
    const config = project.read(CONFIG);
    expect(await initKey(project, machine)).toMatchObject({ key, keys: [{ state: 'known' }] });
    expect([readFileSync(keyOf(machine)), project.read(CONFIG)]).toEqual([bytes, config]);
    expect(await logOf(project, 'audit')).toHaveLength(1);
    const other = await initKey(project, machine, '--key', join(makeFolder(), 'new', 'mine.pem'));
    expect(other.keys.map(({ state }) => state)).toEqual(['known', 'known']);
  });

  it('LTM-18 B-103 is for a human; with a key that is none of the known ones it is nobody', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    const away: RunOptions = { ...machine, terminal: false };
    const init = ['supervisor', 'init'];
    const before = snapshot(project.dir);
    expect(await forgeError(project, init, away)).toMatchObject({ exitCode: 3, code: 'human.required' });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    expect(existsSync(keyOf(machine))).toBe(false);
    // The first key vouches for itself; from then on another one has to be accepted.
    const withKey = (file: string): RunOptions => ({
      ...away,
      env: { ...away.env, FORGE_SUPERVISOR_KEY: file },
    });
    const first = withKey(makeKey(makeFolder()));
    await forgeJson(project, init, first);
    const stranger = withKey(makeKey(makeFolder()));
    for (const call of [init, ['memory', 'seal'], ['memory', 'repair', '--reason', 'x']])
      expect(await forgeError(project, call, stranger)).toMatchObject({ exitCode: 3, code: 'key.unknown' });
    await record(project);
    expect((await seal(project, first)).seal).not.toBeNull();
  });

  it('LTM-14 LTM-18 B-103 a key that somebody just made decides nothing, and is not the first where there was one', async () => {
    const project = await makeForge();
    const { execution } = await record(project);
    const agent = (): RunOptions => ({
      env: { ...makeMachine().env, FORGE_SUPERVISOR_KEY: makeKey(makeFolder()) },
    });
    const reason = ['--reason', 'I say so'];
    const before = snapshot(project.dir);
    for (const call of [
      ['memory', 'override', 'append', 'trust me', ...reason],
      ['memory', 'override', 'reset', 'execution', ...reason],
      ['memory', 'redact', execution.id, ...reason],
      ['memory', 'seal'],
    ])
      expect(await forgeError(project, call, agent())).toMatchObject({ exitCode: 3, code: 'key.unknown' });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
    await initKey(project, makeMachine());
    // Whoever takes the names out of the settings is still not the first.
    project.write(CONFIG, project.read(CONFIG).replace(/^keys = .*$/m, ''));
    expect(await forgeError(project, ['supervisor', 'init'], agent())).toMatchObject({
      exitCode: 3,
      code: 'key.unknown',
    });
  });

  it.each(['init', 'trust', 'retire'])(
    'LTM-18 LTM-14 %s is in the audit ledger before it takes effect, and done by saying it again',
    async (word) => {
      const project = await makeForge();
      const machine = makeMachine();
      const made = word === 'init' ? null : await initKey(project, machine);
      const other = (await initKey(await makeForge(), makeMachine())).key?.public_key ?? '';
      const key = word === 'trust' ? other : (made?.key?.public_key ?? '');
      const call = ['supervisor', word, ...(word === 'init' ? [] : [key, '--reason', 'because'])];
      // What this machine has seen cannot be kept: it is cut off in the middle.
      const state = join(makeFolder(), 'state');
      mkdirSync(join(state, 'forge'), { recursive: true });
      writeFileSync(join(state, 'forge/supervisor'), '');
      const broken = { ...machine, env: { ...machine.env, XDG_STATE_HOME: state } };
      const action = { init: 'added', trust: 'trusted', retire: 'retired' }[word];
      expect((await runForge(project, [...call, '--json'], broken)).exitCode).not.toBe(0);
      const last = async () => (await logOf(project, 'audit')).at(-1)?.record;
      expect(await last()).toMatchObject({ kind: 'supervisor_key', action, by: 'terminal' });
      await forgeJson(project, call, machine);
      const { keys } = await show(project, machine);
      expect(keys.map(({ state: is }) => is)).toContain(word === 'retire' ? 'retired' : 'known');
    },
  );

  it('LTM-18 init says so in the audit ledger whenever nothing there names the key', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    const { key } = await initKey(await makeForge(), machine);
    project.write(CONFIG, addTomlItem(project.read(CONFIG), 'supervisor', 'keys', key?.public_key ?? ''));
    await initKey(project, machine);
    await initKey(project, machine);
    expect((await logOf(project, 'audit')).map(({ record: stored }) => stored)).toMatchObject([
      { kind: 'supervisor_key', action: 'added', key: key?.fingerprint, by: 'terminal' },
    ]);
  });

  it.each([
    ['in the repository', (project: Project) => project.path('key.pem')],
    ['in a folder of it that is not there yet', (project: Project) => project.path('a/b/key.pem')],
    ['in .forge', (project: Project) => project.path('.forge/memory/key.pem')],
    ['in the git dir', (project: Project) => project.path('.git/key.pem')],
    [
      'behind a link that leads there',
      (project: Project) => {
        const link = join(makeFolder(), 'link');
        symlinkSync(project.dir, link);
        return join(link, 'key.pem');
      },
    ],
  ])('LTM-18 refuses a key %s', async (_, place) => {
    const project = await makeForge();
    const file = place(project);
    const before = snapshot(project.dir);
    const call = ['supervisor', 'init', '--key', file];
    expect(await forgeError(project, call, makeMachine())).toMatchObject({
      exitCode: 3,
      code: 'key.unusable',
      message: expect.stringMatching(/would lie in the repository/),
    });
    const changed = differences(before, snapshot(project.dir));
    expect(changed.filter((path) => !path.startsWith('.git/forge/'))).toEqual([]);
    if (file.includes('/a/b/')) return;
    execFileSync('cp', [makeKey(makeFolder()), file]);
    expect((await forgeError(project, call, makeMachine())).message).toMatch(/it lies in the repository/);
  });

  it('LTM-18 with a passphrase: from stdin, or a file that the environment names; wrong or missing it is refused', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    await initKey(project, { ...machine, stdin: 'open sesame\n' }, '--passphrase-stdin');
    expect(readFileSync(keyOf(machine), 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----/);
    execFileSync('openssl', ['pkey', '-in', keyOf(machine), '-passin', 'pass:open sesame', '-noout']);
    expect((await show(project, machine)).key).toMatchObject({ encrypted: true, fingerprint: null });
    await record(project);
    for (const who of [machine, { ...machine, stdin: 'wrong\n' }]) {
      const flags = 'stdin' in who ? ['--passphrase-stdin'] : [];
      expect(await forgeError(project, ['memory', 'seal', ...flags], who)).toMatchObject({
        exitCode: 3,
        code: 'key.passphrase',
      });
    }
    expect((await seal(project, { ...machine, stdin: 'open sesame\n' }, '--passphrase-stdin')).seal?.n).toBe(
      3,
    );
    const kept = join(makeFolder(), 'passphrase');
    writeFileSync(kept, 'open sesame\n');
    chmodSync(kept, 0o600);
    const unlocked = { ...machine, env: { ...machine.env, FORGE_SUPERVISOR_PASSPHRASE_FILE: kept } };
    await record(project);
    expect((await seal(project, unlocked)).seal?.n).toBe(4);
    expect((await show(project, unlocked)).key?.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(await verifySeals(project, machine)).toMatchObject({ exitCode: 0 });
    const text = JSON.stringify(snapshot(project.dir)) + project.read(CONFIG);
    expect(text).not.toContain('sesame');
  });

  it('LTM-18 works without git, and where the list of keys cannot be added to it says so', async () => {
    const project = await makePlainForge();
    const machine = makeMachine();
    await initKey(project, machine);
    await record(project);
    await seal(project, machine);
    expect(await verifySeals(project, machine)).toMatchObject({ exitCode: 0 });
    project.write(CONFIG, 'supervisor = { keys = [] }\n');
    expect(await forgeError(project, ['supervisor', 'init'], makeMachine())).toMatchObject({
      exitCode: 2,
      code: 'config.form',
      hint: expect.stringMatching(/\[supervisor\], add to keys = .*"ed25519:/),
    });
  });
});

describe('[supervisor] keys', () => {
  it('LTM-18 B-94 takes public keys only; a private one is never read from a repository', async () => {
    const project = await makeForge();
    project.write(CONFIG, '[supervisor]\nkey = "/tmp/key.pem"\n');
    const { stderr } = await runForge(project, ['config', 'list']);
    expect(stderr).toMatch(/supervisor\.key cannot be set from a repository; it is ignored/);
    project.write(CONFIG, 'a = 1\n[supervisor]\nkeys = ["x"]\n');
    expect(await forgeError(project, ['config', 'list'])).toMatchObject({ exitCode: 4, line: 3 });
    project.write(CONFIG, '');
    project.write(CONFIG, 'schema_version = 1\n');
    expect(await forgeError(project, ['config', 'set', 'supervisor.keys', 'x'])).toMatchObject({
      exitCode: 2,
      code: 'config.list',
    });
  });
});

describe('forge supervisor show and trust', () => {
  it('LTM-18 show says which keys count, and the last seal', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    expect((await runForge(project, ['supervisor', 'show'], machine)).stdout).toBe(
      'private key: none on this machine\nNo key is named yet: a human runs forge supervisor init\nnothing is sealed yet\n',
    );
    await initKey(project, machine);
    await seal(project, machine);
    const { last_seal, keys } = await show(project, machine);
    expect(last_seal).toMatchObject({ key: keys[0]?.fingerprint, n: 3 });
    expect((await runForge(project, ['memory', 'seal'], machine)).stdout).toBe(
      'Nothing has come since the last seal.\n',
    );
  });

  it('LTM-18 show says what is wrong with a key that cannot be used, and shows the rest', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    await initKey(project, machine);
    const env = { ...machine.env, FORGE_SUPERVISOR_KEY: makeKey(project.dir) };
    const { stdout, stderr, exitCode } = await runForge(project, ['supervisor', 'show'], { ...machine, env });
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/none on this machine\n.*its seals count/)]);
    expect(stderr).toMatch(/ed25519\.pem cannot be used: it lies in the repository/);
  });

  it('LTM-18 trust needs a reason, and a key that is named or written out', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    const { key } = await initKey(project, machine);
    const other = await initKey(await makeForge(), makeMachine());
    const trust = (word: string, ...flags: string[]): string[] => ['supervisor', 'trust', word, ...flags];
    const reason = ['--reason', 'it is mine'];
    expect(await forgeError(project, trust(key?.fingerprint ?? ''), machine)).toMatchObject({ exitCode: 2 });
    for (const word of ['nosuch', '3fa9', other.key?.fingerprint ?? ''])
      expect(await forgeError(project, trust(word, ...reason), machine)).toMatchObject({
        code: 'key.unknown',
      });
    await forgeJson(project, trust(other.key?.public_key ?? '', ...reason), machine);
    expect((await show(project, machine)).keys.map(({ state }) => state)).toEqual(['known', 'known']);
    expect((await logOf(project, 'audit')).at(-1)?.record).toMatchObject({
      kind: 'supervisor_key',
      action: 'trusted',
      reason: 'it is mine',
    });
  });
});

describe('checking a seal by hand', () => {
  it('LTM-18 openssl and jq-free shell say the same (docs/format.md, "Seals")', async () => {
    const project = await makeForge();
    const machine = makeMachine();
    await initKey(project, machine);
    await record(project);
    const { seal: made } = await seal(project, machine);
    const doc = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8');
    const script = /```sh\n(# check-seal[\s\S]*?)```/.exec(doc)?.[1] ?? 'exit 9';
    const { record: line } = await forgeJson<{ record: object }>(project, ['memory', 'show', made?.id ?? '']);
    const run = (input: string): string => {
      try {
        return execFileSync('sh', ['-c', script], {
          input,
          encoding: 'utf8',
          stdio: 'pipe',
          cwd: makeFolder(),
        });
      } catch (error) {
        return `${(error as { stdout: string }).stdout}${(error as { stderr: string }).stderr}`;
      }
    };
    expect(run(JSON.stringify(line))).toMatch(/Signature Verified Successfully/);
    expect(run(JSON.stringify(line).replace('"records":2', '"records":3'))).toMatch(/Verification Failure/);
  });
});
