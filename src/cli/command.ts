import { oneOf } from '../core/text.js';
import { completionScript, schemaNames, schemaOf } from '../index.js';
import { command, type Group } from './spec.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const completeGroup: Group = [
  command<{ shell: string; script: string }>({
    name: 'complete',
    args: ['<shell>'],
    values: { shell: { words: SHELLS } },
    summary: 'Print the completion script of a shell',
    example: 'forge complete bash',
    run: async (_call, name) => {
      const shell = oneOf(SHELLS, name ?? '', 'Shell', 'complete.shell');
      return { shell, script: completionScript(shell) };
    },
    render: ({ script }) => script,
  }),
];

export const schemaGroup: Group = [
  command<Record<string, unknown>>({
    name: 'schema',
    args: ['[name]'],
    summary: 'Print the JSON Schema of a file format, or the names of all formats',
    example: 'forge schema features',
    run: async (_call, name) => (name === undefined ? { schemas: await schemaNames() } : schemaOf(name)),
    render: (value) =>
      Array.isArray(value.schemas) ? value.schemas.join('\n') : JSON.stringify(value, null, 2),
  }),
];
