import { setTimeout } from 'node:timers/promises';
import { type Call, command, type Group, given } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { describeSpan } from '../core/clock.js';
import { usage } from '../core/error.js';
import { jsonLine, oneLine, plural } from '../core/text.js';
import type {
  Claimed,
  EventFilter,
  EventList,
  Fleet,
  FleetRow,
  Flushed,
  ForgeEvent,
  Released,
} from '../index.js';
import { describeEvent, EVENT_TYPES, SUBJECTS } from './event.js';

const FILTERS = [
  { flags: '--type <type>', help: EVENT_TYPES.join(', '), values: { words: EVENT_TYPES } },
  { flags: '--session <id>', help: 'a session, or the start of its id', values: { live: ['session'] } },
] as const;
const SINCE = { flags: '--since <time>', help: 'an ISO time, or how long ago: 90s, 15m, 6h, 7d' };

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `6h` in seconds; not a number for everything else. */
function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return Number(count) * (SECONDS[unit] ?? Number.NaN);
}

/** `6h` or an ISO time, as an ISO time. */
function sinceOf(call: Call): { since?: string } {
  const { since } = call.options as { since?: string };
  if (since === undefined) return {};
  const ago = call.world.now().getTime() - secondsOf(since) * 1000;
  const at = new Date(/^\d{4}-\d\d-\d\d/.test(since) ? since : ago);
  if (!Number.isNaN(at.getTime())) return { since: at.toISOString() };
  const found = JSON.stringify(oneLine(since, 40));
  const message = `--since: found ${found}, allowed: 90s, 15m, 6h, 7d or an ISO time.`;
  throw usage('events.since', message, { field: 'since' });
}

const filterOf = (call: Call): EventFilter => given<EventFilter>(call, 'type', 'session');

const row = (event: ForgeEvent, style: Style): string[] => [
  style.dim(style.time(event.at)),
  SUBJECTS[event.type],
  oneLine(event.session ?? '-', 40),
  oneLine(event.host, 40),
  oneLine(describeEvent(event), 160),
];

const line = (event: ForgeEvent, style: Style): string => row(event, style).join('  ');

function printer(call: Call): (event: ForgeEvent) => boolean {
  return (event) => call.print(call.flags.json ? jsonLine(event) : line(event, call.style));
}

const renderList = ({ events }: EventList, style: Style): string =>
  events.length === 0 ? 'No events yet.' : columns(events.map((event) => row(event, style)));

export const group: Group = [
  command<undefined>({
    name: 'tail',
    summary: 'Show events as they happen',
    example: 'forge events tail --type learning',
    options: FILTERS,
    run: async (call) => {
      const print = printer(call);
      // Ctrl-C, or a reader such as "head" that has enough.
      const stop = new AbortController();
      call.signal.addEventListener('abort', () => stop.abort(), { once: true });
      const onEvent = (event: ForgeEvent): void => {
        if (!print(event)) stop.abort();
      };
      const watch = { signal: stop.signal, onEvent, onStatus: call.say };
      await call.forge().events.tail(filterOf(call), watch);
      return undefined;
    },
    render: () => '',
  }),
  command<EventList>({
    name: 'list',
    summary: 'List the last events that the server keeps',
    example: 'forge events list --since 6h',
    options: [
      ...FILTERS,
      SINCE,
      { flags: '--limit <n>', help: 'how many (default: 50)', number: [1, 100_000] },
    ],
    run: (call) =>
      call
        .forge()
        .events.list({ ...filterOf(call), ...sinceOf(call), ...given<{ limit: number }>(call, 'limit') }),
    render: renderList,
  }),
  command<undefined>({
    name: 'replay',
    summary: 'Print every event since a time, one a line',
    example: 'forge events replay --since 7d --json',
    options: [...FILTERS, SINCE],
    run: async (call) => {
      const since = sinceOf(call);
      if (since.since === undefined)
        throw usage('events.since', 'Say where to begin.', { hint: 'forge events replay --since 24h' });
      await call.forge().events.replay({ ...filterOf(call), ...since }, printer(call));
      return undefined;
    },
    render: () => '',
  }),
  command<Flushed>({
    name: 'flush',
    summary: 'Send the events that wait. Exit 6: the server did not take them',
    example: 'forge events flush',
    writes: true,
    run: (call) => call.forge().events.flush(),
    render: ({ sent, waiting }, style) =>
      `${style.good('✓')} ${plural(sent, 'event')} sent, ${waiting === 0 ? 'none' : waiting} waiting`,
  }),
];

function parseDuration(text: string): number {
  const seconds = secondsOf(text);
  if (seconds >= 5 && seconds <= 30 * 86_400) return seconds;
  const message = `--for: found ${JSON.stringify(oneLine(text, 40))}, allowed: 5s to 30d, such as 90m or 4h.`;
  throw usage('claim.duration', message, { field: 'for' });
}

export const claimGroup: Group = [
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
      return `${style.good('✓')} ${style.strong(task)} is yours for ${describeSpan(seconds * 1000)}, ${where}\n${style.dim(`To give it back: forge release ${task}`)}`;
    },
  }),
];

export const releaseGroup: Group = [
  command<Released>({
    name: 'release',
    args: ['<id>'],
    values: { id: { live: ['feature', 'issue'] } },
    summary: 'Give up a task that you claimed',
    example: 'forge release F-1',
    writes: true,
    run: (call, id) => call.forge().release({ id: id as string }),
    render: ({ task, holder }, style) => {
      const released = `${style.good('✓')} You no longer hold ${style.strong(task)}`;
      return holder === undefined ? released : `${released}. It is held by ${holder}`;
    },
  }),
];

const HEALTH = { working: 'good', idle: 'dim', lost: 'bad', ended: 'dim' } as const;

const fleetRow = (
  { own, person, host, folder, session, branch, task, since, last, health, lease_seconds }: FleetRow,
  style: Style,
): string[] => [
  style[HEALTH[health]](health),
  own ? 'you' : oneLine(person ?? '-', 40),
  oneLine(host, 40),
  oneLine(folder ?? '-', 40),
  oneLine(session ?? '-', 40),
  oneLine(branch ?? '-', 40),
  task === null ? '-' : style.strong(oneLine(task, 60)),
  since === null ? '-' : style.time(since),
  last === null ? '-' : `${SUBJECTS[last.type]} ${style.time(last.at)}`,
  lease_seconds === null ? '' : style.dim(`lease ${describeSpan(lease_seconds * 1000)}`),
];

const HEADER = ['HEALTH', 'WHO', 'HOST', 'FOLDER', 'SESSION', 'BRANCH', 'TASK', 'SINCE', 'LAST EVENT', ''];

function renderFleet({ rows, source }: Fleet, style: Style): string {
  const note = source === 'machine' ? [style.dim('Only this machine.')] : [];
  if (rows.length === 0) return ['Nobody is at work.', ...note].join('\n');
  return [
    columns([HEADER.map((word) => style.dim(word)), ...rows.map((each) => fleetRow(each, style))]),
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

export const fleetGroup: Group = [
  command<Fleet | undefined>({
    name: 'fleet',
    summary: 'Show who works on what, on all machines',
    example: 'forge fleet',
    options: [{ flags: '--watch', help: 'print the table again whenever it changes' }],
    run: (call) => (call.options.watch === true ? watch(call) : call.forge().fleet()),
    render: (fleet, style) => (fleet ? renderFleet(fleet, style) : ''),
  }),
];
