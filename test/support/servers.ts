import { type ChildProcess, spawn } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { BIN } from './forge.js';
import { HANG } from './project.js';

/** What an answer of a tool has in both protocols. */
export interface ToolAnswer {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent: Record<string, never> & { error?: { code: string; [field: string]: unknown } };
}

export const MODES = ['legacy', 'auto'] as const;
export type Mode = (typeof MODES)[number];

export type Folder = { dir: string };

const variables = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ ...process.env, ...env }).filter((entry): entry is [string, string] => !!entry[1]),
  );

/** The protocol library's own client at the built binary. */
export async function connect(
  { dir }: Folder,
  mode: Mode = 'legacy',
  env: NodeJS.ProcessEnv = {},
): Promise<{ client: Client; call(name: string, given?: object): Promise<ToolAnswer> }> {
  const options = mode === 'auto' ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name: 'test', version: '1' }, options);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, 'mcp'],
    cwd: dir,
    env: variables(env),
    stderr: 'inherit',
  });
  await client.connect(transport, { timeout: HANG });
  onTestFinished(() => client.close());
  const call = async (name: string, given: object = {}): Promise<ToolAnswer> =>
    (await client.callTool(
      { name, arguments: given as Record<string, unknown> },
      { timeout: HANG },
    )) as unknown as ToolAnswer;
  return { client, call };
}

export interface Message {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, never> & Partial<ToolAnswer>;
  error?: { code: number; message: string; data?: unknown };
}

export const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};

/** The server as bytes: what goes in, and each line that comes out. */
export class Wire {
  readonly messages: Message[] = [];
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;
  private readonly watchers = new Set<() => void>();

  constructor(readonly server: ChildProcess) {
    let rest = '';
    server.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.stdout += chunk;
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      // A line that is none of the protocol fails here.
      this.messages.push(...lines.map((line) => JSON.parse(line) as Message));
      for (const look of this.watchers) look();
    });
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    this.ended = new Promise((done) => {
      server.on('exit', (code) => {
        done(code);
        for (const look of this.watchers) look();
      });
    });
    server.stdin?.on('error', () => undefined);
  }

  write(bytes: string | Buffer): void {
    this.server.stdin?.write(bytes);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** The first message that is so, those included that came before; an error when the server ends without it. */
  async until(wanted: (message: Message) => boolean): Promise<Message> {
    return new Promise((done, fail) => {
      const look = (): void => {
        const found = this.messages.find(wanted);
        if (found) done(found);
        else if (this.server.exitCode === null && this.server.signalCode === null) return;
        else fail(new Error(`The server ended: ${this.stderr}`));
        this.watchers.delete(look);
      };
      this.watchers.add(look);
      look();
    });
  }

  async ask(id: string | number, method: string, params?: object): Promise<Message> {
    this.send({ id, method, params });
    return this.until((message) => message.id === id);
  }

  call(id: string | number, name: string, given: object = {}, meta?: object): Promise<Message> {
    return this.ask(id, 'tools/call', { name, arguments: given, ...(meta ? { _meta: meta } : {}) });
  }

  /** A sign of life. */
  async lives(): Promise<void> {
    await this.ask(`alive-${this.messages.length}`, 'ping');
  }

  close(): Promise<number | null> {
    this.server.stdin?.end();
    return this.ended;
  }
}

/** The built binary, not yet greeted. */
export function startServer(
  { dir }: Folder,
  env: NodeJS.ProcessEnv = {},
  node: readonly string[] = [],
): Wire {
  const server = spawn(process.execPath, [...node, BIN, 'mcp'], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  return new Wire(server);
}

/** The built binary, greeted as the protocol wants it. */
export async function greeted(
  folder: Folder,
  env: NodeJS.ProcessEnv = {},
  node: readonly string[] = [],
): Promise<Wire> {
  const wire = startServer(folder, env, node);
  await wire.ask('hello', 'initialize', CLIENT);
  wire.send({ method: 'notifications/initialized' });
  return wire;
}
