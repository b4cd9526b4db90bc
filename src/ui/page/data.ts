import { useEffect, useState } from 'preact/hooks';
import { MINUTE } from '../../core/clock.js';
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

const data = document.getElementById('data')?.textContent;
/** The answers inside an exported page, by their addresses below /api/; null on a served page. */
const embedded = data ? (parse(data) as Record<string, object>) : null;
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
  const found = embedded?.[address.replace(/\?.*/, '')];
  if (found) return found;
  if (embedded) throw { message: 'This is not in the export.', hint: 'forge ui' } satisfies Problem;
  const response = await fetch(`/api/${address}`).catch(() => {
    throw { message: 'The server does not answer.', hint: 'forge ui' } satisfies Problem;
  });
  const body = parse(await response.text()) as object;
  if (!response.ok) throw (body as { error: Problem }).error;
  return body;
}

interface State {
  /** Of memory, as the server counts its changes. */
  version: number;
  live: 'live' | 'still' | 'lost' | 'exported';
}

let state: State = { version: 0, live: isExported ? 'exported' : 'live' };
const news = new EventTarget();
function setState(next: Partial<State>): void {
  state = { ...state, ...next };
  news.dispatchEvent(new Event('change'));
}

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

/** A value that is read again at each event. */
function useEvent<T>(target: EventTarget, name: string, read: () => T): T {
  const [value, set] = useState(read);
  useEffect(() => {
    const listener = () => set(read);
    listener();
    target.addEventListener(name, listener);
    return () => target.removeEventListener(name, listener);
  }, []);
  return value;
}

export const useLive = (): State => useEvent(news, 'change', () => state);

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

export const useRoute = (): string[] => useEvent(window, 'hashchange', routeOf);

export const linkTo = (...words: string[]): string => `#/${words.map(encodeURIComponent).join('/')}`;
