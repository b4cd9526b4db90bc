import { basename } from 'node:path';
import { oneOf } from '../core/text.js';
import { completionScript, schemaNames, schemaOf } from '../index.js';
import { command, type Group } from './spec.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** `shell` is null if the current one is not supported, and the script is there only if a shell was named. */
interface Completion {
  shell: Shell | null;
  script?: string;
  install: { shell: Shell; file: string; line: string }[];
}

/** The line that sets up completion, and the file that it belongs in. */
const INSTALLS: Record<Shell, { file: string; line: string }> = {
  bash: { file: '~/.bashrc', line: 'eval "$(forge complete bash)"' },
  zsh: { file: '~/.zshrc, after compinit', line: 'eval "$(forge complete zsh)"' },
  fish: { file: '~/.config/fish/completions/forge.fish', line: 'forge complete fish | source' },
};

export const completeGroup: Group = {
  commands: [
    command<Completion>({
      name: 'complete',
      args: ['[shell]'],
      values: { shell: { words: SHELLS } },
      summary: 'Print the completion script of a shell; without a shell, where to put it',
      example: 'forge complete bash',
      run: async ({ world }, name) => {
        const wanted = name ?? basename(world.env.SHELL ?? '');
        const shell = SHELLS.find((known) => known === wanted) ?? null;
        const install = (shell ? [shell] : SHELLS).map((each) => ({ shell: each, ...INSTALLS[each] }));
        if (name === undefined) return { shell, install };
        const named = oneOf(SHELLS, name, 'Shell', 'complete.shell', { hint: 'forge complete' });
        return { shell, script: completionScript(named), install };
      },
      render: ({ script, install }, style) =>
        script ??
        install
          .map(({ shell, file, line }) => `${shell}: put this into ${file}:\n  ${style.command(line)}`)
          .join('\n'),
    }),
  ],
};

export const schemaGroup: Group = {
  commands: [
    command<Record<string, unknown>>({
      name: 'schema',
      args: ['[name]'],
      summary: 'Print the JSON Schema of a file format, or the names of all formats',
      example: 'forge schema features',
      run: async (_call, name) => (name === undefined ? { schemas: await schemaNames() } : schemaOf(name)),
      render: (value) =>
        Array.isArray(value.schemas) ? value.schemas.join('\n') : JSON.stringify(value, null, 2),
    }),
  ],
};
