import { randomBytes, timingSafeEqual } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { outside, systemCode, toForgeError } from '../core/error.js';
import { pageFile } from '../core/templates.js';
import type { Forge, ForgeError } from '../index.js';
import { ROUTES, Source, writeCsv } from './api.js';
import { type Live, watchMemory } from './live.js';
import { enteringPage, PAGE_POLICY, plainPage, servedPage } from './shell.js';

interface PageOptions {
  /** Opens `.forge/` without writing. */
  open(): Forge;
  /** An error without secrets. */
  mask(error: ForgeError): Promise<ForgeError>;
  /** 0: a free one. */
  port: number;
}

export interface PageServer {
  /** Opens the page once, and gives its browser a cookie (B-102). */
  url: string;
  /** For programs: `Authorization: Bearer TOKEN`. */
  token: string;
  port: number;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_STREAMS = 32;
const MAX_CONNECTIONS = 256;

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': PAGE_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** VIS-02: serves the page on this machine alone. Exit 6 if the port is taken. */
export async function startPage(options: PageOptions): Promise<PageServer> {
  const { places } = options.open();
  const source = new Source(options.open);
  const news = new News().setMaxListeners(MAX_STREAMS);
  const keys = new Keys();
  const app = makeApp(source, news, keys, options.mask);
  const limits = { headersTimeout: 5000, requestTimeout: 10_000 };
  const server = serve({ fetch: app.fetch, port: options.port, hostname: HOST, serverOptions: limits });
  if ('maxConnections' in server) server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((done, fail) => {
    server.once('listening', done);
    server.once('error', (error) => fail(listenError(error, options.port)));
  });
  const { port } = server.address() as AddressInfo;
  keys.port = port;
  news.live = watchMemory(places, () => {
    source.forget();
    news.changed();
  });
  const close = async (): Promise<void> => {
    news.live?.close();
    const closed = new Promise<void>((done) => server.close(() => done()));
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
  };
  return { url: `http://${HOST}:${port}/?token=${keys.once}`, token: keys.token, port, close };
}

function listenError(error: Error, port: number): Error {
  const taken = systemCode(error) === 'EADDRINUSE';
  const why = taken ? 'another program listens there' : error.message;
  return outside('ui.port', `Port ${port} on ${HOST} cannot be used: ${why}.`, {
    hint: 'forge ui   # without --port it takes a free one',
    cause: error,
  });
}

const makeKey = (): string => randomBytes(24).toString('base64url');

/** Two keys: the one in the address opens it once, for a cookie with the other, which programs send as a bearer. */
class Keys {
  port = 0;
  readonly once = makeKey();
  readonly token = makeKey();
  private used = false;

  private get cookie(): string {
    return `forge_${this.port}=${this.token}`;
  }

