import { resolve } from 'node:path';
import { choosePassphrase, PASSPHRASE_STDIN, withPassphrase } from '../cli/passphrase.js';
import { REASON, reasonOf } from '../cli/reason.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import type { SupervisorKey, SupervisorReport } from '../index.js';

async function init(call: Call): Promise<SupervisorReport> {
  const { supervisor } = call.forge();
  const named = call.options.key as string | undefined;
  const key = named === undefined ? {} : { key: resolve(call.cwd, named) };
  const { exists } = await supervisor.look(key);
  const isAsked = !exists && call.interactive && !call.flags.dryRun && call.options.passphraseStdin !== true;
  if (isAsked && call.world.env.FORGE_SUPERVISOR_PASSPHRASE_FILE === undefined)
    return supervisor.init({ ...key, ...(await choosePassphrase()) });
  return withPassphrase(call, (given) => supervisor.init({ ...key, ...given }));
}

const STATES: Record<SupervisorKey['state'], string> = {
  known: 'its seals count',
  foreign: 'not accepted on this machine: forge supervisor trust KEY --reason "…"',
  removed: 'accepted on this machine, not named in config.toml any more',
  retired: 'retired',
};

function render({ key, keys, last_seal }: SupervisorReport, style: Style): string {
  const here = key
    ? `${key.file}  ${key.fingerprint ?? ''}${key.encrypted ? '  with a passphrase' : ''}`
    : 'none on this machine';
  const rows = keys.map(({ fingerprint, state, public_key }) => [
    state === 'known' || state === 'retired' ? fingerprint : style.bad(fingerprint),
    STATES[state],
    style.dim(public_key),
  ]);
  return [
    `private key: ${here}`,
    rows.length > 0 ? columns(rows, '  ') : 'No key is named yet: a human runs forge supervisor init',
    last_seal
      ? `last seal: ${last_seal.at}, key ${last_seal.key}  ${style.dim(last_seal.id.slice(0, 12))}`
      : 'nothing is sealed yet',
  ].join('\n');
}

type Settled = { key: SupervisorKey; audit: { id: string } };

const settle = (name: 'trust' | 'retire', summary: string, why: string) =>
  command<Settled>({
    name,
    args: ['<key>'],
    summary,
    example: `forge supervisor ${name} 3fa9c1d20b7e4a55 --reason "${why}"`,
    options: [REASON],
    writes: true,
    run: (call, key) =>
      call.forge().supervisor[name]({
        key: key as string,
        ...reasonOf(call),
      }),
    render: ({ key, audit }) =>
      `${name === 'trust' ? 'accepted' : 'retired'} ${key.fingerprint}  audit ${audit.id.slice(0, 12)}`,
  });

export const group: Group = {
  commands: [
    command<SupervisorReport>({
      name: 'init',
      summary: "Make a supervisor's key outside the repository, and name its public half (a human)",
      example: 'forge supervisor init',
      options: [
        {
          flags: '--key <file>',
          help: 'where the key is or shall be; default: ~/.config/forge/supervisor.pem',
        },
        PASSPHRASE_STDIN,
      ],
      writes: true,
      run: init,
      render,
    }),
    command<SupervisorReport>({
      name: 'show',
      summary: 'Show whose seals count here, and the last one',
      example: 'forge supervisor show',
      run: (call) => call.forge().supervisor.show(),
      render,
    }),
    settle('trust', "Accept a supervisor's key on this machine (a human, with a reason)", "Ada's new laptop"),
    settle(
      'retire',
      "Take a supervisor's key out: its seals do not count any more (a human, with a reason)",
      'lost',
    ),
  ],
};
