import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maskError } from '../cli/input-guard.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { MINUTE } from '../core/clock.js';
import { ForgeError } from '../core/error.js';
import { createFile } from '../core/files.js';
import { startDetached } from '../core/process.js';
import { harmless, jsonLine, oneLine } from '../core/text.js';
import { type Forge, openForge, type Status, type Where } from '../index.js';
import { factsOf, renderStatus } from '../status/command.js';
import type { EXPORTS } from './export.js';
import { watchMemory } from './live.js';

/** Opens `.forge/` so that nothing is written, whatever is read. */
function opener({ cwd, world }: Call): () => Forge {
  const reading = { ...world, terminal: false };
  return () => openForge(cwd, { world: reading, dryRun: true });
}

/** Resolves at Ctrl-C. */
const stopped = (call: Call): Promise<void> =>
  new Promise((done) => call.stops(() => {}).finish.addEventListener('abort', () => done(), { once: true }));

async function serve(call: Call): Promise<void> {
  const { options, flags } = call;
  const open = opener(call);
  const { root } = open();
  const { startPage } = await import('./server.js');
  const port = (options.port as number | undefined) ?? 0;
  const page = await startPage({ open, mask: maskError, port });
  const ended = stopped(call);
  const { url, token } = page;
  // An address that is wrapped could not be opened.
  (await call.channel()).send(`${flags.json ? jsonLine({ url, token, port: page.port, root }) : url}\n`);
  const whose = `The page of ${oneLine(root, 200)}, for this machine only.`;
  call.say(`${whose} The address opens it once. Ctrl-C ends it.`);
  const clean = options.open === true ? await openBrowser(call, url) : () => {};
  await ended;
  clean();
  await page.close();
}

/** Other users of the machine see a program's arguments, so the browser gets a private file that leads to the address. */
async function openBrowser(call: Call, url: string): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'forge-ui-'));
  const file = join(folder, 'open.html');
  createFile(file, Buffer.from(`<!doctype html><meta http-equiv="refresh" content="0; url=${url}">\n`));
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  if (!(await startDetached([program, file], folder, call.world.env)))
    call.say(`${program} is not installed. Open the address above.`);
  return () => rmSync(folder, { recursive: true, force: true });
}

export const group: Group = [
  command<void>({
    name: 'ui',
    summary: 'Serve the memory page to a browser on this machine. Reads only; Ctrl-C ends it',
    example: 'forge ui',
    options: [
      { flags: '--port <n>', help: 'listen here; default: a free port', number: [1, 65_535] },
      { flags: '--open', help: 'open the browser' },
    ],
    run: serve,
    render: () => '',
  }),
];

const exporting = (name: keyof typeof EXPORTS, summary: string) =>
  command<Record<string, unknown>>({
    name,
    summary,
    example: `forge export ${name}`,
    run: async (call) => {
      const { EXPORTS } = await import('./export.js');
      const made = await EXPORTS[name](opener(call), call.world.now());
      return typeof made === 'string' ? { format: name, text: made } : made;
    },
    render: (value) => (typeof value.text === 'string' ? value.text : JSON.stringify(value, null, 2)),
  });

export const exportGroup: Group = [
  exporting('html', 'The memory page as one self-contained file, for a pull request'),
  exporting('markdown', 'A handoff for people'),
  exporting('json', 'What the page shows, for programs'),
];

/** Another screen, back to the first one, and an empty screen. */
const [ENTER, LEAVE, CLEAR] = ['\u001b[?1049h', '\u001b[?1049l', '\u001b[H\u001b[2J'];

async function readPanel({ cwd, world }: Call) {
  const forge = openForge(cwd, { world, dryRun: true });
  const status = await forge.status();
  const where = await forge.where({ status });
  return harmless({ where, status });
}

function renderPanel(where: Where, status: Status, style: Style): string {
  const facts = factsOf(where, where.root ?? '', style)
    .filter(([name, value]) => value !== null && name !== 'Health')
    .map(([name, value]) => [style.strong(name), value ?? '']);
  return [
    columns(facts),
    '',
    renderStatus(status, style),
    '',
    style.dim('Changes show by themselves. Ctrl-C ends.'),
  ].join('\n');
}

/** Draws one panel again after each change, until nobody reads. With --json it prints the status. */
async function watch(call: Call): Promise<void> {
  const { flags, style, world } = call;
  const { places } = openForge(call.cwd, { world, dryRun: true });
  const channel = await call.channel();
  let close = (): void => {};
  const closed = new Promise<void>((done) => {
    close = done;
  });
  const send = (text: string): void => {
    if (!channel.send(text)) close();
  };
  const isLive = style.width !== null && !flags.json && world.env.TERM !== 'dumb';
  let shown = '';
  const draw = async (): Promise<void> => {
    try {
      const { where, status } = await readPanel(call);
      const at = world.now().toISOString();
      shown = flags.json
        ? jsonLine({ at, ...status })
        : call.onScreen(renderPanel(where, status, style), true);
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      if (!isLive) return call.say(error.message);
      shown = call.onScreen(`${style.bad(error.message)}\n${error.hint ?? ''}`, true);
    }
    send(`${isLive ? CLEAR : ''}${shown}\n`);
  };
  // One after the other: a slow one must not overwrite a later one.
  let turn = draw();
  const again = (): void => {
    turn = turn.then(draw);
  };
  if (isLive) send(ENTER);
  const live = watchMemory(places, again);
  // Ages grow.
  const timer = isLive ? setInterval(again, MINUTE) : undefined;
  await Promise.race([stopped(call), closed]);
  clearInterval(timer);
  live.close();
  await turn;
  if (isLive) send(`${LEAVE}${shown}\n`);
}

export const watchGroup: Group = [
  command<void>({
    name: 'watch',
    summary: 'Show where the work stands and memory health, live. Ctrl-C ends it',
    example: 'forge watch',
    run: watch,
    render: () => '',
  }),
];
