import { basename } from 'node:path';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { INSTALLS, SCRIPTS } from './complete-scripts.js';
import { SHELLS, type Shell } from './complete-shells.js';
import { type CommandSpec, command, type Group } from './spec.js';
import type { Style } from './style.js';

interface Completion {
  /** Null: the shell at hand is none of those that are known. */
  shell: Shell | null;
  /** The script; only where a shell was named. */
  script?: string;
  install: { shell: Shell; file: string; line: string; note?: string }[];
}

const complete: CommandSpec<Completion> = {
  name: 'complete',
  args: ['[shell]'],
  values: { shell: { words: SHELLS } },
  summary: 'Print the script by which a shell completes forge at TAB; without a shell, where to put it',
  example: 'forge complete bash',
  run: async ({ world }, name) => {
    if (name !== undefined) return scriptOf(name);
    const here = shellIn(world.env);
    return { shell: here, install: (here ? [here] : SHELLS).map(installOf) };
  },
  render: ({ script, shell, install }, style) => script ?? renderInstall(shell, install, style),
};

function scriptOf(name: string): Completion {
  const shell = SHELLS.find((known) => known === name);
  if (shell) return { shell, script: SCRIPTS[shell], install: [installOf(shell)] };
  throw usage(
    'complete.shell',
    `Shell: found ${JSON.stringify(oneLine(name, 40))}, allowed: ${SHELLS.join(' | ')}.`,
    { field: 'shell', hint: 'forge complete' },
  );
}

const installOf = (shell: Shell): Completion['install'][number] => ({ shell, ...INSTALLS[shell] });

/** The shell that a person works with, as far as the environment says. */
function shellIn(env: NodeJS.ProcessEnv): Shell | null {
  const name = basename(env.SHELL ?? '').replace(/^pwsh$/, 'powershell');
  return SHELLS.find((known) => known === name) ?? null;
}

const renderInstall = (shell: Shell | null, install: Completion['install'], style: Style): string =>
  [
    ...install.map(
      ({ shell: name, file, line, note }) =>
        `${name}: put this into ${file}:\n  ${style.command(line)}${note ? `\n  ${style.dim(`(${note})`)}` : ''}`,
    ),
    ...(shell === null ? [] : [style.dim(`Another shell: forge complete ${SHELLS.join(' | ')}`)]),
  ].join('\n');

export const group: Group = { commands: [command(complete)] };
