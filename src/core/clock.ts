import { plural } from './text.js';

export const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Milliseconds since the process started, independent of the wall clock. performance.now() would load ten modules. */
export const elapsed = (): number => process.uptime() * 1000;

/** Aborts after `ms` with the reason `time`, or with `stop`. Node 20 garbage-collects the timer of AbortSignal.any(). */
export function timeLimit(ms: number, stop?: AbortSignal): { signal: AbortSignal; release(): void } {
  const limit = new AbortController();
  const onStop = (): void => limit.abort('stop');
  const timer = setTimeout(() => limit.abort('time'), ms).unref();
  stop?.addEventListener('abort', onStop, { once: true });
  if (stop?.aborted) onStop();
  const release = (): void => {
    clearTimeout(timer);
    stop?.removeEventListener('abort', onStop);
  };
  return { signal: limit.signal, release };
}

/** A duration in its largest unit, rounded down: `12 s`, `3 min`, `2 h`, `5 days`. */
export function describeSpan(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return plural(Math.floor(ms / DAY), 'day');
}

/** `3 min ago`. Null for an invalid time, one in the future, or one more than 60 days ago: show the time itself. */
export function describeAge(at: string, now: Date): string | null {
  const age = now.getTime() - Date.parse(at);
  if (Number.isNaN(age) || age < -MINUTE || age > 60 * DAY) return null;
  return age < MINUTE ? 'just now' : `${describeSpan(age)} ago`;
}
