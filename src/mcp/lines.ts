import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { Cutter, LF } from '../core/cutter.js';

/** The client's bytes, and lines back to it. */
export interface Channel {
  input: Readable;
  /** False: nobody reads any more. */
  send(line: string): boolean;
}

/** The longest message, in bytes: many times what any tool accepts. */
const MAX_LINE = 1024 * 1024;
/** A longer line is not kept, so its id stays unknown. */
const MAX_KEPT = 16 * MAX_LINE;
const TOO_LONG = `a message has at most ${MAX_LINE} bytes`;

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

const NO_MESSAGE = 'this is not a JSON-RPC 2.0 message: one object a line, its id a string or an integer';

/** Unlike the SDK's transport this one answers every invalid line (B-78) and buffers none that is too long. */
export class Lines implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  private readonly lines = new Cutter((bytes, isKept) => this.take(bytes, isKept), MAX_KEPT, LF, false);
  private closed = false;

  constructor(
    private readonly channel: Channel,
    private readonly whenClosed: () => void,
  ) {}

  async start(): Promise<void> {
    const { input } = this.channel;
    const end = (): void => void this.close();
    input.on('data', (chunk: Buffer) => this.lines.push(chunk));
    for (const event of ['end', 'close', 'error']) input.on(event, end);
    if (input.readableEnded || input.destroyed) setImmediate(end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const fault = 'error' in message ? formFault(message.error.message) : null;
    this.write(fault === null ? message : { ...message, error: { code: INVALID_PARAMS, message: fault } });
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    // Otherwise the open stdin would keep the process alive.
    this.channel.input.destroy();
    this.onclose?.();
    this.whenClosed();
  }

  private write(message: object): void {
    if (this.closed || this.channel.send(`${JSON.stringify(message)}\n`)) return;
    void this.close();
  }

  /** Decodes a line when it is complete: a chunk may end inside a character. */
  private take(bytes: Buffer, isKept: boolean): void {
    if (this.closed) return;
    if (!isKept) this.refuse(INVALID_REQUEST, TOO_LONG);
    else if (!isUtf8(bytes)) this.refuse(PARSE_ERROR, 'this line is not UTF-8');
    else this.deliver(bytes.toString('utf8').trim(), bytes.length);
  }

  private deliver(line: string, length: number): void {
    if (line === '') return;
    const message = parse(line);
    const id = isJSONRPCRequest(message) ? message.id : null;
    if (message === undefined) this.refuse(PARSE_ERROR, 'this line is not JSON');
    else if (!isMessage(message)) this.refuse(INVALID_REQUEST, NO_MESSAGE);
    else if (length > MAX_LINE) this.refuse(INVALID_REQUEST, TOO_LONG, id);
    else {
      const fault = faultOf(message);
      if (fault === null) this.onmessage?.(message);
      else if (id !== null) this.refuse(INVALID_PARAMS, fault, id);
    }
  }

  private refuse(code: number, message: string, id: string | number | null = null): void {
    this.write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isMessage = (value: unknown): value is JSONRPCMessage =>
  isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);

/** B-79: the SDK answers parameters of a wrong form with the list of its validator, some as an internal error. */
function formFault(text: string): string | null {
  const issues = parse(/\[\n[\s\S]*\]$/.exec(text)?.[0] ?? '');
  if (!Array.isArray(issues)) return null;
  return issues.map(({ path, message }) => `${path?.join('.')}: ${message}`).join('; ');
}

const MAX_DEPTH = 64;

/** B-79: refuses what the SDK would drop silently, and what is too deep for recursion. */
function faultOf(message: object): string | null {
  const left: { value: object; depth: number }[] = [{ value: message, depth: 0 }];
  for (let next = left.pop(); next; next = left.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH) return `the parameters are nested more than ${MAX_DEPTH} deep`;
    if (Object.hasOwn(value, '__proto__')) return 'no parameter is named __proto__';
    for (const child of Object.values(value))
      if (typeof child === 'object' && child !== null) left.push({ value: child, depth: depth + 1 });
  }
  return null;
}
