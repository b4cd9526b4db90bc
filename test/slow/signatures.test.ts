import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SignatureReport } from '../../src/index.js';
import { forgeJson, type RunOptions, runForge } from '../support/forge.js';
import { CONFIG, makeForge } from '../support/forge-project.js';
import { containersOf, HUMAN, linesOf, putLines, record, relink } from '../support/memory.js';
import { commitAll, makeFolder, type Project } from '../support/project.js';
import { has } from '../support/terminal.js';

const SIGNER = 'ada@example.com';

interface Verified {
  status: string;
  exitCode: number | null;
  signatures: SignatureReport[];
  problems: { code: string; message: string; hint: string }[];
}

interface Ended {
  commit: { hash: string; unsigned?: string };
  warnings: string[];
}

/** A key of ssh-keygen, and git set up to sign with it; `trusted`: as one of the allowed signers. */
async function withKey({ passphrase = '', trusted = true } = {}): Promise<{ project: Project; key: string }> {
  const project = await makeForge();
  const key = join(makeFolder(), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', '', '-f', key]);
  writeFileSync(`${key}.allowed`, `${SIGNER} ${readFileSync(`${key}.pub`, 'utf8')}`);
  project.git('config', 'gpg.format', 'ssh');
  project.git('config', 'user.signingKey', key);
  if (trusted) project.git('config', 'gpg.ssh.allowedSignersFile', `${key}.allowed`);
  sign(project);
  return { project, key };
}

const sign = (project: Project): void =>
  project.write(CONFIG, project.read(CONFIG).replace('#sign = false', 'sign = true'));

async function endSession(project: Project, options: RunOptions = {}): Promise<Ended> {
  await record(project);
  await runForge(project, ['session', 'start'], options);
  return forgeJson<Ended & Record<string, never>>(project, ['session', 'end'], options);
}

async function verifySigned(project: Project, options: RunOptions = {}): Promise<Verified> {
  const { stdout, exitCode } = await runForge(project, 'memory verify --signatures --json', options);
  return { ...JSON.parse(stdout), exitCode };
}

const statuses = ({ signatures }: Verified): string =>
  signatures.map(({ kind, status }) => `${kind} ${status}`).join(', ');

/** Every record anew, with fresh links. */
function rewriteLedger(project: Project): void {
  for (const file of containersOf(project)) {
    const rewritten = relink(linesOf(project, file), (body) =>
      Object.assign(body, { seen: [], exit_code: 7 }),
    );
    putLines(project, file, rewritten);
  }
  commitAll(project, 'Tidy up');
}

describe('[git] sign', () => {
  it('LTM-18 has git sign the session-end commit and the checkpoint tag, which name the ledger heads', async () => {
    const { project } = await withKey();
    const { commit, warnings } = await endSession(project);
    expect([commit.unsigned, warnings]).toEqual([undefined, []]);
    expect(project.git('log', '-1', '--format=%G? %GS', commit.hash)).toBe(`G ${SIGNER}`);
    const { tag } = await forgeJson<{ tag: string }>(project, 'checkpoint create X --verify true');
    expect(project.git('cat-file', 'tag', tag)).toContain('BEGIN SSH SIGNATURE');
    const found = await verifySigned(project);
    expect([found.status, found.exitCode, statuses(found)]).toEqual(['intact', 0, 'commit good, tag good']);
    expect(found.signatures).toMatchObject([
      { kind: 'commit', commit: commit.hash, signer: SIGNER, missing: [] },
      { kind: 'tag', ref: tag, signer: SIGNER, heads: 1, missing: [] },
    ]);
    expect(found.signatures[0]?.heads).toBeGreaterThan(0);
    project.git('config', 'trailer.separators', '=');
    expect((await verifySigned(project)).signatures).toEqual(found.signatures);
    const { stdout } = await runForge(project, ['memory', 'verify', '--signatures']);
    expect(stdout).toMatch(
      /✓ commit [0-9a-f]{12} {2}signed by ada@example\.com {2}\d heads?\n✓ checkpoint\/X-v1/,
    );
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('LTM-18 is off by default: nothing is signed, and verify says so', async () => {
    const project = await makeForge();
    project.git('config', 'commit.gpgSign', 'true');
    await endSession(project);
    expect(statuses(await verifySigned(project))).toBe('commit none');
    const { stdout } = await runForge(project, ['memory', 'verify', '--signatures']);
    expect(stdout).toContain('1 commit or tag with ledger heads: not signed');
    expect(await forgeJson(project, ['memory', 'verify'])).not.toHaveProperty('signatures');
  });

  it('LTM-18 omits a signature that needs a passphrase, without waiting, and reports it', async () => {
    const { project } = await withKey({ passphrase: 'open sesame' });
    const started = performance.now();
    const { commit, warnings } = await endSession(project);
    expect(performance.now() - started).toBeLessThan(9000);
    expect(commit.unsigned).toMatch(/passphrase/);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The commit "\[FORGE\] Save memory" is not signed: .*passphrase.* Try at a terminal: git commit-tree -S -m test HEAD\^\{tree\}$/,
      ),
    ]);
    const { stderr, exitCode } = await runForge(project, ['checkpoint', 'create', 'X', '--verify', 'true']);
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/! The tag checkpoint\/X-v1 is not signed: [\s\S]*passphrase/),
    ]);
    expect(statuses(await verifySigned(project))).toBe('commit none, tag none');
  });

  it('LTM-18 stops a signer that waits', async () => {
    const { project, key } = await withKey();
    const program = `${key}.sh`;
    writeFileSync(program, '#!/bin/sh\nsleep 15\n', { mode: 0o755 });
    const config = `${key}.gitconfig`;
    writeFileSync(
      config,
      `[user]\nname = Ada\nemail = ${SIGNER}\n[gpg "ssh"]\nprogram = ${program}\n[init]\ndefaultBranch = main\n`,
    );
    const { commit } = await endSession(project, { env: { GIT_CONFIG_GLOBAL: config } });
    expect(commit.unsigned).toMatch(/did not end in time/);
    expect([project.git('log', '-1', '--format=%H'), project.git('status', '--porcelain')]).toEqual([
      commit.hash,
      '',
    ]);
  });

  it('LTM-18 never runs a signing program that the repository names', async () => {
    const { project } = await withKey();
    project.write('.git/evil', `#!/bin/sh\ntouch ${project.path('.git/ran')}\nexit 1\n`);
    execFileSync('chmod', ['+x', project.path('.git/evil')]);
    project.git('config', 'gpg.ssh.program', project.path('.git/evil'));
    expect((await endSession(project)).commit.unsigned).toBeUndefined();
    expect([statuses(await verifySigned(project)), project.has('.git/ran')]).toEqual(['commit good', false]);
  });
});

