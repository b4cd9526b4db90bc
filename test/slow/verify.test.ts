import type { ChildProcess } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runBinary, startBinary } from '../support/forge.js';
import { expectEnded, isAlive, peakMemory } from '../support/kills.js';
import { follow, type Project } from '../support/project.js';
import { makeForgeRepository, typed } from '../support/typed.js';

interface Result {
  id: string;
  status: string;
  exit_code: number | null;
  command: string;
  failure?: string;
  output?: string;
}

/** A feature F-1 that this shell script has to prove, with a time limit in seconds. */
function makeFeature(script: string, seconds = 3600): Project {
  const project = makeForgeRepository();
  project.write('check.sh', script);
  typed(project, ['config', 'set', 'features.timeout_seconds', String(seconds)]);
  typed(project, ['feature', 'add', '--no-run', 'F-1', 'Checked', '--test', 'sh check.sh']);
  return project;
}

function verify(project: Project, env: NodeJS.ProcessEnv = {}): Result {
  const { stdout } = runBinary(project.dir, ['feature', 'verify', 'F-1', '--json'], { env });
  return (JSON.parse(stdout) as { results: Result[] }).results[0] as Result;
}

describe.skipIf(process.platform !== 'linux')('a test that misbehaves', () => {
  it('B-92 is stopped at its time limit with all its processes, although it ignores every signal that can be ignored', async () => {
    const project = makeFeature(
      "trap '' TERM INT HUP QUIT\necho $$ >main.pid\nsleep 1000 & echo $! >child.pid\necho waiting\nwhile :; do sleep 0.1; done\n",
      1,
    );

    const result = verify(project);

    expect(result).toMatchObject({ status: 'failing', exit_code: null, failure: 'stopped after 1 s' });
    expect(result.output).toContain('waiting');
    await expectEnded(project, 'main.pid', 'child.pid');
  });

  it('B-92 is judged by its own exit code: leftover processes are killed, and one that left the group with the output open blocks nothing', async () => {
    const leave = 'setsid sleep 1000 & echo $! >left.pid';
    const project = makeFeature(`sleep 1000 & echo $! >child.pid\n${leave}\nexit 0\n`);
    expect(verify(project)).toMatchObject({ status: 'passing', exit_code: 0 });
    await expectEnded(project, 'child.pid');
    process.kill(Number(project.read('left.pid')), 'SIGKILL');
  });

  it('B-92 that prints a gigabyte costs bounded memory, and its end is kept', async () => {
    const project = makeFeature('head -c 1000000000 /dev/zero | tr "\\0" x\necho; echo the end\nexit 1\n');
    const child = startBinary(project.dir, ['feature', 'verify', 'F-1', '--json']);
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, peakMemory(child.pid));
    }, 20);
    const { exitCode, stdout } = await follow(child).ended;
    clearInterval(watch);

    expect(exitCode).toBe(1);
    const [result] = (JSON.parse(stdout) as { results: Result[] }).results;
    expect(result).toMatchObject({ status: 'failing', exit_code: 1 });
    expect(result?.output).toMatch(/x\nthe end\n$/);
    expect(Buffer.byteLength(stdout)).toBeLessThan(100_000);
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(300);
  });

  it('B-92 that prints escapes cannot reach the terminal with them', () => {
    const project = makeFeature(
      "printf '\\033]0;owned\\007\\033[2J red \\033[31m\\r\\342\\200\\256'\nexit 1\n",
    );
    const { stdout, stderr, exitCode } = runBinary(project.dir, ['feature', 'verify', 'F-1', '-v']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(' red <U+000D><U+202E>');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e]/);
  });

  it('B-92 is ended with its children when forge is interrupted, and nothing is recorded', async () => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      const project = makeFeature('sleep 1000 & echo $! >child.pid\necho $$ >main.pid\nsleep 1000\n');
      const child = startBinary(project.dir, ['feature', 'verify', 'F-1', '-v']);
      const ended = new Promise((done) => child.on('close', (code, by) => done(code ?? by)));
      while (!project.has('main.pid') || project.read('main.pid') === '')
        await new Promise((go) => setTimeout(go, 20));

      child.kill(signal);

      expect(await ended).toBe(signal === 'SIGINT' ? 130 : signal);
      await expectEnded(project, 'main.pid', 'child.pid');
      expect(typed(project, ['feature', 'show', 'F-1'])).toContain('not_implemented');
    }
  });

  it('B-92 is killed with its children when forge is killed by SIGKILL, and no other process is', async () => {
    const script = 'sleep 1000 & echo $! >child.pid\necho $$ >main.pid\necho ready\nsleep 1000\n';
    const [killed, other] = [makeFeature(script), makeFeature(script)];
    const [child, beside] = [killed, other].map(({ dir }) => startBinary(dir, 'feature verify F-1 -v'));
    const isRunning = (project: Project): boolean => isAlive(Number(project.read('main.pid')));
    // forge watches the group before it can show any output.
    const said = [child, beside].map((forge) => follow(forge as ChildProcess));
    await expect.poll(() => said.every(({ stderr }) => stderr.includes('ready'))).toBe(true);
    expect([isRunning(killed), isRunning(other)]).toEqual([true, true]);

    child?.kill('SIGKILL');

    await expectEnded(killed, 'main.pid', 'child.pid');
    expect(isRunning(other)).toBe(true);
  });
});

describe('the environment of a test', () => {
  it('B-93 has what programs need and no token', () => {
    const project = makeFeature('env >env.txt\ncat >stdin.txt\n');
    const secrets = {
      LINEAR_API_KEY: 'lin_api_secret',
      GITHUB_TOKEN: 'ghp_secret',
      GH_TOKEN: 'ghp_secret2',
      NPM_TOKEN: 'npm_secret',
      AWS_SECRET_ACCESS_KEY: 'aws_secret',
      ANTHROPIC_API_KEY: 'sk_secret',
      FORGE_TRUST: 'trust_secret',
      SSH_AUTH_SOCK: '/tmp/agent_secret',
      NODE_OPTIONS: '--no-warnings',
      GIT_DIR: '/nowhere',
      DATABASE_URL: 'postgres://u:secret@h/db',
    };

    const proxies = {
      HTTPS_PROXY: 'http://ada:secret@proxy:8080',
      http_proxy: 'ada:secret@proxy:3128',
      NO_PROXY: 'localhost,.corp:8080',
      GOPROXY: 'https://ada:secret@go.corp/@v,direct',
    };
    expect(verify(project, { ...secrets, ...proxies, LC_ALL: 'C.UTF-8' })).toMatchObject({
      status: 'passing',
    });

    const env = new Map(
      project
        .read('env.txt')
        .split('\n')
        .map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]),
    );
    expect(Object.keys(secrets).filter((name) => env.has(name))).toEqual([]);
    expect(project.read('env.txt')).not.toContain('secret');
    expect(Object.keys(proxies).map((name) => env.get(name))).toEqual([
      'http://ada@proxy:8080',
      'ada@proxy:3128',
      'localhost,.corp:8080',
      'https://ada@go.corp/@v,direct',
    ]);
    expect(env.get('PATH')).toBe(process.env.PATH);
    expect(env.get('HOME')).toBe(process.env.HOME);
    expect(env.get('LC_ALL')).toBe('C.UTF-8');
    expect(project.read('stdin.txt')).toBe('');
  });
});
