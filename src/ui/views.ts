import { compareText, plural } from '../core/text.js';
import type { Feature, KfrEntry, Learned, LogRow, TrustReport, Where } from '../index.js';
import { sessionName } from '../session/rules.js';

/** LTM-11: consolidation pauses from this size on, in bytes. */
export const MEMORY_LIMIT = 100_000_000;

/** Points of a chart. */
const MAX_POINTS = 60;
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
const WIDTHS = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY];

/** Seconds since 1970, and for each name one number at each of them. */
export interface Series {
  at: number[];
  names: string[];
  values: number[][];
}

const seconds = (at: string | null | undefined): number => Math.floor(Date.parse(at ?? '') / 1000);

/** Counts events in equal spans of time. `running`: each span also has what came before. */
function bucket(
  events: readonly { at: number; name: string; amount: number }[],
  names: readonly string[],
  running: boolean,
): Series {
  const valid = events.filter(({ at }) => !Number.isNaN(at));
  const start = valid.reduce((min, { at }) => Math.min(min, at), Number.POSITIVE_INFINITY);
  const end = valid.reduce((max, { at }) => Math.max(max, at), 0);
  if (valid.length === 0) return { at: [], names: [...names], values: names.map(() => []) };
  const width = WIDTHS.find((one) => (end - start) / one <= MAX_POINTS) ?? (end - start) / MAX_POINTS;
  const first = Math.floor(start / width);
  const count = Math.floor(end / width) - first + 1;
  const values = names.map(() => new Array<number>(count).fill(0));
  for (const { at, name, amount } of valid) {
    const line = values[names.indexOf(name)];
    const place = Math.floor(at / width) - first;
    if (line) line[place] = (line[place] ?? 0) + amount;
  }
  if (running)
    for (const line of values) for (let i = 1; i < count; i++) line[i] = (line[i] ?? 0) + (line[i - 1] ?? 0);
  return {
    at: Array.from({ length: count }, (_, i) => Math.round((first + i) * width)),
    names: [...names],
    values,
  };
}

/** How many features there were, and how many of those that pass today had passed. */
export function featureSeries(features: readonly Feature[]): Series {
  const events = features.flatMap(({ created_at, status, verified_at, override }) => [
    { at: seconds(created_at), name: 'all features', amount: 1 },
    ...(status === 'passing'
      ? [{ at: seconds(override?.at ?? verified_at), name: 'passing', amount: 1 }]
      : []),
  ]);
  return bucket(events, ['all features', 'passing'], true);
}

const NOT_EVALUATED = 'not evaluated';

/** Cycles by what their evaluation says. */
export function cycleSeries(rows: readonly LogRow[]): Series {
  const judged = new Map(rows.flatMap((row) => (row.execution ? [[row.execution, row.classification]] : [])));
  const events = rows
    .filter(({ tier, kind }) => tier === 'execution' && kind === 'cycle')
    .map(({ id, at }) => ({ at: seconds(at), name: judged.get(id) ?? NOT_EVALUATED, amount: 1 }));
  const names = [...new Set(events.map(({ name }) => name))].sort(
    (a, b) => Number(a === NOT_EVALUATED) - Number(b === NOT_EVALUATED) || compareText(b, a),
  );
  return bucket(events, names, false);
}

/** The size of all records. */
export const memorySeries = (rows: readonly LogRow[]): Series =>
  bucket(
    rows.map(({ at, bytes }) => ({ at: seconds(at), name: 'bytes', amount: bytes })),
    ['bytes'],
    true,
  );

/** Something that waits for a person: the page shows the commands, and runs none. */
export interface Decision {
  what: string;
  why: string;
  commands: string[];
}

interface DecisionFacts {
  where: Where | null;
  trust: TrustReport | null;
  learned: Learned | null;
  entries: readonly KfrEntry[];
  features: readonly Feature[];
}

/** What only a person can settle, most urgent first. */
export function listDecisions({ where, trust, learned, entries, features }: DecisionFacts): Decision[] {
  const open = entries.filter(({ requires_resolution }) => requires_resolution);
  const waiting = trust?.items.filter(({ state }) => state !== 'trusted') ?? [];
  const contested = learned?.known.filter(({ status }) => status === 'contested') ?? [];
  const unproven = features.filter((feature) => feature.unproven && feature.verified_at);
  return [
    ...(where?.halted
      ? [decide('Memory is halted', where.halted, 'forge memory verify', 'forge memory repair')]
      : []),
    ...(where?.recovering
      ? [decide('A rollback was interrupted', 'It goes on where it stopped.', 'forge recover')]
      : []),
    ...(where?.paused
      ? [decide('Work is paused', where.paused, 'forge memory override acknowledge --reason "TEXT"')]
      : []),
    ...open.map(({ id, text, parked }) =>
      decide(
        `${id} is open${parked ? ', parked for you' : ''}`,
        parked ? `${text} (${parked.reason})` : text,
        `forge kfr patch --resolve "${id}=TEXT"`,
        `forge kfr patch --dismiss "${id}=TEXT"`,
      ),
    ),
    ...(waiting.length > 0
      ? [
          decide(
            `${plural(waiting.length, 'command or rule', 'commands and rules')} not approved on this machine`,
            `forge runs none of it and agents are told that it is not approved: ${waiting
              .slice(0, 5)
              .map(({ name }) => name)
              .join(', ')}${waiting.length > 5 ? ', …' : ''}`,
            'forge trust',
          ),
        ]
      : []),
    ...contested.map(({ knowledge_id, pattern }) =>
      decide(
        'A piece of knowledge is contested',
        pattern,
        `forge memory override invalidate ${knowledge_id.slice(0, 12)} --reason "TEXT"`,
        'forge memory promote',
      ),
    ),
    ...unproven.map(({ id, name }) =>
      decide(`${id} passes, but its test was never seen to fail`, name, `forge feature confirm ${id}`),
    ),
  ];
}

const decide = (what: string, why: string, ...commands: string[]): Decision => ({ what, why, commands });

/** Whether a record was written in the session with this shown or stored id. */
export const isOfSession = ({ session }: Pick<LogRow, 'session'>, id: string): boolean =>
  session !== null && (session === id || sessionName(session) === id);

/** Spreadsheets run a cell that begins with one of these (B-100). */
const FORMULA = /^[=+\-@\t\r]/;

export function csvLine(cells: readonly (string | number | null)[]): string {
  const quoted = cells.map((cell) => {
    const text = String(cell ?? '');
    const safe = typeof cell === 'string' && FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${quoted.join(',')}\r\n`;
}
