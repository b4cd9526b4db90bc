import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { BIN, errorIn, type FailedForge, type Outcome } from './forge.js';
import type { Project } from './project.js';

/** Reads commands, runs the binary as its child for each, and lives until it is ended: as an agent does. */
const AGENT = `
const { spawn } = require('node:child_process');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, dir, args, isShell } = JSON.parse(line);
  const call = [process.execPath, ${JSON.stringify(BIN)}, ...args];
  const shell = ['sh', '-c', '"$@"; exit $?', 'sh', ...call];
  const [program, ...words] = isShell ? shell : call;
  const child = spawn(program, words, { cwd: dir, detached: isShell });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => { stdout += chunk; });
  child.stderr.on('data', (chunk) => { stderr += chunk; });
  child.on('close', (exitCode) => console.log(JSON.stringify({ id, stdout, stderr, exitCode })));
});`;

/** A process of its own that calls forge: what holds a session. Ended with the test. */
export class Agent {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (outcome: Outcome) => void>();
  private calls = 0;

  /** `isShell`: each command in a new shell with a session of its own, which ends with it. */
  constructor(
    private readonly place: Pick<Project, 'dir'>,
    private readonly isShell = false,
  ) {
    this.child = spawn(process.execPath, ['-e', AGENT], { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void this.child.kill('SIGKILL'));
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { id, ...outcome } = JSON.parse(line) as Outcome & { id: number };
      this.waiting.get(id)?.(outcome);
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Never throws. Calls may overlap. */
  run(...args: string[]): Promise<Outcome> {
    const id = this.calls++;
    this.child.stdin?.write(`${JSON.stringify({ id, dir: this.place.dir, args, isShell: this.isShell })}\n`);
    return new Promise((done) => this.waiting.set(id, done));
  }

  /** The JSON value of a command that has to work. */
  async json<T>(...args: string[]): Promise<T> {
    const { stdout, stderr, exitCode } = await this.run(...args, '--json');
    expect({ exitCode, stderr }, `forge ${args.join(' ')}`).toMatchObject({ exitCode: 0 });
    return JSON.parse(stdout) as T;
  }

  /** The error of a command that has to fail. */
  async error(...args: string[]): Promise<FailedForge & Record<string, unknown>> {
    return { ...errorIn(await this.run(...args, '--json')) };
  }

  /** Ends it as a crash does, and waits until the system has forgotten it. */
  kill(): Promise<void> {
    return new Promise((done) => {
      this.child.on('close', () => done());
      this.child.kill('SIGKILL');
    });
  }
}
