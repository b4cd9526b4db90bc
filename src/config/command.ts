import { command, type Group } from '../cli/spec.js';
import { columns } from '../cli/style.js';
import type { Setting } from '../index.js';

const shown = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value);

export const group: Group = [
  command<{ settings: Setting[] }>({
    name: 'list',
    summary: 'List every setting with its value',
    example: 'forge config list',
    run: (call) => call.forge().config.list(),
    render: ({ settings }) => columns(settings.map(({ name, value }) => [name, shown(value)])),
  }),
  command<Setting>({
    name: 'get',
    args: ['<name>'],
    values: { name: { live: ['setting'] } },
    summary: 'Print one setting',
    example: 'forge config get briefing.budget',
    run: (call, name) => call.forge().config.get({ name: name as string }),
    render: ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)),
  }),
  command<Setting>({
    name: 'set',
    args: ['<name>', '<value>'],
    values: { name: { live: ['setting'] } },
    summary: 'Change one setting in config.toml; comments stay',
    example: 'forge config set features.test_command "cargo test {}"',
    writes: true,
    run: (call, name, value) => call.forge().config.set({ name: name as string, value: value as string }),
    render: ({ name, value }) => `${name} = ${shown(value)}`,
  }),
];
