/** Milliseconds since the process started, independent of the wall clock. performance.now() would load ten modules. */
export const elapsed = (): number => process.uptime() * 1000;

/**
 * Aborts after `ms` with the reason `time`, or with `stop`. Call `release` when the work has ended. AbortSignal.any() does
 * not work: Node 20 garbage-collects the timer.
 */
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
