import { withoutOwn } from '../commit/recent.js';
import { DAY } from '../core/clock.js';
import { compareText } from '../core/text.js';
import type { Commit } from '../git/read.js';
import type { Feature, KfrList, Learned, Learning, LogRow, SessionOverview, Where } from '../index.js';
import { describeLearning } from '../knowledge/rules.js';

/** Seconds since 1970, and for each name one number at each of them. */
export interface Series {
  at: number[];
  names: string[];
  values: number[][];
}

interface Happened {
  at: string | null | undefined;
  name: string;
  amount: number;
}

const MAX_POINTS = 60;

/** Adds up the amounts of each name, at the end of equal spans of time of a minute or longer. */
function addUp(events: readonly Happened[], names: string[]): Series {
  const valid = events
    .map((event) => ({ ...event, at: Math.floor(Date.parse(event.at ?? '') / 1000) }))
    .filter(({ at }) => !Number.isNaN(at))
    .sort((a, b) => a.at - b.at);
  const [start = 0, end = 0] = [valid[0]?.at, valid.at(-1)?.at];
  const width = Math.max(60, Math.ceil((end - start) / MAX_POINTS));
  const length = valid.length === 0 ? 0 : Math.floor((end - start) / width) + 1;
  const values = names.map((name) => {
    const line = new Array<number>(length).fill(0);
    for (const event of valid.filter((one) => one.name === name)) {
      const place = Math.floor((event.at - start) / width);
      line[place] = (line[place] ?? 0) + event.amount;
    }
    let total = 0;
    return line.map((amount) => (total += amount));
  });
  return { at: Array.from({ length }, (_, i) => start + i * width), names, values };
}

/** How many of today's features there were, and how many of them passed, by the runs that are recorded. */
export function featureSeries(features: readonly Feature[], rows: readonly LogRow[], now: number): Series {
  const passing = new Map(features.map(({ id }) => [id, false]));
  const turn = (id: string, passes: boolean, at: string | null | undefined): Happened[] => {
    if (passing.get(id) !== !passes) return [];
    passing.set(id, passes);
    return [{ at, name: 'passing', amount: passes ? 1 : -1 }];
  };
  const runs = rows.flatMap(({ at, passed = [], failed = [] }) => [
    ...passed.flatMap((id) => turn(id, true, at)),
    ...failed.flatMap((id) => turn(id, false, at)),
  ]);
  const today = features.flatMap(({ id, status, verified_at, override }) =>
    turn(id, status === 'passing', override?.at ?? verified_at ?? new Date(now).toISOString()),
  );
  const added = features.map(({ created_at }) => ({ at: created_at, name: 'all features', amount: 1 }));
  return addUp([...added, ...runs, ...today], ['all features', 'passing']);
}

const NOT_EVALUATED = 'not evaluated';

export function cycleSeries(rows: readonly LogRow[]): Series {
  const judged = new Map(rows.flatMap((row) => (row.execution ? [[row.execution, row.classification]] : [])));
  const events = rows
    .filter(({ tier, kind }) => tier === 'execution' && kind === 'cycle')
    .map(({ id, at }) => ({ at, name: judged.get(id) ?? NOT_EVALUATED, amount: 1 }));
  const names = [...new Set(events.map(({ name }) => name))].sort(
    (a, b) => Number(a === NOT_EVALUATED) - Number(b === NOT_EVALUATED) || compareText(b, a),
  );
  return addUp(events, names);
}

export const memorySeries = (rows: readonly LogRow[]): Series =>
  addUp(
    rows.map(({ at, bytes }) => ({ at, name: 'bytes', amount: bytes })),
    ['bytes'],
  );

export interface Done {
  at: string;
  what: 'session' | 'lesson' | 'feature' | 'commit';
  /** Of the session or feature. */
  id: string | null;
  text: string;
}

interface Work {
  sessions: SessionOverview;
  learnings: readonly Learning[];
  features: readonly Feature[];
  commits: readonly Commit[];
}

/** The work of the 24 hours before `now`, newest first. */
export function listDone(now: number, { sessions, learnings, features, commits }: Work): Done[] {
  const all: Done[] = [
    ...[sessions.active ?? [], sessions.sessions].flat().map(({ id, status, task, ...session }) => ({
      ...{ at: session.ended_at ?? session.started_at, what: 'session' as const, id },
      text: `${status}: ${task ?? 'no task'}`,
    })),
    ...learnings.map((learning) => ({
      ...{ at: learning.learned_at ?? '', what: 'lesson' as const, id: null },
      text: describeLearning(learning),
    })),
    ...features.flatMap(({ id, name, status, verified_at }) =>
      status === 'passing'
        ? [{ at: verified_at ?? '', what: 'feature' as const, id, text: `${name} passes` }]
        : [],
    ),
    ...withoutOwn(commits).map(({ short, at, subject }) => ({
      ...{ at, what: 'commit' as const, id: null, text: `${short} ${subject}` },
    })),
  ];
  return all
    .filter(({ at }) => now - Date.parse(at) < DAY)
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
}

/** Something that waits for a person: the page shows the commands, and runs none. */
export interface Decision {
  what: string;
  why: string;
  commands: string[];
}

/** `OpenQuestion` → `Open question` */
const words = (kind: string): string => kind.replace(/\B[A-Z]/g, (char) => ` ${char.toLowerCase()}`);

/** What only a person can settle, most urgent first. */
export function listDecisions(where: Where, entries: KfrList['entries'], known: Learned['known']) {
  const decisions: Decision[] = [];
  const add = (what: string, why: string, ...commands: string[]): void => {
    decisions.push({ what, why, commands });
  };
  if (where.halted) add('Memory is halted', where.halted, 'forge memory verify', 'forge memory repair');
  if (where.recovering) add('A rollback was interrupted', 'It goes on where it stopped.', 'forge recover');
  if (where.paused) add('Work is paused', where.paused, ...where.next.slice(0, 1));
  for (const { id, kind, text, parked, requires_resolution } of entries)
    if (requires_resolution)
      add(
        `${words(kind)} ${id}${parked ? ', parked for you' : ''}`,
        parked ? `${text} (${parked.reason})` : text,
        `forge kfr patch --resolve "${id}=TEXT"`,
        `forge kfr patch --dismiss "${id}=TEXT"`,
      );
  for (const line of where.waiting) {
    const [what = '', command = ''] = line.split(/: (?=forge )/);
    add(what, '', command);
  }
  for (const { knowledge_id, pattern, status } of known)
    if (status === 'contested')
      add(
        'A piece of knowledge is contested',
        pattern,
        `forge memory override invalidate ${knowledge_id.slice(0, 12)} --reason "TEXT"`,
        'forge memory promote',
      );
  return decisions;
}

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
