/** Milliseconds since this process was started, whatever is done to the clock. Node loads ten modules for performance.now(). */
export const elapsed = (): number => process.uptime() * 1000;

interface TimeLimit {
  /** Its reason is `time` or `stop`. */
  signal: AbortSignal;
  /** Call when the limited work has ended. The timer itself keeps no process alive. */
  release(): void;
}

/**
 * Aborts after `ms`, or when `stop` does. AbortSignal.any() with AbortSignal.timeout() does not work: in Node 20 the
 * garbage collector takes that timer, and the limit with it.
 */
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
