import { setTimeout } from 'node:timers/promises';
import { splitCommand } from '../core/argv.js';
import { ForgeError, outside, usage } from '../core/error.js';
import { runProcess } from '../core/process.js';
import { oneLine } from '../core/text.js';
import type { Document } from './documents.js';

const ENDPOINT = 'https://api.linear.app/graphql';
/** Milliseconds without an answer, and for a whole one. */
const SILENCE = 3000;
const TOTAL = 15_000;
const ATTEMPTS = 3;
const MAX_BYTES = 8 * 1024 * 1024;
/** The longest wait that a server may ask for, in milliseconds. */
const MAX_WAIT = 15 * 60_000;

type Env = NodeJS.ProcessEnv;

export const hasKey = ({ LINEAR_API_KEY, LINEAR_API_KEY_COMMAND }: Env): boolean =>
  Boolean(LINEAR_API_KEY || LINEAR_API_KEY_COMMAND);

/** The key of this person: from the environment, or from a command such as the system's keychain. Null without one. */
export async function readKey(env: Env): Promise<string | null> {
  const { LINEAR_API_KEY, LINEAR_API_KEY_COMMAND } = env;
  if (LINEAR_API_KEY) return LINEAR_API_KEY.trim();
  if (!LINEAR_API_KEY_COMMAND) return null;
  const run = await runProcess(splitCommand(LINEAR_API_KEY_COMMAND), {
    ...{ cwd: '/', env: env as Record<string, string>, timeoutMs: 10_000 },
  });
  const key = run.output.tail.trim();
  if (run.exit_code === 0 && key !== '') return key;
  throw outside('linear.key_command', 'LINEAR_API_KEY_COMMAND failed.', {
    hint: 'Run that command yourself and see what it prints.',
  });
}

export async function requireKey(env: Env): Promise<string> {
  const key = await readKey(env);
  if (key !== null) return key;
  throw usage('linear.no_key', 'There is no key for Linear.', {
    hint: 'export LINEAR_API_KEY=…   # or LINEAR_API_KEY_COMMAND, a command that prints it',
  });
}

/** Only from the environment: a repository must not choose who gets the key (B-74). */
function endpointOf({ LINEAR_API_URL }: Env): URL {
  const url = new URL(LINEAR_API_URL || ENDPOINT);
  const isLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return url;
  throw usage('linear.url', 'LINEAR_API_URL must be https.');
}

/** The server did not do it now. `waitMs`: how long it asks to wait. */
export class Unavailable extends ForgeError {
  constructor(
    message: string,
    readonly waitMs = 0,
  ) {
    super('outside', 'linear.unavailable', message, { hint: 'forge linear sync   # tries again' });
  }
}

export type Request = <T>(document: Document<T>, variables: Record<string, unknown>) => Promise<T>;

/** Sends a GraphQL document. Throws Unavailable if a retry may work, and exit 6 for everything else. */
export function connect(env: Env, key: string): Request {
  const url = endpointOf(env);
  const say = (text: string): string => oneLine(text.replaceAll(key, '<key>'), 200);
  return async ({ text, answer }, variables) => {
    const body = JSON.stringify({ query: text, variables });
    let reply = await post(url, key, body, say);
    // A request that was refused quickly may succeed if it is repeated.
    for (let attempt = 1; reply.status >= 500 && reply.waitMs === 0 && attempt < ATTEMPTS; attempt++) {
      await setTimeout(100 * attempt + Math.random() * 100);
      reply = await post(url, key, body, say);
    }
    const { success, data, error } = answer.safeParse(dataOf(reply, say));
    if (success) return data;
    const field = error.issues[0]?.path.join('.') || 'data';
    throw outside(
      'linear.answer',
      `Linear's answer is not what forge expects: ${field} is missing or wrong.`,
      {
        hint: 'Check LINEAR_API_URL, and try again later: forge linear sync',
      },
    );
  };
}

interface Reply {
  status: number;
  waitMs: number;
  /** Null without JSON. */
  answer: {
    data?: unknown;
    errors?: { message?: string; extensions?: { code?: unknown } }[];
  } | null;
}

function dataOf({ status, waitMs, answer }: Reply, say: (text: string) => string): unknown {
  const [error] = answer?.errors ?? [];
  const code = String(error?.extensions?.code ?? '');
  if (status === 429 || (status < 500 && code === 'RATELIMITED')) {
    const until = waitMs > 0 ? ` It asked to wait until ${new Date(Date.now() + waitMs).toISOString()}.` : '';
    throw new Unavailable(`Linear limits the rate of requests.${until}`, waitMs);
  }
  if (status >= 500) throw new Unavailable(`Linear answered ${status}.`, waitMs);
  if (status === 401 || /AUTHENTICATION/.test(code))
    throw outside('linear.refused', 'Linear refused the key.', {
      hint: 'Make a new key in Linear, under Settings, API.',
    });
  if (!answer) throw new Unavailable(`Linear answered ${status} without JSON.`, waitMs);
  if (error || !answer.data)
    throw outside('linear.error', `Linear: ${say(error?.message ?? `status ${status}`)}`);
  return answer.data;
}

function parse(text: string, type: string | null): Reply['answer'] {
  try {
    return /json/.test(type ?? '') ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** `Retry-After` in seconds or as a date, else the reset of the rate limit; capped. */
function waitOf(headers: Headers): number {
  const after = headers.get('retry-after') ?? '';
  const reset = Number(headers.get('x-ratelimit-requests-reset') ?? Number.NaN);
  const ms = /^\d+$/.test(after)
    ? Number(after) * 1000
    : after !== ''
      ? Date.parse(after) - Date.now()
      : reset - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_WAIT) : 0;
}

async function post(url: URL, key: string, body: string, say: (text: string) => string): Promise<Reply> {
  const silence = new AbortController();
  const quiet = (): NodeJS.Timeout => globalThis.setTimeout(() => silence.abort(), SILENCE);
  let timer = quiet();
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { authorization: key, 'content-type': 'application/json', accept: 'application/json' },
      // A redirect would take the key elsewhere.
      redirect: 'error',
      signal: AbortSignal.any([silence.signal, AbortSignal.timeout(TOTAL)]),
    });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      clearTimeout(timer);
      timer = quiet();
      size += (part as Uint8Array).length;
      if (size > MAX_BYTES) throw new Unavailable(`Linear answered with more than ${MAX_BYTES} bytes.`);
      parts.push(part as Uint8Array);
    }
    const { status, headers } = response;
    const answer = parse(Buffer.concat(parts).toString('utf8'), headers.get('content-type'));
    return { status, waitMs: waitOf(headers), answer };
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    const { name, cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const why =
      name === 'AbortError' || name === 'TimeoutError'
        ? 'it does not answer'
        : (cause?.code ?? cause?.message ?? message);
    const place = url.href === ENDPOINT ? '' : ` at ${url.host} (LINEAR_API_URL)`;
    throw new Unavailable(`Linear cannot be reached${place}: ${say(String(why))}.`);
  } finally {
    clearTimeout(timer);
  }
}
