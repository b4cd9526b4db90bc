import { type Call, command, type Group, given } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { jsonLine, oneLine, plural } from '../core/text.js';
import type { EventFilter, EventList, Flushed, ForgeEvent } from '../index.js';
import { describeEvent, EVENT_TYPES, SUBJECTS } from './event.js';

const FILTERS = [
  { flags: '--type <type>', help: EVENT_TYPES.join(', '), values: { words: EVENT_TYPES } },
  { flags: '--session <id>', help: 'a session, or the start of its id', values: { live: ['session'] } },
] as const;
const SINCE = { flags: '--since <time>', help: 'an ISO time, or how long ago: 90s, 15m, 6h, 7d' };

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** `6h` in seconds; not a number for everything else. */
export function secondsOf(text: string): number {
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
  throw usage(
    'events.since',
    `--since: found ${JSON.stringify(oneLine(since, 40))}, allowed: 90s, 15m, 6h, 7d or an ISO time.`,
    { field: 'since' },
  );
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

export const group: Group = {
  commands: [
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
      render: ({ sent, waiting, kept_by }, style) =>
        [
          `${style.good('✓')} ${plural(sent, 'event')} sent, ${waiting === 0 ? 'none' : waiting} waiting`,
          ...(sent > 0 && kept_by === 'none'
            ? [style.dim('The server has no JetStream: only those who listen now got them.')]
            : []),
        ].join('\n'),
    }),
  ],
};