  /** The header for a browser that opens the address first; null when it was opened before, or the token is another. */
  exchange(given: string): string | null {
    if (this.used || !isSame(given, this.once)) return null;
    this.used = true;
    return `${this.cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  opens(context: Context): boolean {
    const cookies = (context.req.header('cookie') ?? '').split(/; */);
    const bearer = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    return (
      cookies.some((one) => isSame(one, this.cookie)) || (bearer !== undefined && isSame(bearer, this.token))
    );
  }

  /** B-95: a name that resolves to this machine is not this server. */
  isOwnHost(host: string | undefined): boolean {
    const port = this.port === 80 ? '' : `:${this.port}`;
    return host === `${HOST}${port}` || host === `localhost${port}`;
  }
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Emits `change` after files of memory have changed. */
class News extends EventEmitter {
  live: Live | null = null;
  private version = 0;

  changed(): void {
    this.version++;
    this.emit('change');
  }

  /** The first event of each page, and that of each change. */
  get event(): { event: string; data: string } {
    const data = JSON.stringify({ version: this.version, live: this.live?.works ?? false });
    return { event: 'change', data };
  }
}

/** The body of every refusal. 404 says nothing about what exists (B-98). */
function refusal(context: Context, status: 403 | 404 | 405 | 413 | 503, code: string, message: string) {
  const [kind, exit] = status === 404 ? ['usage', 2] : ['refused', 3];
  return context.json({ error: { kind, code, message, exit } }, status);
}

function makeApp(source: Source, news: News, keys: Keys, mask: PageOptions['mask']): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const refused = refuse(context, keys);
    if (refused) {
      context.res = refused;
      context.header('Connection', 'close');
    } else await next();
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
  });
  app.get('/', (context) => openPage(context, keys));
  // Read at the start: an update of forge must not mix two versions.
  const files = { 'page.js': 'text/javascript', 'page.css': 'text/css' };
  for (const [name, type] of Object.entries(files)) {
    const text = pageFile(name);
    app.get(`/${name}`, (context) => context.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` }));
  }
  app.use('/api/*', async (context, next) => {
    if (keys.opens(context)) return next();
    const how =
      'Open the address that "forge ui" printed, or send the token of "forge ui --json" as a bearer.';
    return refusal(context, 403, 'ui.token', how);
  });
  app.get('/api/events', (context) => {
    if (news.listenerCount('change') >= MAX_STREAMS)
      return refusal(context, 503, 'ui.busy', `At most ${MAX_STREAMS} pages can be open.`);
    return streamSSE(context, async (stream) => {
      const send = (): Promise<void> => stream.writeSSE(news.event);
      news.on('change', send);
      await send();
      await new Promise<void>((done) => stream.onAbort(done));
      news.off('change', send);
    });
  });
  app.get('/api/log.csv', async (context) => {
    const csv = await writeCsv(source, context.req.query());
    context.header('Content-Disposition', 'attachment; filename="forge-log.csv"');
    return context.body(csv, 200, { 'Content-Type': 'text/csv; charset=utf-8' });
  });
  for (const [path, { run }] of Object.entries(ROUTES))
    app.get(`/api/${path}`, async (context) =>
      context.json(await run(source, { ...context.req.query(), ...context.req.param() })),
    );
  app.notFound((context) => refusal(context, 404, 'ui.nothing', 'There is nothing here.'));
  app.onError(async (error, context) => {
    const known = await mask(toForgeError(error));
    return context.json({ error: known.toJSON() }, statusOf(known));
  });
  return app;
}

const ONLY_READS = 'This server only reads: GET. Type a forge command to change memory.';

/** Before anything is read: other hosts, other sites, other methods, bodies (B-95, B-96, B-99). */
function refuse(context: Context, keys: Keys): Response | null {
  const { method, path } = context.req;
  const header = (name: string): string | undefined => context.req.header(name);
  const [host, origin, site = 'none'] = ['host', 'origin', 'sec-fetch-site'].map(header);
  // A link in a chat or a terminal in the browser may open the page, and nothing else.
  const isLink = header('sec-fetch-dest') === 'document' && path === '/';
  const isForeign = (origin ?? `http://${host}`) !== `http://${host}`;
  if (!keys.isOwnHost(host))
    return refusal(context, 403, 'ui.host', 'This server answers to 127.0.0.1 and localhost only.');
  if (isForeign || !(isLink || ['none', 'same-origin'].includes(site)))
    return refusal(context, 403, 'ui.origin', 'Another site may not ask this server.');
  if (method !== 'GET' && method !== 'HEAD') {
    context.header('Allow', 'GET, HEAD');
    return refusal(context, 405, 'ui.method', ONLY_READS);
  }
  if (Number(header('content-length') ?? 0) > 0 || header('transfer-encoding') !== undefined)
    return refusal(context, 413, 'ui.body', 'This server reads no body.');
  return null;
}

function openPage(context: Context, keys: Keys): Response {
  const token = context.req.query('token');
  const cookie = token === undefined ? null : keys.exchange(token);
  if (cookie !== null) context.header('Set-Cookie', cookie);
  if (cookie !== null || (token !== undefined && keys.opens(context))) return context.html(enteringPage());
  if (token === undefined && keys.opens(context)) return context.html(servedPage());
  const why =
    'The address that forge ui prints opens the page once. It was opened before, or belongs to a server that has ended. Type "forge ui" for a new one.';
  return context.html(plainPage('This address does not open the page', why), 403);
}

function statusOf({ kind, code }: ForgeError): 400 | 404 | 500 | 503 {
  if (code === 'not_a_forge') return 503;
  if (code.endsWith('.unknown')) return 404;
  return kind === 'usage' ? 400 : 500;
}
