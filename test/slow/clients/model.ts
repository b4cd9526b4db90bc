import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a client sent to its model, in one form for all protocols. */
export interface Asked {
  path: string;
  /** System prompt and instructions. */
  system: string;
  /** All that the model reads of the conversation, oldest first. */
  messages: { role: 'user' | 'assistant' | 'tool'; text: string }[];
  /** When the request came, in ms of `performance.now()`. */
  at: number;
  /** The tools that the model is offered, by name, with their description. */
  tools: { name: string; description: string }[];
}

export interface Call {
  name: string;
  args: Record<string, unknown>;
}

/** What the model answers: words, or calls of tools; or what a broken server sends. */
export interface Answer {
  text?: string;
  calls?: Call[];
  broken?: 'html' | 'half' | 'error' | 'closed';
  /** The request is never answered. */
  silent?: true;
}

/** Is given each request that offers tools; what a client asks beside (a title, a summary) is answered with a word. */
export type Script = (asked: Asked, turn: number) => Answer;

export interface Model {
  url: string;
  /** Every request that offered tools. */
  asked: Asked[];
}

type Json = Record<string, unknown>;
interface Protocol {
  handles(path: string): boolean;
  read(body: Json, path: string): Omit<Asked, 'path' | 'at'>;
  /** Server-sent events, or one JSON value when the client did not ask for a stream. */
  write(
    answer: Answer,
    body: Json,
    path: string,
  ): { events: [event: string, data: Json][] } | { value: Json };
}

const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const words = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

/** The text of a message that is a string or a list of parts. */
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => words(part.text ?? part.content ?? part.output ?? ''))
        .join('\n');

let ids = 0;
const id = (prefix: string): string => `${prefix}_${++ids}`;

const ANTHROPIC: Protocol = {
  handles: (path) => path.startsWith('/v1/messages'),
  read: (body) => ({
    system: textOf(body.system),
    messages: list(body.messages).flatMap(({ role, content }) =>
      typeof content === 'string'
        ? [{ role: role as 'user', text: content }]
        : list(content).map((part) => ({
            role: part.type === 'tool_result' ? ('tool' as const) : (role as 'user' | 'assistant'),
            text:
              part.type === 'tool_use'
                ? `${part.name} ${JSON.stringify(part.input)}`
                : textOf(part.text ?? part.content),
          })),
    ),
    tools: list(body.tools).map(({ name, description }) => ({
      name: words(name),
      description: words(description),
    })),
  }),
  write: (answer, body) => {
    const blocks: Json[] = [
      ...(answer.text === undefined ? [] : [{ type: 'text', text: answer.text }]),
      ...(answer.calls ?? []).map(({ name, args }) => ({
        type: 'tool_use',
        id: id('toolu'),
        name,
        input: args,
      })),
    ];
    const stop = answer.calls?.length ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 10, output_tokens: 10 };
    const message = { id: id('msg'), type: 'message', role: 'assistant', model: body.model };
    if (body.stream !== true)
      return { value: { ...message, content: blocks, stop_reason: stop, stop_sequence: null, usage } };
    const events: [string, Json][] = [
      [
        'message_start',
        { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
      ],
    ];
    for (const [index, block] of blocks.entries()) {
      const isText = block.type === 'text';
      const start = isText ? { type: 'text', text: '' } : { ...block, input: {} };
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      events.push(['content_block_start', { index, content_block: start }]);
      events.push(['content_block_delta', { index, delta }]);
      events.push(['content_block_stop', { index }]);
    }
    events.push(['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage }]);
    events.push(['message_stop', {}]);
    return { events: events.map(([type, data]) => [type, { type, ...data }]) };
  },
};

/** Codex has the tools of a server below its name. */
function inNamespace(name: string): { name: string; namespace?: string } {
  const [, namespace, tool] = /^(mcp__\w+?)__(.*)$/.exec(name) ?? [];
  return namespace === undefined ? { name } : { name: tool as string, namespace };
}

const RESPONSES: Protocol = {
  handles: (path) => path.endsWith('/responses'),
  read: (body) => ({
    system: [
      words(body.instructions),
      ...list(body.input)
        .filter(({ role }) => role === 'developer' || role === 'system')
        .map(({ content }) => textOf(content)),
    ].join('\n'),
    messages: list(body.input)
      .filter(({ role }) => role !== 'developer' && role !== 'system')
      .map((item) => {
        if (String(item.type).endsWith('_call_output')) return { role: 'tool', text: words(item.output) };
        if (String(item.type).endsWith('_call'))
          return { role: 'assistant', text: `${item.name} ${words(item.arguments ?? item.input)}` };
        return { role: item.role === 'assistant' ? 'assistant' : 'user', text: textOf(item.content) };
      }),
    tools: list(body.tools).flatMap((tool) =>
      tool.type === 'namespace'
        ? list(tool.tools).map(({ name, description }) => ({
            name: `${words(tool.name)}__${words(name)}`,
            description: words(description),
          }))
        : [{ name: words(tool.name ?? tool.type), description: words(tool.description) }],
    ),
  }),
  write: (answer) => {
    const output: Json[] = [
      ...(answer.text === undefined
        ? []
        : [
            {
              type: 'message',
              id: id('msg'),
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: answer.text, annotations: [] }],
            },
          ]),
      ...(answer.calls ?? []).map(({ name, args }) => ({
        type: 'function_call',
        id: id('fc'),
        call_id: id('call'),
        ...inNamespace(name),
        arguments: JSON.stringify(args),
        status: 'completed',
      })),
    ];
    const response = { id: id('resp'), object: 'response', status: 'in_progress', output: [] };
    const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
    const events: [string, Json][] = [['response.created', { response }]];
    for (const [index, item] of output.entries()) {
      events.push([
        'response.output_item.added',
        { output_index: index, item: { ...item, status: 'in_progress' } },
      ]);
      if (item.type === 'message')
        events.push([
          'response.output_text.delta',
          { output_index: index, content_index: 0, item_id: item.id, delta: answer.text },
        ]);
      events.push(['response.output_item.done', { output_index: index, item }]);
    }
    events.push(['response.completed', { response: { ...response, status: 'completed', output, usage } }]);
    return { events: events.map(([type, data]) => [type, { type, ...data }]) };
  },
};