describe('forge memory verify --signatures', () => {
  it('LTM-18 does not trust a key that no allowed signer has', async () => {
    const { project } = await withKey({ trusted: false });
    await endSession(project);
    const found = await verifySigned(project);
    expect([found.exitCode, found.signatures]).toMatchObject([
      0,
      [{ status: 'unknown', signer: expect.stringMatching(/^SHA256:/), missing: [] }],
    ]);
  });

  it('LTM-18 finds a commit and a tag that were changed after they were signed', async () => {
    const { project } = await withKey();
    await endSession(project);
    const { tag } = await forgeJson<{ tag: string }>(project, 'checkpoint create X --verify true');
    const forged = execFileSync('git', ['hash-object', '-t', 'tag', '-w', '--stdin'], {
      cwd: project.dir,
      input: `${project.git('cat-file', 'tag', tag)}\n`.replace('Checkpoint', 'Verified'),
      encoding: 'utf8',
    });
    project.git('update-ref', `refs/tags/${tag}`, forged.trim());
    const found = await verifySigned(project);
    expect([found.exitCode, statuses(found)]).toEqual([1, 'commit good, tag bad']);
    expect(found.problems).toMatchObject([
      { code: 'signature_bad', message: expect.stringContaining(tag), hint: `git verify-tag ${tag}` },
    ]);
  });

  it('LTM-18 detects a rewrite of the whole chain, and a repair restores the signed records', async () => {
    const { project } = await withKey();
    await endSession(project);
    await endSession(project);
    rewriteLedger(project);
    // Nothing on this machine knows the former ledger.
    rmSync(project.path('.git/forge'), { recursive: true });
    const found = await verifySigned(project);
    expect(found.exitCode).toBe(4);
    expect(found.problems.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['edited', 'signed_missing']),
    );
    expect(found.problems.find(({ code }) => code === 'signed_missing')).toMatchObject({
      message: expect.stringMatching(
        /rewritten: it lacks \d heads? of commit [0-9a-f]{12}, signed by ada@example\.com$/,
      ),
    });
    expect((await runForge(project, 'memory repair --reason rewritten --json', HUMAN)).exitCode).toBe(0);
    const after = await verifySigned(project);
    expect([after.exitCode, after.signatures.map(({ missing }) => missing)]).toEqual([0, [[], []]]);
  });

  it('LTM-18 LTM-19 does not report redacted records, or those that another branch signed, as missing', async () => {
    const { project } = await withKey();
    const { execution } = await record(project);
    await endSession(project);
    await runForge(project, ['memory', 'redact', execution.id, '--reason', 'x'], HUMAN);
    await endSession(project);
    project.git('switch', '-qc', 'side');
    await endSession(project);
    await forgeJson(project, ['checkpoint', 'create', 'SIDE', '--verify', 'true']);
    project.git('switch', '-q', 'main');
    await endSession(project);
    const { exitCode, signatures } = await verifySigned(project);
    expect([exitCode, signatures.flatMap(({ missing }) => missing)]).toEqual([0, []]);
    expect(signatures.filter(({ kind }) => kind === 'tag')).toEqual([]);
  });
});

