import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { formatArgv } from '../../src/core/argv.js';
import { BIN } from './forge.js';

const tmux = (socket: string, ...args: string[]) =>
  spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

export interface Screen {
  /** Lines as they were written: one that the terminal broke is whole. */
  lines: string[];
  /** The same with escape sequences. */
  raw: string;
}

interface Terminal {
  look(): Screen;
  press(keys: string): void;
  ended(): void;
}

/** A command in a terminal of that many columns. */
export function openScreen(
  dir: string,
  args: readonly string[],
  { columns, env = {} }: { columns: number; env?: Record<string, string> },
): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'forge-tmux-'));
  const socket = join(folder, 's');
  onTestFinished(() => {
    tmux(socket, 'kill-server');
    rmSync(folder, { recursive: true, force: true });
  });
  const settings = Object.entries({ TERM: 'screen-256color', ...env }).map(([name, value]) =>
    value === '' ? `unset ${name}` : `export ${name}=${formatArgv([value])}`,
  );
  const call = formatArgv([process.execPath, BIN, ...args]);
  const script = join(folder, 'run.sh');
  writeFileSync(
    script,
    `trap : INT\n${settings.join('\n')}\ncd ${formatArgv([dir])}\n${call}\ntmux -S ${socket} wait-for -S end\nsleep 1000\n`,
  );
  // UTF-8 whatever the locale of the command: the terminal itself can show all.
  tmux(socket, '-u', 'new-session', '-d', '-x', String(columns), '-y', '200', `sh ${formatArgv([script])}`);
  const capture = (...flags: string[]): string =>
    tmux(socket, 'capture-pane', '-p', ...flags, '-J', '-S', '-', '-t', '0').stdout;
  return {
    look: () => ({
      lines: capture()
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
      raw: capture('-e'),
    }),
    press: (keys) => void tmux(socket, 'send-keys', '-t', '0', keys),
    ended: () => void tmux(socket, 'wait-for', 'end'),
  };
}

/** What a terminal of that many columns shows of a command, once it has ended. */
export async function onScreen(
  dir: string,
  args: readonly string[],
  options: { columns: number; env?: Record<string, string> },
): Promise<Screen> {
  const screen = openScreen(dir, args, options);
  screen.ended();
  return screen.look();
}
