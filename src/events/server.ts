import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { elapsed } from '../core/clock.js';
import { homeFolder } from '../core/environment.js';
import { ForgeError, outside, usage } from '../core/error.js';
import { readTarget as readFile } from '../core/files.js';
import { oneLine } from '../core/text.js';
import { type Context, readConfig, warnOnce } from '../project/project.js';
import type { ConnectionOptions, NatsConnection } from './nats.js';
import { eventUrl, whyUnapproved } from './outbox.js';

/** Milliseconds that sending may take after a command, loading and connecting included. */
export const BUDGET = 300;
/** Milliseconds of silence after which a command about events gives up. */
export const SILENCE = 3000;
const MAX_FILE_BYTES = 64 * 1024;

type Nats = typeof import('./nats.js');
type Env = NodeJS.ProcessEnv;

/** An open connection, with the library behind it. */
export interface Server {
  nats: Nats;
  connection: NatsConnection;
  /** Its address without credentials. */
  name: string;
  /** An error of this server in one line, without credentials. */
  describe(error: unknown): string;
}

/** ms in which this process does not ask a server again that did not answer. */
const SILENT_MS = 5000;

/** Until when a command does not ask the server again, by its list of warnings. */
const away = new WeakMap<readonly string[], number>();

/** True while the server did not answer this command just now. */
export const isSilent = ({ warnings }: Context): boolean => (away.get(warnings) ?? 0) > elapsed();

/** EVT-02: a command shows one warning about an unreachable server, however many parts failed. */
export function warnAway(context: Context, error: unknown): void {
  away.set(context.warnings, elapsed() + SILENT_MS);
  const kept = 'Claims hold in the worktrees of this repository only, and events wait in the outbox';
  warnOnce(context, `${kept} (forge events flush): ${(error as Error).message}`);
}

/** Exit 3 while the server is not approved, exit 2 while events are off. */
export function requireOn(context: Context): void {
  if (eventUrl(context) !== null) return;
  // Exit 4 for damaged settings.
  readConfig(context);
  const why = whyUnapproved(context);
  if (why !== null) throw new ForgeError('refused', 'trust.needed', why, { hint: 'forge trust' });
  throw usage('events.off', 'Events are off: no NATS server is set.', {
    hint: 'forge config set events.url nats://HOST:4222   # for everyone who works here\nexport NATS_URL=nats://HOST:4222   # for you',
  });
}

/** Exit 6 `events.unreachable` when there is no connection after `ms`. `stays`: reconnects forever. */
export async function openServer(context: Context, ms: number, stays = false): Promise<Server> {
  const nats = await import('./nats.js');
  const { name, servers, options, secrets } = readTarget(context, nats);
  const describe = (error: unknown): string => describeError(error, secrets);
  const once = { reconnect: false, maxReconnectAttempts: 0 };
  const forever = { reconnect: true, maxReconnectAttempts: -1, reconnectTimeWait: 500 };
  try {
    const connecting = () =>
      nats.connect({
        ...options,
        ...{ servers, name: 'forge' },
        // Each server gets its share, so that a silent one leaves time for the others.
        timeout: Math.max(50, Math.floor(ms / servers.length)),
        ...(stays ? forever : once),
        noAsyncTraces: true,
      });
    const connection = await endingSockets(() => within(ms, connecting()));
    return { nats, connection, name, describe };
  } catch (error) {
    const why = describe(error);
    throw outside('events.unreachable', `${name} cannot be reached: ${why}.`, { hint: hintFor(why) });
  }
}

function hintFor(why: string): string {
  if (why === BAD_CREDENTIALS)
    return 'export NATS_USER=… NATS_PASSWORD=…   # or NATS_TOKEN, NATS_NKEY, NATS_CREDS';
  if (/verify|self-signed/.test(why))
    return "export NATS_CA=FILE   # the authority that signed the server's certificate";
  return 'forge events flush   # tries again';
}

