import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { displayWidth } from '../../src/cli/style.js';
import { formatArgv } from '../../src/core/argv.js';
import { BIN, forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { makeFolder, type Project } from '../support/project.js';

const tmux = (socket: string, ...args: string[]) =>
  spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });

const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** A command in a terminal of that many columns. */
function openScreen(
  dir: string,
  args: readonly string[],
  { columns, env }: { columns: number; env: Record<string, string> },
) {
  const folder = makeFolder('forge-tmux-');
  const socket = join(folder, 's');
  onTestFinished(() => void tmux(socket, 'kill-server'));
  const settings = Object.entries({ TERM: 'screen-256color', ...env }).map(([name, value]) =>
    value === '' ? `unset ${name}` : `${name}=${formatArgv([value])}`,
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
    /** Lines as they were written: one that the terminal broke is whole. `raw` has escape sequences. */
    look: () => ({
      lines: capture()
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd()),
      raw: capture('-e'),
    }),
    press: (keys: string) => void tmux(socket, 'send-keys', '-t', '0', keys),
    ended: () => void tmux(socket, 'wait-for', 'end'),
  };
}

/** What a terminal of that many columns shows of a command, once it has ended. */
function onScreen(
  dir: string,
  args: readonly string[],
  options: { columns: number; env: Record<string, string> },
) {
  const screen = openScreen(dir, args, options);
  screen.ended();
  return screen.look();
}

if (!hasTmux) process.stderr.write('SKIPPED: tmux is not installed, no screen of a terminal was looked at\n');

const WIDTHS = [20, 40, 60, 80, 160];
const COMMANDS = [
  ...[[], ['status'], ['session', 'start'], ['feature', 'list'], ['next'], ['session', 'list']],
  ...['memory log', 'checkpoint list'].map((line) => line.split(' ')),
];
const WIDE_NAME = '登录页面 👩‍💻 works: a long name that no narrow terminal has room for in one line of it';

async function worked(): Promise<Project> {
  const project = await makeForge();
  await forgeJson(project, ['feature', 'add', '--no-run', 'FORGE-001', WIDE_NAME, '--test', 'true']);
  await forgeJson(project, ['feature', 'add', 'FORGE-2', 'Short']);
  await forgeJson(project, ['session', 'start', '--task', WIDE_NAME]);
  await forgeJson(project, ['progress', 'next', WIDE_NAME]);
  await forgeJson(project, ['session', 'end']);
  project.write('src/app.js', 'changed\n');
  return project;
}

describe.skipIf(!hasTmux)('screens of a terminal', () => {
  const UTF8 = { LANG: 'C.UTF-8', LC_ALL: '', NO_COLOR: '1' };

  it.each(WIDTHS)(
    'VIS-01 at %i columns no line but a command is wider, and none has an escape without colour',
    async (columns) => {
      const project = await worked();
      for (const args of COMMANDS) {
        const { lines, raw } = onScreen(project.dir, args, { columns, env: UTF8 });
        // Joined lines: what the terminal itself had to break would be wider.
        const wide = lines.filter(
          (line) => displayWidth(line) > columns && !/\b(?:forge|git) [a-z]/.test(line),
        );
        expect([args, wide]).toEqual([args, []]);
        expect([args, raw.includes('\u001b')]).toEqual([args, false]);
        expect([args, lines.join('')]).not.toEqual([args, '']);
      }
    },
  );

  it.each([60, 80, 160])('VIS-01 forge watch draws one panel again at %i columns', async (columns) => {
    const project = await worked();
    const screen = openScreen(project.dir, ['watch'], { columns, env: UTF8 });
    const text = (): string => screen.look().lines.join('\n');
    await expect.poll(text).toContain('Ctrl-C ends');
    await forgeJson(project, ['feature', 'add', 'FORGE-3', 'Came later']);
    await expect.poll(text).toContain('3 features');
    const { lines, raw } = screen.look();
    expect(lines.filter((line) => displayWidth(line) > columns)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('Project'))).toHaveLength(1);
    expect(raw).not.toContain('\u001b');
    screen.press('C-c');
    screen.ended();
    // The last panel stays, on the screen where it was started.
    expect(text()).toContain('3 features');
  });

  it('VIS-01 colours by meaning at a terminal', async () => {
    const project = await worked();
    const coloured = onScreen(project.dir, ['status'], { columns: 80, env: { ...UTF8, NO_COLOR: '' } });
    expect(coloured.raw).toContain('\u001b[33m◐');
  });
});
