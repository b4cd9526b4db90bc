export interface TimeLimit {
  signal: AbortSignal;
  /** When what was limited has ended: nothing is left to wait for. */
  release(): void;
}

/**
 * Aborts after so many ms, or when `stop` does. Not AbortSignal.any() with AbortSignal.timeout(): in Node 20 the garbage
 * collector takes that timer, and the limit with it.
 */
export function timeLimit(ms: number, stop?: AbortSignal): TimeLimit {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const timer = setTimeout(end, ms);
  stop?.addEventListener('abort', end, { once: true });
  if (stop?.aborted) end();
  const release = (): void => {
    clearTimeout(timer);
    stop?.removeEventListener('abort', end);
  };
  return { signal: limit.signal, release };
}
