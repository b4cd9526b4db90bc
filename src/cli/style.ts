import { escapeControls } from '../core/text.js';
import { describeAge } from '../status/rules.js';
import { displayWidth } from './screen.js';

/** Colors by meaning. Without color every function returns its text. */
export interface Style {
  /** The columns of the terminal; null elsewhere. */
  width: number | null;
  /** Whether the locale has more than ASCII. */
  unicode: boolean;
  /** `3 min ago` at a terminal; elsewhere, and for a time long ago, the time itself. */
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
const COLORLESS = { strong: plain, dim: plain, good: plain, warn: plain, bad: plain, command: plain };

const inUtc = (at: string): string => at.slice(0, 16).replace('T', ' ');

function inLocal(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return inUtc(at);
  return inUtc(new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString());
}

/** `width` and `now` are given for a terminal. chalk is loaded only for color. */
export async function makeStyle(
  color: boolean,
  { width = null, unicode = true, now }: { width?: number | null; unicode?: boolean; now?: () => Date } = {},
): Promise<Style> {
  const stamp = now ? inLocal : inUtc;
  const time = (at: string): string => (now && describeAge(at, now())) ?? stamp(at);
  if (!color) return { ...COLORLESS, width, unicode, time, stamp };
  const { Chalk } = await import('chalk');
  const { bold, dim, green, yellow, red, cyan } = new Chalk({ level: 1 });
  return {
    ...{ width, unicode, time, stamp },
    ...{ strong: bold, dim, good: green, warn: yellow, bad: red, command: cyan },
  };
}

/** By --color, NO_COLOR, FORCE_COLOR, TERM=dumb, and whether the stream is a terminal. */
export function wantsColor(choice: string, env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (choice === 'always') return true;
  if (choice === 'never' || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTerminal && env.TERM !== 'dumb';
}

/** Aligns the columns of rows. The last column is not padded. */
export function columns(rows: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell));
  const pad = (cell: string, i: number): string => cell + ' '.repeat((widths[i] ?? 0) - displayWidth(cell));
  return rows
    .map((row) => indent + row.map((cell, i) => (i === row.length - 1 ? cell : pad(cell, i))).join('  '))
    .join('\n');
}

/** Escapes every text in a value: memory, a path or git may contain escape sequences. Shared objects stay shared. */
export function harmless<T>(value: T, seen = new Map<unknown, unknown>()): T {
  if (typeof value === 'string') return escapeControls(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known as T;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
  seen.set(value, copy);
  for (const [key, entry] of Object.entries(value))
    (copy as Record<string, unknown>)[key] = harmless(entry, seen);
  return copy as T;
}
