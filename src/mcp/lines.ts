import { isUtf8 } from 'node:buffer';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import type { Channel } from './host.js';

/** The longest message, in bytes: many times what any tool takes. */
const MAX_LINE = 1024 * 1024;
const NEWLINE = 0x0a;

/** JSON-RPC's own codes. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

/**
 * One JSON message a line. The library's own transport drops what it cannot read, keeps a line of any length, and makes
 * the process load what draws terminals; here every line that is no message is answered (B-78), and nothing is kept of
 * one that is too long.
 */
export class Lines implements Transport {
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  private parts: Buffer[] = [];
  /** Of a line that is too long: its beginning and its end, one of which holds the id. */
  private ends: Buffer[] = [];
  private length = 0;
  private closed = false;

  constructor(
    private readonly channel: Channel,
    private readonly whenClosed: () => void,
  ) {}

  async start(): Promise<void> {
    const { input } = this.channel;
    const end = (): void => void this.close();
    input.on('data', (chunk: Buffer) => this.read(chunk));
    for (const event of ['end', 'close', 'error']) input.on(event, end);
    if (input.readableEnded || input.destroyed) setImmediate(end);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.write(message);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.parts = [];
    // Nothing is left that this process would wait for.
    this.channel.input.destroy();
    this.onclose?.();
    this.whenClosed();
  }

  /** Whoever does not read any more has gone. */
  private write(message: object): void {
    if (this.closed || this.channel.send(`${JSON.stringify(message)}\n`)) return;
    void this.close();
  }

  private read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0 && !this.closed; at = chunk.indexOf(NEWLINE, from)) {
      this.keep(chunk.subarray(from, at));
      this.take();
      from = at + 1;
    }
    if (!this.closed) this.keep(chunk.subarray(from));
  }

  private keep(part: Buffer): void {
    this.length += part.length;
    if (this.length <= MAX_LINE) {
      if (part.length > 0) this.parts.push(part);
      return;
    }
    const [head = Buffer.concat([...this.parts, part]).subarray(0, ID_REACH), tail] = this.ends;
    this.ends = [head, Buffer.concat([tail ?? head, part]).subarray(-ID_REACH)];
    this.parts = [];
  }

  /** Characters are decoded when the whole line is there: a chunk may end in the middle of one. */
  private take(): void {
    const [{ length, ends }, line] = [this, Buffer.concat(this.parts)];
    this.parts = [];
    this.ends = [];
    this.length = 0;
    if (length > MAX_LINE)
      this.refuse(INVALID_REQUEST, `a message has at most ${MAX_LINE} bytes`, idIn(ends));
    else if (!isUtf8(line)) this.refuse(PARSE_ERROR, 'this line is no UTF-8');
    else this.deliver(line.toString('utf8').trim());
  }

  private deliver(line: string): void {
    if (line === '') return;
    const message = parse(line);
    if (message === undefined) this.refuse(PARSE_ERROR, 'this line is not JSON');
    else if (isMessage(message)) this.pass(message);
    else
      this.refuse(
        INVALID_REQUEST,
        'this is not a JSON-RPC 2.0 message: one object a line, its id a text or a whole number',
      );
  }

  private pass(message: JSONRPCMessage): void {
    const fault = faultOf(message);
    if (fault === null) this.onmessage?.(message);
    else if (isJSONRPCRequest(message)) this.refuse(INVALID_PARAMS, fault, message.id);
  }

  private refuse(code: number, message: string, id: string | number | null = null): void {
    this.write({ jsonrpc: '2.0', id, error: { code, message } });
  }
}

/** How far from either end of a line that is too long its id is looked for. */
const ID_REACH = 1024;

// Clients write the id before the parameters, or last.
const FIRST_ID =
  /^\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"]*"\s*,)*\s*"id"\s*:\s*("[^"\\]{0,200}"|-?\d{1,15})\s*,/;
const LAST_ID =
  /\}\s*,(?:\s*"jsonrpc"\s*:\s*"[^"]*"\s*,)?\s*"id"\s*:\s*("[^"\\]{0,200}"|-?\d{1,15})\s*\}\s*$/;

/** The id of a message that was too long to be read. */
function idIn([head, tail]: readonly Buffer[]): string | number | null {
  const found = FIRST_ID.exec(head?.toString() ?? '') ?? LAST_ID.exec(tail?.toString() ?? '');
  return found?.[1] === undefined ? null : (JSON.parse(found[1]) as string | number);
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

/** No message of the protocol is as deep. */
const MAX_DEPTH = 64;

/** B-79: what the library would drop in silence, or nobody could walk through. */
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
