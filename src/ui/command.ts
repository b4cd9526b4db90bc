import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { maskError } from '../cli/input-guard.js';
import { type Call, command, type Group } from '../cli/spec.js';
import { formatArgv } from '../core/argv.js';
import { refused } from '../core/error.js';
import { createFile, removePath } from '../core/files.js';
import { startDetached } from '../core/process.js';
import { jsonLine, oneLine } from '../core/text.js';
import { type Forge, openForge } from '../index.js';
import type { EXPORTS } from './export.js';

/** Opens `.forge/` so that nothing is written, whatever is read. */
function opener({ cwd, world }: Call): () => Forge {
  const reading = { ...world, terminal: false };
  return () => openForge(cwd, { world: reading, dryRun: true });
}

async function serve(call: Call): Promise<void> {
  const { options, flags } = call;
  const open = opener(call);
  const { root } = open();
  const { startPage } = await import('./server.js');
  const port = (options.port as number | undefined) ?? 0;
  const page = await startPage({ open, mask: maskError, port });
  const ended = new Promise<void>((done) =>
    call.stops(() => {}).finish.addEventListener('abort', () => done(), { once: true }),
  );
  const { url, token } = page;
  // An address that is wrapped could not be opened.
  (await call.channel()).send(`${flags.json ? jsonLine({ url, token, port: page.port, root }) : url}\n`);
  call.say(
    `The page of ${oneLine(root, 200)}, for this machine only. The address opens it once. Ctrl-C ends it.`,
  );
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

export const group: Group = {
  commands: [
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
  ],
};

interface Exported {
  format?: string;
  text?: string;
  file?: string;
  bytes?: number;
  [part: string]: unknown;
}

/** Replaces nothing without --yes. */
function write(call: Call, format: string, made: string | Record<string, unknown>): Exported {
  const to = call.options.to as string | undefined;
  if (to === undefined) return typeof made === 'string' ? { format, text: made } : made;
  const path = resolve(call.cwd, to);
  const bytes = Buffer.from(textOf(made).replace(/\n?$/, '\n'));
  const written = { format, file: to, bytes: bytes.length };
  if (call.flags.dryRun) return written;
  if (call.flags.yes) removePath(path);
  if (!createFile(path, bytes))
    throw refused('export.in_the_way', `${to} already exists.`, {
      file: to,
      hint: formatArgv(['forge', 'export', format, '--to', to, '--yes']),
    });
  return written;
}

const textOf = (made: unknown): string => (typeof made === 'string' ? made : JSON.stringify(made, null, 2));

const exporting = (name: keyof typeof EXPORTS, summary: string) =>
  command<Exported>({
    name,
    summary,
    example: `forge export ${name} --to memory.${name === 'markdown' ? 'md' : name}`,
    options: [{ flags: '--to <file>', help: 'write this file; default: stdout', values: { paths: 'files' } }],
    writes: true,
    run: async (call) => {
      // For the closing words of a dry run.
      call.forge();
      const { EXPORTS } = await import('./export.js');
      return write(call, name, await EXPORTS[name](opener(call), call.world.now()));
    },
    render: (value, style) =>
      value.file === undefined
        ? (value.text ?? textOf(value))
        : `${style.good('✓')} ${value.file}  ${value.bytes} bytes`,
  });

export const exportGroup: Group = {
  commands: [
    exporting('html', 'The memory page as one self-contained file, for a pull request'),
    exporting('markdown', 'A handoff for people'),
    exporting('json', 'What the page shows, for programs'),
  ],
};
