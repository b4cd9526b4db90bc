import { ProtocolError } from '@modelcontextprotocol/server';
import type { ToolName } from '../index.js';
import { plainly } from './data.js';
import { invalidParams, orProtocolError, tellError, textsOf } from './errors.js';
import type { Host } from './host.js';
import { TOOLS, type Watch } from './tools.js';

/** Of JSON-RPC's range for servers: too much is waiting already (B-82). */
const BUSY = -32000;
const MAX_WAITING = 1024;

interface CallParams {
  name: string;
  arguments?: Record<string, unknown> | undefined;
}

/** The calls of one client. One after the other, in the order in which they came: each sees what the former ones did. */
export class Calls {
  private waiting = 0;
  private line: Promise<unknown> = Promise.resolve();

  constructor(private readonly host: Host) {}

  async run({ name, arguments: given = {} }: CallParams, watch: Watch): Promise<object> {
    if (!Object.hasOwn(TOOLS, name)) throw invalidParams('There is no such tool; tools/list names them.');
    if (this.waiting >= MAX_WAITING)
      throw new ProtocolError(BUSY, `busy: ${this.waiting} calls are waiting; try again later`);
    this.waiting++;
    try {
      return await this.inLine(name as ToolName, () => this.answer(name as ToolName, given, watch));
    } finally {
      this.waiting--;
    }
  }

  /** Tests may run for minutes: nobody waits for them, but they for what came before. */
  private inLine(name: ToolName, work: () => Promise<object>): Promise<object> {
    // Between two calls what has arrived is read: so a cancellation is heard, and too many are seen.
    const turn = this.line.then(() => new Promise((next) => setImmediate(next)));
    const answer = turn.then(work);
    this.line = TOOLS[name].lasts ? turn : answer.catch(() => undefined);
    return answer;
  }

  private async answer(name: ToolName, given: Record<string, unknown>, watch: Watch): Promise<object> {
    const { host } = this;
    const { run, text = jsonOf, shape = same, reads = false } = TOOLS[name];
    // Before anything is done with it; the form of what is refused here does not matter.
    const refusal = await this.refusal(given, reads);
    if (refusal) return refusal;
    const inputs = await host.inputs();
    const input = await orProtocolError(host, () => inputs.check(name, given));
    try {
      watch.signal.throwIfAborted();
      const value = plainly(await run(host.open(), input as never, watch));
      return {
        content: [{ type: 'text', text: text(value as never) }],
        structuredContent: shape(value as never),
      };
    } catch (error) {
      return this.failure(error);
    }
  }

  private async refusal(given: Record<string, unknown>, reads: boolean): Promise<object | null> {
    const fields = textsOf(given);
    try {
      await this.host.guard(fields, !reads);
      return null;
    } catch (error) {
      return this.failure(error);
    }
  }

  private async failure(error: unknown): Promise<object> {
    const told = await tellError(this.host, error);
    const words = told.hint === undefined ? told.message : `${told.message}\n${told.hint}`;
    return {
      isError: true,
      content: [{ type: 'text', text: `${told.code}: ${words}` }],
      structuredContent: { error: told },
    };
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value);
const same = (value: unknown): unknown => value;
