import { type Call, command, type Group } from '../cli/spec.js';
import { ForgeError, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { StatusReport } from '../index.js';
import { renderShort, renderStatus } from './render.js';

async function run(call: Call): Promise<StatusReport | undefined> {
  const { options, flags } = call;
  threshold(options.exitCode);
  const brief = options.short === true;
  try {
    return await call.forge().status({ brief });
  } catch (error) {
    // A prompt is shown everywhere.
    if (brief && !flags.json && error instanceof ForgeError && error.code === 'not_a_forge') return undefined;
    throw error;
  }
}

/** From which colour on `--exit-code` fails. */
function threshold(given: unknown): 'red' | 'yellow' | null {
  if (given === undefined) return null;
  if (given === true || given === 'red') return 'red';
  if (given === 'yellow') return 'yellow';
  const found = JSON.stringify(oneLine(String(given), 40));
  throw usage('status.exit_code', `--exit-code: found ${found}, allowed: red | yellow.`, {
    field: 'exit-code',
  });
}

function exit(status: StatusReport | undefined, options: Record<string, unknown>): number {
  const from = threshold(options.exitCode);
  if (!status || from === null || status.worst === 'green') return 0;
  return status.worst === 'red' || from === 'yellow' ? 1 : 0;
}

export const group: Group = {
  commands: [
    command<StatusReport | undefined>({
      name: 'status',
      summary: 'Show how memory is: five parts, each green, yellow or red, why, and what to type',
      example: 'forge status',
      options: [
        { flags: '--short', help: 'one line for a prompt; nothing where there is no .forge/' },
        { flags: '--exit-code [colour]', help: 'exit 1 when something is red; with yellow: or yellow' },
      ],
      run,
      render: (status, style, { short }) =>
        !status ? '' : short === true ? renderShort(status, style) : renderStatus(status, style),
      exit,
    }),
  ],
};
