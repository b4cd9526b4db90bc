import { escapeControls } from '../core/text.js';
import { describeAge } from '../status/rules.js';
import { displayWidth } from './screen.js';

/** Colours by meaning. Without colour every function returns its text. */
export interface Style {
  /** Columns to fill at a terminal; null elsewhere. */
  width: number | null;
  /** Whether the person's terminals have more than ASCII. What is not shown at one stays as it is. */
  unicode: boolean;
  /** An age at a terminal: `3 min ago`. The time itself elsewhere, and long ago. */
  time(at: string): string;
  /** `2026-03-01 10:00`: local at a terminal, UTC elsewhere. */
  stamp(at: string): string;
  strong(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
  command(text: string): string;
}

const plain = (text: string): string => text;
const COLOURLESS = { strong: plain, dim: plain, good: plain, warn: plain, bad: plain, command: plain };

const inUtc = (at: string): string => at.slice(0, 16).replace('T', ' ');

/** In the time zone of this process. */
function inLocal(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return inUtc(at);
  return inUtc(new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString());
}

/** `width` and `now` where a person looks. chalk is loaded only for colour. */
export async function makeStyle(
  colour: boolean,
  { width = null, unicode = true, now }: { width?: number | null; unicode?: boolean; now?: () => Date } = {},
): Promise<Style> {
  const stamp = now ? inLocal : inUtc;
  const time = (at: string): string => (now && describeAge(at, now())) ?? stamp(at);
  if (!colour) return { ...COLOURLESS, width, unicode, time, stamp };
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return {
    width,
    unicode,
    time,
    stamp,
    strong: chalk.bold,
    dim: chalk.dim,
    good: chalk.green,
    warn: chalk.yellow,
    bad: chalk.red,
    command: chalk.cyan,
  };
}

/** NO_COLOR, FORCE_COLOR, TERM=dumb, --color, and whether a person looks at the stream. */
export function wantsColour(choice: string, env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (choice === 'always') return true;
  if (choice === 'never' || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** Rows with their columns aligned; the last column is left as it is. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell));
  return rows
    .map(
      (row) =>
        indent +
        row
          .map((cell, i) =>
            i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) - displayWidth(cell)),
          )
          .join('  '),
    )
    .join('\n');
}

/**
 * The same value with every text in it made harmless for a terminal: what stands in memory, in a path or in git may
 * hold escape sequences. What is one object in the value stays one.
 */
export function harmless<T>(value: T, seen = new Map<unknown, unknown>()): T {
  if (typeof value === 'string') return escapeControls(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known as T;
  // There may be thousands of these.
  if (Array.isArray(value) && value.length === 0) return value;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  seen.set(value, copy);
  for (const key of Object.keys(value))
    (copy as Record<string, unknown>)[key] = harmless((value as Record<string, unknown>)[key], seen);
  return copy as T;
}