describe.runIf(has('gpg'))('with GnuPG', () => {
  const makeGpg = async (passphrase: string): Promise<{ project: Project; machine: RunOptions }> => {
    const project = await makeForge();
    // The path of the agent's socket is limited to about 100 bytes.
    const env = { GNUPGHOME: makeFolder('gpg-') };
    execFileSync('chmod', ['700', env.GNUPGHOME]);
    const options = { env: { ...process.env, ...env }, stdio: 'pipe' as const };
    onTestFinished(() => void execFileSync('gpgconf', ['--kill', 'all'], options));
    const made = ['--batch', '--pinentry-mode', 'loopback', '--passphrase', passphrase];
    execFileSync('gpg', [...made, '--quick-generate-key', `Ada <${SIGNER}>`, 'ed25519', 'sign'], options);
    // What the agent has cached would need no prompt.
    execFileSync('gpgconf', ['--kill', 'gpg-agent'], options);
    project.git('config', 'user.signingKey', SIGNER);
    sign(project);
    return { project, machine: { env } };
  };

  it('LTM-18 signs and verifies; another machine does not know the key', async () => {
    const { project, machine } = await makeGpg('');
    expect((await endSession(project, machine)).commit.unsigned).toBeUndefined();
    await forgeJson(project, ['checkpoint', 'create', 'X', '--verify', 'true'], machine);
    const found = await verifySigned(project, machine);
    expect(found.signatures).toMatchObject([
      { kind: 'commit', status: 'good', signer: `Ada <${SIGNER}>`, missing: [] },
      { kind: 'tag', status: 'good', signer: `Ada <${SIGNER}>`, missing: [] },
    ]);
    const other = { env: { GNUPGHOME: makeFolder('gpg-') } };
    expect(statuses(await verifySigned(project, other))).toBe('commit unknown, tag unknown');
  });

  it('LTM-18 omits a signature that needs a passphrase', async () => {
    const { project, machine } = await makeGpg('open sesame');
    const { commit, warnings } = await endSession(project, machine);
    expect([commit.unsigned, warnings.length]).toEqual([expect.stringMatching(/sign/), 1]);
    expect(statuses(await verifySigned(project, machine))).toBe('commit none');
  });
});
