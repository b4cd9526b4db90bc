import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { openForge, systemWorld } from '../../src/index.js';
import { type PageServer, startPage } from '../../src/ui/server.js';
import { HANG, type Project } from './project.js';

const CHROMIUM = '/usr/bin/chromium';

/** Whether Debian's chromium is here; says so loudly when it is not. */
export function hasChromium(): boolean {
  const isThere = existsSync(CHROMIUM);
  if (!isThere)
    process.stderr.write('SKIPPED: no chromium on this machine; the page is not tested in a browser.\n');
  return isThere;
}

/** A page server in this process, as `forge ui` starts one. */
export async function servePage({ dir }: Pick<Project, 'dir'>): Promise<PageServer> {
  const world = systemWorld(process.env, false);
  const server = await startPage({
    open: () => openForge(dir, { world, dryRun: true }),
    mask: async (error) => error,
    port: 0,
  });
  onTestFinished(() => server.close());
  return server;
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A request as it stands: fetch would change the Host, and refuse some paths. */
export function ask(
  { port }: Pick<PageServer, 'port'>,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  return new Promise((done, fail) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, timeout: HANG }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    sent.on('error', fail);
    sent.end();
  });
}

/** Asks as a program that has the token. */
export async function askApi<T>(server: PageServer, path: string): Promise<T> {
  const { body } = await ask(server, path, { headers: { authorization: `Bearer ${server.token}` } });
  return JSON.parse(body) as T;
}

let browser: Promise<Browser> | undefined;

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'].concat(
  ['background-networking', 'component-update', 'sync'].map((name) => `--disable-${name}`),
);

interface Opened {
  page: Page;
  context: BrowserContext;
  /** What the console and the policy complained about. */
  complaints: string[];
}

/** The page in a browser with cookies of its own, opened by its address. */
export async function openPage(url: string): Promise<Opened> {
  const opened = await openContext();
  await opened.page.goto(url);
  // The address leads on to the page.
  await opened.page.waitForURL((address) => address.search === '');
  await settled(opened.page);
  return opened;
}

export async function openFile(path: string): Promise<Opened> {
  const opened = await openContext();
  await opened.page.goto(pathToFileURL(path).href);
  await settled(opened.page);
  return opened;
}

async function openContext(): Promise<Opened> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: HANG });
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(HANG);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on(
    'console',
    (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`),
  );
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, context, complaints };
}

/** Goes to a view and waits until it has been read. */
export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate((target) => {
    location.hash = target;
  }, hash);
  await settled(page);
}

const settled = (page: Page): Promise<unknown> =>
  page.waitForFunction(() => document.querySelector('h1') && !document.querySelector('.loading'));

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export const VIEWS = 'overview features kfr sessions knowledge ledger issues skills tree recall fleet'.split(
  ' ',
);

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds that is serious; evaluated, because the policy forbids script elements. */
async function seriousIn(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  });
}

/** What is wrong with the view that is open: a reported problem, what axe finds, and a page that scrolls sideways. */
export async function faultsOf(page: Page): Promise<string[]> {
  const alerts = await page.getByRole('alert').allInnerTexts();
  const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  return [...alerts, ...(await seriousIn(page)), ...(isTooWide ? ['it scrolls sideways'] : [])];
}
