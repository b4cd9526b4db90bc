import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLOW_MOTION } from './forge.js';
import { HANG, makeFolder, type Project } from './project.js';

/** Whether the system has a program. */
export const has = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;

export interface ShellSpec {
  argv: string[];
  /** Makes it load the completion. */
  setUp: string;
}

export const INTERACTIVE: Record<'bash' | 'zsh' | 'fish', ShellSpec> = {
  bash: { argv: ['bash', '--norc', '--noprofile', '-i'], setUp: 'eval "$(forge complete bash)"' },
  zsh: {
    argv: ['zsh', '-f', '-i'],
    setUp: 'bindkey -e; autoload -Uz compinit; compinit -u -D; eval "$(forge complete zsh)"',
  },
  fish: { argv: ['fish', '--private', '--no-config', '-i'], setUp: 'forge complete fish | source' },
};

/** What a shell prints between two lines of this. */
export interface Session {
  /** The words that the shell made of each line of keys, in which a tab completes. */
  words: string[][];
  /** All that stood on the screen. */
  screen: string;
}

/**
 * Types lines into an interactive shell on a terminal of its own. At the end of each the cursor goes to its beginning, and
 * a program is put in front that writes down the words that it gets.
 */
export async function typeInto(
  { argv, setUp }: ShellSpec,
  project: Project,
  lines: readonly string[],
): Promise<Session> {
  const place = makeFolder();
  const kept = join(place, 'kept');
  const bin = join(place, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'keep'),
    `#!/bin/sh\nfor word; do printf '%s\\0' "$word"; done >> '${kept}'\nprintf '\\n\\0' >> '${kept}'\n`,
  );
  chmodSync(join(bin, 'keep'), 0o755);
  const command = argv.map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: project.dir,
    env: {
      ...process.env,
      ...SLOW_MOTION,
      PATH: `${bin}:${process.env.PATH}`,
      HOME: place,
      XDG_CONFIG_HOME: place,
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      HISTFILE: '/dev/null',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let screen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString();
  });
  const ended = new Promise((done) => child.on('exit', done));
  const read = (): string[][] =>
    (existsSync(kept) ? readFileSync(kept, 'utf8') : '')
      .split('\n\0')
      .slice(0, -1)
      .map((words) => words.split('\0').slice(0, -1));
  const send = async (keys: string, count: number): Promise<void> => {
    child.stdin.write(keys);
    for (const end = Date.now() + HANG / 2; read().length < count; )
      if (Date.now() > end) throw new Error(`${argv[0]} did not run ${JSON.stringify(keys)}:\n${screen}`);
      else await new Promise((done) => setTimeout(done, 20));
  };
  await send(`${setUp}\rkeep ready\r`, 1);
  for (const [i, line] of lines.entries()) await send(`${line}\u0001keep \r`, i + 2);
  child.stdin.end('exit\r');
  await ended;
  return { words: read().slice(1), screen };
}
