import { toPlainGlyphs } from '../cli/screen.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { ForgeError, usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Color, Component, Status, StatusReport } from '../index.js';

const MARKS: Readonly<Record<Color, string>> = { neutral: '·', green: '●', yellow: '◐', red: '○' };

export function paintColor(color: Color, text: string, style: Style): string {
  return { neutral: style.dim, green: style.good, yellow: style.warn, red: style.bad }[color](text);
}

export const markOf = (color: Color, style: Style): string => paintColor(color, MARKS[color], style);

/** Below this a line of its own for each reason reads better than a column of it. */
const NARROW = 50;

/** A line a component; what is not green with the command that improves it. Marks only where a person looks. */
export function renderStatus({ components }: Status, style: Style): string {
  if (style.width !== null && style.width < NARROW)
    return components.map((component) => narrow(component, style)).join('\n');
  const rows = components.flatMap((component) => {
    const [first = '', ...more] = lines(component, style);
    return [[...head(component, style), first], ...more.map((line) => [...EMPTY, line])];
  });
  return columns(rows);
}

const EMPTY = ['', ''];
const head = ({ name, color }: Component, style: Style): string[] => [
  style.width === null ? name : `${markOf(color, style)} ${name}`,
  paintColor(color, color, style),
];

const lines = ({ reasons, fix }: Component, style: Style): string[] => [
  ...reasons,
  ...fix.map((command) => `→ ${style.command(command)}`),
];

const narrow = (component: Component, style: Style): string =>
  [head(component, style).join(' '), ...lines(component, style).map((line) => `  ${line}`)].join('\n');

/** One line for a prompt: a mark for each component, and what the session works on. */
function renderShort({ components, task }: Pick<StatusReport, 'components' | 'task'>, style: Style): string {
  const marks = components.map(({ color }) => markOf(color, style)).join('');
  // A prompt is put together from what goes into a pipe.
  return ['forge', style.unicode ? marks : toPlainGlyphs(marks), ...(task === null ? [] : [task])].join(' ');
}

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
  if (!status || from === null) return 0;
  return status.worst === 'red' || status.worst === from ? 1 : 0;
}

export const group: Group = {
  commands: [
    command<StatusReport | undefined>({
      name: 'status',
      summary: 'Show how memory is: five parts with their colours, why, and what to type',
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