const CHAT: Protocol = {
  handles: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    system: list(body.messages)
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => textOf(content))
      .join('\n'),
    messages: list(body.messages)
      .filter(({ role }) => role !== 'system' && role !== 'developer')
      .map(({ role, content, tool_calls }) => ({
        role: role as 'user',
        text: `${textOf(content)}${tool_calls ? JSON.stringify(tool_calls) : ''}`,
      })),
    tools: list(body.tools).map((tool) => {
      const { name, description } = (tool.function ?? tool) as Json;
      return { name: words(name), description: words(description) };
    }),
  }),
  write: (answer, body) => {
    const calls = (answer.calls ?? []).map(({ name, args }, index) => ({
      index,
      id: id('call'),
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    const finish = calls.length > 0 ? 'tool_calls' : 'stop';
    const message = {
      role: 'assistant',
      content: answer.text ?? null,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const base = { id: id('chat'), created: 1, model: body.model };
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    if (body.stream !== true)
      return {
        value: {
          ...base,
          object: 'chat.completion',
          choices: [{ index: 0, message, finish_reason: finish }],
          usage,
        },
      };
    const chunk = (choice: Json): [string, Json] => [
      '',
      { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }] },
    ];
    return {
      events: [
        chunk({ delta: message, finish_reason: null }),
        chunk({ delta: {}, finish_reason: finish }),
        ['', { ...base, object: 'chat.completion.chunk', choices: [], usage }],
        ['', { '': '[DONE]' }],
      ],
    };
  },
};

const GEMINI: Protocol = {
  handles: (path) => /:(?:stream)?[gG]enerateContent/.test(path),
  read: (body) => ({
    system: list((body.systemInstruction as Json)?.parts)
      .map(({ text }) => words(text))
      .join('\n'),
    messages: list(body.contents).flatMap(({ role, parts }) =>
      list(parts).map((part) =>
        part.functionResponse !== undefined
          ? { role: 'tool' as const, text: words((part.functionResponse as Json).response) }
          : {
              role: role === 'model' ? ('assistant' as const) : ('user' as const),
              text: part.functionCall !== undefined ? words(part.functionCall) : words(part.text),
            },
      ),
    ),
    tools: list(body.tools)
      .flatMap(({ functionDeclarations }) => list(functionDeclarations))
      .map(({ name, description }) => ({ name: words(name), description: words(description) })),
  }),
  write: (answer, _body, path) => {
    const parts: Json[] = [
      ...(answer.text === undefined ? [] : [{ text: answer.text }]),
      ...(answer.calls ?? []).map(({ name, args }) => ({ functionCall: { name, args, id: id('fc') } })),
    ];
    const value = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    };
    return path.includes('stream') ? { events: [['', value]] } : { value };
  },
};

const PROTOCOLS = [ANTHROPIC, RESPONSES, CHAT, GEMINI];

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json;
  } catch {
    return {};
  }
}

function send(response: ServerResponse, reply: ReturnType<Protocol['write']>): void {
  if ('value' in reply) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply.value));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [event, data] of reply.events) {
    const text = data[''] === undefined ? JSON.stringify(data) : String(data['']);
    response.write(`${event === '' ? '' : `event: ${event}\n`}data: ${text}\n\n`);
  }
  response.end();
}

function breakDown(response: ServerResponse, how: NonNullable<Answer['broken']>): void {
  if (how === 'closed') response.destroy();
  else if (how === 'html') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
  else if (how === 'half')
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": "x", "cho');
  else response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
}

/** A model server on loopback that speaks the protocols of all clients and answers as the script says. */
export async function startModel(script: Script): Promise<Model> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await bodyOf(request);
    const protocol = PROTOCOLS.find((candidate) => candidate.handles(path));
    if (request.method !== 'POST' || protocol === undefined || /count_?tokens/i.test(path)) {
      const models = {
        object: 'list',
        data: [{ id: 'scripted', object: 'model' }],
        models: [],
        input_tokens: 10,
        totalTokens: 10,
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(models));
      return;
    }
    const what = { path, at: performance.now(), ...protocol.read(body, path) };
    if (what.tools.length > 0) asked.push(what);
    const answer = what.tools.length > 0 ? script(what, asked.length) : { text: 'Noted.' };
    if (answer.silent) return;
    if (answer.broken) breakDown(response, answer.broken);
    else send(response, protocol.write(answer, body, path));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
