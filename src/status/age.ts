import { plural } from '../core/text.js';

/** In ms. */
export const [MINUTE, HOUR, DAY, WEEK] = [60_000, 3_600_000, 86_400_000, 7 * 86_400_000];

/** How long something took or is past, in its largest unit, rounded down: `12 s`, `3 min`, `2 h`, `5 days`. */
export function describeSpan(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return plural(Math.floor(ms / DAY), 'day');
}

/** After which a date says more than an age. */
const LONG_AGO = 60 * DAY;

/**
 * How a person is told of a time: `3 min ago`. Null for what is no time, lies in the future (a clock is wrong
 * somewhere) or long ago: then the time itself says more.
 */
export function describeAge(at: string, now: Date): string | null {
  const age = now.getTime() - Date.parse(at);
  if (Number.isNaN(age) || age < -MINUTE || age > LONG_AGO) return null;
  return age < MINUTE ? 'just now' : `${describeSpan(age)} ago`;
}

/** Of some times the newest that is not in the future, in ms since 1970; null when there is none. */
export function newestPast(times: readonly number[], now: Date): number | null {
  // A clock elsewhere may be a little ahead.
  const past = times.filter((at) => at <= now.getTime() + MINUTE);
  return past.length === 0 ? null : past.reduce((newest, at) => Math.max(newest, at));
}
