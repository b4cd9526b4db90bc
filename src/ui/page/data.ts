import { useEffect, useState } from 'preact/hooks';
import { escapeControls } from '../../core/text.js';
import type { Answers } from '../schemas.js';

export type { Answers } from '../schemas.js';

export interface Problem {
  message: string;
  hint?: string | undefined;
}

/** Text that would hide or reorder what stands around it is shown as its numbers (B-06). */
const parse = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value === 'string' ? escapeControls(value) : value));

/** The answers inside an exported page, by their addresses; null on a served page. */
const embedded: Record<string, object> | null = (() => {
  const text = document.getElementById('data')?.textContent;
  return text ? (parse(text) as Record<string, object>) : null;
})();
export const isExported = embedded !== null;

/** Asks the API, or looks into an exported page. Throws a `Problem`. */
export async function ask<K extends keyof Answers>(path: string): Promise<Answers[K]> {
  if (embedded) return fromExport(path) as Answers[K];
  asked = Date.now();
  const response = await fetch(path).catch(() => {
    throw { message: 'The server does not answer.', hint: 'forge ui' } satisfies Problem;
  });
  const body = parse(await response.text());
  if (!response.ok) throw (body as { error: Problem }).error;
  return body as Answers[K];
}

function fromExport(path: string): object {
  const [route = '', query = ''] = path.split('?');
  const found = embedded?.[route];
  if (!found) throw { message: 'This is not in the export.', hint: 'forge ui' } satisfies Problem;
  return route === '/api/log' ? pageOf(found as Answers['log'], new URLSearchParams(query)) : found;
}

function pageOf({ records: all }: Answers['log'], query: URLSearchParams): Answers['log'] {
  const [tier, text] = [query.get('tier'), query.get('text')?.toLowerCase()];
  const records = all.filter(
    (row) => (!tier || row.tier === tier) && (!text || row.text.toLowerCase().includes(text)),
  );
  const offset = Number(query.get('offset') ?? 0);
  return {
    records: records.slice(offset, offset + Number(query.get('limit') ?? 100)),
    total: records.length,
    offset,
  };
}

/** `closed`: the server has ended, or began anew with another address. */
type LiveState = 'live' | 'still' | 'lost' | 'closed' | 'exported';

let state: { version: number; live: LiveState } = { version: 0, live: isExported ? 'exported' : 'lost' };
const listeners = new Set<() => void>();
function setState(next: Partial<typeof state>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

/** Opens the stream of changes. The browser opens it again when it breaks. */
export function listen(): void {
  // Ages are drawn again.
  setInterval(() => setState({}), MINUTE);
  if (isExported) return;
  const source = new EventSource('/api/events');
  let known: number | null = null;
  let failures = 0;
  source.addEventListener('change', ({ data }) => {
    const { version, live } = JSON.parse(data) as { version: number; live: boolean };
    const isNews = known !== null && known !== version;
    known = version;
    failures = 0;
    setState({ live: live ? 'live' : 'still', version: state.version + (isNews ? 1 : 0) });
  });
  source.addEventListener('error', () => {
    failures++;
    const isOver = source.readyState === EventSource.CLOSED || failures > PATIENCE;
    setState({ live: isOver ? 'closed' : 'lost' });
  });
  document.addEventListener('visibilitychange', () => {
    // Some answers have ages in them.
    if (!document.hidden && Date.now() - asked > MINUTE) setState({ version: state.version + 1 });
  });
}

const MINUTE = 60_000;
/** The browser tries again every few seconds. */
const PATIENCE = 2;
/** When something was last asked. */
let asked = 0;

export function useLive(): typeof state {
  const [now, set] = useState(state);
  useEffect(() => {
    const listener = () => set(state);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return now;
}

export interface Answer<T> {
  data: T | null;
  problem: Problem | null;
  /** Asks again. */
  reload(): void;
}

/** An answer that is asked for again when memory changes. The old one stays until the new one is there. */
export function useAnswer<K extends keyof Answers>(_name: K, path: string): Answer<Answers[K]> {
  const { version } = useLive();
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<{ path: string; data: Answers[K] | null; problem: Problem | null }>({
    ...{ path, data: null, problem: null },
  });
  useEffect(() => {
    let wanted = true;
    ask<K>(path).then(
      (data) => wanted && setAnswer({ path, data, problem: null }),
      (problem: Problem) => wanted && setAnswer({ path, data: null, problem }),
    );
    return () => {
      wanted = false;
    };
  }, [path, version, turn]);
  const isOwn = answer.path === path;
  return {
    data: isOwn ? answer.data : null,
    problem: isOwn ? answer.problem : null,
    reload: () => setTurn(turn + 1),
  };
}

/** `#/features/F-1` → `['features', 'F-1']` */
const routeOf = (): string[] => location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decoded);

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export function useRoute(): string[] {
  const [route, setRoute] = useState(routeOf());
  useEffect(() => {
    const listener = () => setRoute(routeOf());
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, []);
  return route;
}

export const linkTo = (...words: string[]): string => `#/${words.map(encodeURIComponent).join('/')}`;
