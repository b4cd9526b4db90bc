import { useEffect, useState } from 'preact/hooks';
import { escapeControls } from '../../core/text.js';
import type { Answers } from '../api.js';

export type { Answers } from '../api.js';

export interface Problem {
  message: string;
  hint?: string | undefined;
}

/** The `:id` of a route, and its parameters. Empty ones are left out. */
export type Given = Readonly<Record<string, string | number>>;

/** Text that would hide or reorder what stands around it is shown as its numbers (B-06). */
const parse = (text: string): unknown =>
  JSON.parse(text, (_, value) => (typeof value === 'string' ? escapeControls(value) : value));

/** The answers inside an exported page, by their addresses below /api/; null on a served page. */
const embedded: Record<string, object> | null = (() => {
  const text = document.getElementById('data')?.textContent;
  return text ? (parse(text) as Record<string, object>) : null;
})();
export const isExported = embedded !== null;

/** `features/:id` and `{ id: 'F-1' }` → `features/F-1` */
function addressOf(route: string, { id = '', ...query }: Given): string {
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === '' ? [] : [[name, String(value)]],
  );
  const path = route.replace(':id', encodeURIComponent(id));
  return words.length === 0 ? path : `${path}?${new URLSearchParams(words)}`;
}

/** Asks the API, or looks into an exported page. Throws a `Problem`. */
async function ask(address: string): Promise<object> {
  if (embedded) return fromExport(embedded, address);
  const response = await fetch(`/api/${address}`).catch(() => {
    throw { message: 'The server does not answer.', hint: 'forge ui' } satisfies Problem;
  });
  const body = parse(await response.text()) as object;
  if (!response.ok) throw (body as { error: Problem }).error;
  return body;
}

function fromExport(answers: Record<string, object>, address: string): object {
  const found = answers[address.replace(/\?.*/, '')];
  if (!found) throw { message: 'This is not in the export.', hint: 'forge ui' } satisfies Problem;
  return found;
}

interface State {
  /** Of memory, as the server counts its changes. */
  version: number;
  live: 'live' | 'still' | 'lost' | 'exported';
}

let state: State = { version: 0, live: isExported ? 'exported' : 'live' };
const listeners = new Set<() => void>();
function setState(next: Partial<State>): void {
  state = { ...state, ...next };
  for (const listener of listeners) listener();
}

const MINUTE = 60_000;

/** Opens the stream of changes. The browser opens it again when it breaks. */
export function listen(): void {
  // Ages are drawn again.
  setInterval(() => setState({}), MINUTE);
  if (isExported) return;
  const source = new EventSource('/api/events');
  source.addEventListener('change', ({ data }) => {
    const { version, live } = JSON.parse(data) as { version: number; live: boolean };
    setState({ version, live: live ? 'live' : 'still' });
  });
  source.addEventListener('error', () => setState({ live: 'lost' }));
}

export function useLive(): State {
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
}

/** An answer that is asked for again when memory changes. The old one stays until the new one is there. */
export function useAnswer<P extends keyof Answers>(route: P, given: Given = {}): Answer<Answers[P]> {
  const { version } = useLive();
  const address = addressOf(route, given);
  const [answer, setAnswer] = useState<{ of: string; data?: object; problem?: Problem }>({ of: '' });
  useEffect(() => {
    let isWanted = true;
    ask(address).then(
      (data) => isWanted && setAnswer({ of: address, data }),
      (problem: Problem) => isWanted && setAnswer({ of: address, problem }),
    );
    return () => {
      isWanted = false;
    };
  }, [address, version]);
  const { data = null, problem = null } = answer.of === address ? answer : {};
  return { data: data as Answers[P] | null, problem };
}

/** `#/features/F-1` → `['features', 'F-1']` */
const routeOf = (): string[] =>
  location.hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);

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
