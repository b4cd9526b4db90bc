import { setTimeout } from 'node:timers/promises';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { jsonLine, oneLine, plural } from '../core/text.js';
import type { Claimed, Fleet, FleetRow, Released } from '../index.js';
import { secondsOf } from './command.js';
import { SUBJECTS } from './event.js';

/** `90m` in seconds. */
function parseDuration(text: string): number {
  const seconds = secondsOf(text);
  if (seconds >= 5 && seconds <= 30 * 86_400) return seconds;
  throw usage(
    'claim.duration',
    `--for: found ${JSON.stringify(oneLine(text, 40))}, allowed: 5s to 30d, such as 90m or 4h.`,
    { field: 'for' },
  );
}

const describeDuration = (seconds: number): string => {
  if (seconds < 120) return plural(seconds, 'second');
  return seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`;
};

export const group: Group = {
  commands: [
    command<Claimed>({
      name: 'claim',
      args: ['<id>'],
      values: { id: { live: ['feature', 'issue'] } },
      summary: 'Take a task, so that nobody else works on it. Exit 3: another holder has it',
      example: 'forge claim F-1 --for 4h',
      options: [{ flags: '--for <duration>', help: 'how long (default: 1h): 90m, 4h, 2d' }],
      writes: true,
      run: (call, id) => {
        const { for: duration } = call.options as { for?: string };
        const seconds = duration === undefined ? {} : { seconds: parseDuration(duration) };
        return call.forge().claim({ id: id as string, ...seconds });
      },
      render: ({ task, held_by, seconds }, style) => {
        const where = held_by === 'server' ? 'on all machines' : 'in the worktrees of this repository';
        return `${style.good('✓')} ${style.strong(task)} is yours for ${describeDuration(seconds)}, ${where}\n${style.dim(`To give it back: forge release ${task}`)}`;
      },
    }),
  ],
};

export const releaseGroup: Group = {
  commands: [
    command<Released>({
      name: 'release',
      args: ['<id>'],
      values: { id: { live: ['feature', 'issue'] } },
      summary: 'Give up a task that you claimed',
      example: 'forge release F-1',
      writes: true,
      run: (call, id) => call.forge().release({ id: id as string }),
      render: ({ task, holder }, style) =>
        holder === undefined
          ? `${style.good('✓')} ${style.strong(task)} is free`
          : `${style.good('✓')} Your claim is gone. ${style.strong(task)} is held by ${holder}.`,
    }),
  ],
};

const HEALTH = {
  working: (style: Style) => style.good('working'),
  idle: (style: Style) => style.dim('idle'),
  lost: (style: Style) => style.bad('lost'),
  ended: (style: Style) => style.dim('ended'),
};

const row = (
  { own, person, host, folder, session, branch, task, since, last, health, lease_seconds }: FleetRow,
  style: Style,
): string[] => [
  HEALTH[health](style),
  own ? 'you' : oneLine(person ?? '-', 40),
  oneLine(host, 40),
  oneLine(folder ?? '-', 40),
  oneLine(session ?? '-', 40),
  oneLine(branch ?? '-', 40),
  task === null ? '-' : style.strong(oneLine(task, 60)),
  since === null ? '-' : style.time(since),
  last === null ? '-' : `${SUBJECTS[last.type]} ${style.time(last.at)}`,
  lease_seconds === null ? '' : style.dim(`lease ${describeDuration(lease_seconds)}`),
];

const HEADER = ['HEALTH', 'WHO', 'HOST', 'FOLDER', 'SESSION', 'BRANCH', 'TASK', 'SINCE', 'LAST EVENT', ''];

function renderFleet({ rows, source }: Fleet, style: Style): string {
  const note = source === 'machine' ? [style.dim('Only this machine.')] : [];
  if (rows.length === 0) return ['Nobody is at work.', ...note].join('\n');
  return [
    columns([HEADER.map((word) => style.dim(word)), ...rows.map((each) => row(each, style))]),
    ...note,
  ].join('\n');
}

/** How often the live table looks, in ms. */
const LOOK = 2000;

async function watch(call: Call): Promise<undefined> {
  let before = '';
  while (!call.signal.aborted) {
    const fleet = await call.forge().fleet();
    const text = call.flags.json ? jsonLine(fleet) : renderFleet(fleet, call.style);
    const line = before === '' || call.flags.json ? text : `\n${text}`;
    if (text !== before && !call.print(line)) return undefined;
    before = text;
    await setTimeout(LOOK, undefined, { signal: call.signal }).catch(() => undefined);
  }
  return undefined;
}

export const fleetGroup: Group = {
  commands: [
    command<Fleet | undefined>({
      name: 'fleet',
      summary: 'Show who works on what, on all machines',
      example: 'forge fleet',
      options: [{ flags: '--watch', help: 'print the table again whenever it changes' }],
      run: (call) => (call.options.watch === true ? watch(call) : call.forge().fleet()),
      render: (fleet, style) => (fleet ? renderFleet(fleet, style) : ''),
    }),
  ],
};
