// Figures of the page: how soon it is there, what it weighs, and how fast its API answers with 100,000 records behind it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { ROOT } from '../scripts/built.mjs';
import { rounds, summary } from './measure.mjs';
import { makeCycles } from './records.mjs';
import { forge } from './repositories.mjs';

const CHROMIUM = '/usr/bin/chromium';
/** Two records for each cycle. */
const [MANY, SOME] = [50_000, 5000];
const CALLS = rounds(200);
const ROUTES = ['overview', 'features', 'kfr', 'sessions', 'knowledge', 'ledger', 'charts', 'tree', 'log'];

/** Starts the server; `ms` until its address is printed. */
async function start({ cwd, env }) {
  const started = performance.now();
  const [program, ...args] = forge('ui', '--json');
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(child.stdout, 'data');
  const ms = performance.now() - started;
  const address = JSON.parse(line);
  const ask = async (path) => {
    const headers = { authorization: `Bearer ${address.token}` };
    const response = await fetch(`http://127.0.0.1:${address.port}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const end = async () => {
    child.kill('SIGINT');
    await once(child, 'exit');
  };
  return { ...address, ms, pid: child.pid, ask, end };
}

async function withServer(place, work) {
  const server = await start(place);
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

async function starting(_figure, place) {
  const times = [];
  for (let i = 0; i < rounds(15); i++) times.push(await withServer(place, async ({ ms }) => ms));
  return summary(times);
}

/** 0.99 of all answers, routes in turn, each page of the log another one. What was read first counts by itself. */
const answers =
  (quantile) =>
  async (_figure, { env }, scratch) => {
    const place = await makeCycles(scratch, env, MANY);
    return withServer(place, async ({ ask }) => {
      for (const route of ROUTES) await ask(`/api/${route}`);
      const times = [];
      for (let i = 0; i < CALLS * ROUTES.length; i++) {
        const route = ROUTES[i % ROUTES.length];
        const begun = performance.now();
        await ask(route === 'log' ? `/api/log?offset=${(i * 997) % (MANY * 2)}` : `/api/${route}`);
        times.push(performance.now() - begun);
      }
      times.sort((a, b) => a - b);
      const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
      return { median: at(quantile), min: times[0], max: times.at(-1) };
    });
  };

/** From a change of memory to the answer of one route. */
const afterChange =
  (route) =>
  async (_figure, { env }, scratch) => {
    const place = await makeCycles(scratch, env, MANY);
    return withServer(place, async ({ ask }) => {
      const begun = performance.now();
      await ask(route);
      const ms = performance.now() - begun;
      return { median: ms, min: ms, max: ms };
    });
  };

/** The processor time of a minute, in ms, with a page open. */
async function idle(_figure, place) {
  return withServer(place, async ({ pid, port, token, ask }) => {
    await ask('/api/overview');
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`http://127.0.0.1:${port}/api/events`, { headers, signal: stop.signal });
    const ticks = () => {
      const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .split(') ')[1]
        .split(' ')
        .slice(11, 13);
      return (Number(user) + Number(system)) * 10;
    };
    // V8 tidies up some seconds after the last work.
    await new Promise((done) => setTimeout(done, 20_000));
    const before = ticks();
    await new Promise((done) => setTimeout(done, rounds(15) * 1000));
    const spent = (ticks() - before) * (60 / rounds(15));
    stop.abort();
    return { median: spent, min: spent, max: spent };
  });
}

function weight() {
  const files = ['page.js', 'page.css'].map(
    (name) => gzipSync(readFileSync(join(ROOT, 'dist', 'ui', name))).length,
  );
  const kilobytes = files.reduce((sum, size) => sum + size, 0) / 1000;
  return { median: kilobytes, min: kilobytes, max: kilobytes };
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

/** From the address to the first card, in a new browser context each time. */
async function painting(_figure, { env }, scratch) {
  if (!existsSync(CHROMIUM)) return { skipped: 'no chromium here' };
  const place = await makeCycles(scratch, env, SOME);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const times = [];
    for (let i = 0; i < rounds(9); i++)
      times.push(
        await withServer(place, async ({ url, ask }) => {
          await ask('/api/overview');
          const context = await browser.newContext();
          const page = await context.newPage();
          await page.goto(url, { waitUntil: 'commit' });
          await page.waitForURL((address) => address.search === '');
          await page.locator('.lead').first().waitFor();
          // Since the navigation to the page itself began.
          const ms = await page.evaluate(() => performance.now());
          await context.close();
          return ms;
        }),
      );
    return summary(times);
  } finally {
    await browser.close();
  }
}

export const PAGE_FIGURES = [
  { name: 'page: server start', where: 'small', unit: 'ms', limit: 200, measure: starting },
  { name: 'page: script and style, compressed', unit: 'KB', limit: 150, measure: weight },
  { name: 'page: first card, 10,000 records', unit: 'ms', limit: 500, measure: painting },
  { name: 'page: API, 100,000 records, p50', unit: 'ms', measure: answers(0.5) },
  { name: 'page: API, 100,000 records, p99', unit: 'ms', limit: 50, measure: answers(0.99) },
  { name: 'page: first log, 100,000 records', unit: 'ms', measure: afterChange('/api/log') },
  { name: 'page: first overview, 100,000 records', unit: 'ms', measure: afterChange('/api/overview') },
  { name: 'page: idle for a minute', where: 'small', unit: 'ms of CPU', limit: 20, measure: idle },
].map((figure) => ({ where: 'none', ...figure }));