/** The sockets that an attempt opened. Attempts share one storage, because each storage slows down every promise. */
const attempt = new AsyncLocalStorage<Socket[]>();

/** The library leaves the socket of a failed attempt open, which would keep this process alive. */
async function endingSockets<T>(connect: () => Promise<T>): Promise<T> {
  const sockets: Socket[] = [];
  const collect = (message: unknown): void => {
    if (attempt.getStore() === sockets) sockets.push((message as { socket: Socket }).socket);
  };
  subscribe('net.client.socket', collect);
  try {
    return await attempt.run(sockets, connect);
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error;
  } finally {
    unsubscribe('net.client.socket', collect);
  }
}

/** Each credential by its name in a context file of the `nats` program, and the variable that overrides it. */
const CREDENTIALS = {
  ...{ url: 'NATS_URL', user: 'NATS_USER', password: 'NATS_PASSWORD', token: 'NATS_TOKEN' },
  ...{ nkey: 'NATS_NKEY', creds: 'NATS_CREDS', ca: 'NATS_CA', cert: 'NATS_CERT', key: 'NATS_KEY' },
};
type Credentials = { [K in keyof typeof CREDENTIALS]?: string };

/** How to reach the server. Credentials come from the environment or from a context file of this person, never from the repository. */
function readTarget(context: Context, nats: Nats) {
  const { env } = context.world;
  const given: Credentials = readNatsContext(env);
  for (const [name, variable] of Object.entries(CREDENTIALS))
    if (env[variable]) given[name as keyof Credentials] = env[variable];
  const parts = (given.url || readConfig(context).events.url).split(',').map(parseAddress);
  const [first] = parts;
  const user = given.user || first?.user;
  const pass = given.password || first?.pass;
  const token = given.token || (first?.pass ? undefined : first?.user);
  const hosts = parts.map(({ host }) => host);
  const { ca, cert, key, nkey, creds } = given;
  const tls = {
    ...(ca ? { ca: readCredential(env, ca, 'NATS_CA') } : {}),
    ...(cert ? { cert: readCredential(env, cert, 'NATS_CERT') } : {}),
    ...(key ? { key: readCredential(env, key, 'NATS_KEY') } : {}),
    // For the certificate of an IP address, which the library checks against the name "localhost".
    host: hosts[0]?.replace(/:\d+$/, '').replace(/^\[|\]$/g, '') ?? '',
  };
  const wantsTls = parts.some((each) => each.tls) || Boolean(ca || cert);
  const read = (path: string, name: string): Buffer => Buffer.from(readCredential(env, path, name).trim());
  const seed = nkey && (/^S[A-Z2-7]{57}$/.test(nkey) ? Buffer.from(nkey) : read(nkey, 'NATS_NKEY'));
  const authenticator = creds
    ? nats.credsAuthenticator(read(creds, 'NATS_CREDS'))
    : seed && nats.nkeyAuthenticator(seed);
  const options: ConnectionOptions = {
    ...(user && pass ? { user, pass } : token ? { token } : {}),
    ...(wantsTls ? { tls } : {}),
    ...(authenticator ? { authenticator } : {}),
  };
  const name = parts.map(({ host, tls }) => `${tls ? 'tls' : 'nats'}://${host}`).join(',');
  const secrets = [pass, token, nkey].flatMap((secret) => (secret && secret.length > 2 ? [secret] : []));
  return { name, servers: hosts, options, secrets };
}

