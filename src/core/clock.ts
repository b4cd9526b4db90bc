/** Milliseconds since the process started, independent of the wall clock. performance.now() would load ten modules. */
export const elapsed = (): number => process.uptime() * 1000;

interface TimeLimit {
  /** Its reason is `time` or `stop`. */
  signal: AbortSignal;
  /** Call it when the work has ended. The timer does not keep the process alive. */
  release(): void;
}

/** Aborts after `ms`, or with `stop`. AbortSignal.any() does not work: Node 20 garbage-collects the timer. */
export function timeLimit(ms: number, stop?: AbortSignal): TimeLimit {
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
