import { schemaNames, schemaOf } from '../index.js';
import { command, type Group } from './spec.js';

export const group: Group = {
  commands: [
    command<Record<string, unknown>>({
      name: 'schema',
      args: ['[name]'],
      values: { name: { live: ['schema'] } },
      summary: 'Print the JSON Schema of a file format, or the names of all formats',
      example: 'forge schema features',
      run: async (_call, name) => (name === undefined ? { schemas: await schemaNames() } : schemaOf(name)),
      render: (value) =>
        Array.isArray(value.schemas) ? value.schemas.join('\n') : JSON.stringify(value, null, 2),
    }),
  ],
};