/** `nats://user:password@host:4222`, `tls://host`, `host:4222`; exit 2 for anything else. The text is never shown. */
function parseAddress(given: string) {
  const text = given.trim();
  try {
    const url = new URL(/^[a-z]+:\/\//i.test(text) ? text : `nats://${text}`);
    if (!['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') throw new Error('protocol');
    return {
      host: `${url.hostname}:${url.port || 4222}`,
      tls: url.protocol === 'tls:',
      user: decodeURIComponent(url.username),
      pass: decodeURIComponent(url.password),
    };
  } catch {
    throw usage('events.url', 'An address of a NATS server is nats://HOST:PORT or tls://HOST:PORT.', {
      hint: 'export NATS_URL=nats://HOST:4222',
    });
  }
}

/** A file of the `nats` program: `$XDG_CONFIG_HOME/nats/context/NAME.json`. */
function readNatsContext(env: Env): Credentials {
  const name = env.NATS_CONTEXT;
  if (!name) return {};
  if (!/^[\w-][\w.-]*$/.test(name))
    throw usage('events.context', 'NATS_CONTEXT is the name of a context of the nats program.');
  const home = env.XDG_CONFIG_HOME?.startsWith('/') ? env.XDG_CONFIG_HOME : join(homeFolder(env), '.config');
  const text = readCredential(env, join(home, 'nats', 'context', `${name}.json`), 'NATS_CONTEXT');
  try {
    const fields = Object.entries(JSON.parse(text) as object);
    return Object.fromEntries(fields.filter(([, value]) => typeof value === 'string' && value !== ''));
  } catch {
    throw usage('events.context', `The context ${name} is not JSON.`, { field: 'NATS_CONTEXT' });
  }
}

function readCredential(env: Env, path: string, name: string): string {
  const full = path.startsWith('~/') ? join(homeFolder(env), path.slice(2)) : path;
  const bytes = readFile(full, MAX_FILE_BYTES);
  if (bytes) return Buffer.from(bytes).toString('utf8');
  throw usage('events.file', `${name}: there is no file ${oneLine(path)}.`, { field: name });
}

const BAD_CREDENTIALS = 'it refused the credentials';

/** B-77: what the library or the server reported, without credentials. */
function describeError(error: unknown, secrets: readonly string[]): string {
  const { message = String(error), code, name } = error as Error & { code?: unknown };
  const known: [pattern: RegExp, words: string][] = [
    [/ECONNREFUSED|connection refused/i, 'connection refused'],
    [/timeout/i, 'it does not answer'],
    [/ENOTFOUND|EAI_AGAIN|ESERVFAIL|ENODATA|ETIMEOUT/, 'its name cannot be resolved'],
    [/authorization|authentication/i, BAD_CREDENTIALS],
    [/permissions? violation/i, 'the account may not do this'],
  ];
  const all = `${String(code ?? '')} ${name} ${message}`;
  const words = known.find(([pattern]) => pattern.test(all))?.[1];
  if (words !== undefined) return words;
  const safe = secrets.reduce((text, secret) => text.replaceAll(secret, '<secret>'), message);
  return oneLine(safe, 200).replace(/\.$/, '');
}

/** JetStream reports failures as numbers. */
export const codeOf = (error: unknown): number => (error as { code?: number }).code ?? 0;
export const NOT_FOUND = 10059;

/** Three copies in a cluster; one where the server is alone or has too little room for more. */
export const replicated = <T>({ connection }: Server, make: (copies: number) => Promise<T>): Promise<T> =>
  connection.info?.cluster ? make(3).catch(() => make(1)) : make(1);

/** Rejects after `ms`, whatever the server does. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout')), Math.max(1, ms));
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Closes without waiting for the server. */
export const closeServer = ({ connection }: Server): void => void connection.close().catch(() => undefined);

/** Opens a connection for `work`. Exit 6 with `hint` when that fails, exit 2 while events are off. */
export async function withServer<T>(
  context: Context,
  hint: string,
  work: (server: Server) => Promise<T>,
  { ms = SILENCE, stays = false }: { ms?: number; stays?: boolean } = {},
): Promise<T> {
  requireOn(context);
  const server = await openServer(context, ms, stays);
  try {
    return await work(server);
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    throw outside('events.failed', `${server.name}: ${server.describe(error)}.`, { hint });
  } finally {
    closeServer(server);
  }
}
