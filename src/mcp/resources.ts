import type { Forge } from '../index.js';
import { asData, invalidParams } from './data.js';
import type { Host } from './host.js';

interface Resource {
  title: string;
  read(forge: Forge): Promise<string>;
}

/** What can be read without a tool: each as text that says what it is. */
const RESOURCES: Record<string, Resource> = {
  'forge://briefing': {
    title: 'Where the work stands',
    read: async (forge) => (await forge.briefing()).text,
  },
  'forge://kfr': {
    title: 'Working memory (KFR)',
    read: async (forge) => (await forge.kfr.inject()).text ?? '',
  },
  'forge://knowledge': {
    title: 'What was learned, and the invariants',
    read: async (forge) => asData(await forge.knowledge.list()),
  },
  'forge://features': {
    title: 'The feature list',
    read: async (forge) => asData(await forge.feature.list()),
  },
};

const RECORD = /^forge:\/\/record\/([0-9a-f]{6,64})$/;

export const RESOURCE_TEMPLATES = [
  { uriTemplate: 'forge://record/{id}', name: 'record', title: 'One record of the ledgers, by its id' },
];

export const listResources = (): { uri: string; name: string; title: string; mimeType: string }[] =>
  Object.entries(RESOURCES).map(([uri, { title }]) => ({
    uri,
    name: uri.replace('forge://', ''),
    title,
    mimeType: 'text/plain',
  }));

/** B-83: only what is listed; a path or another scheme is refused. */
export async function readResource(
  host: Host,
  uri: string,
): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }> {
  const record = RECORD.exec(uri)?.[1];
  const resource = Object.hasOwn(RESOURCES, uri) ? RESOURCES[uri] : undefined;
  if (record === undefined && !resource)
    throw invalidParams('There is no such resource; resources/list and resources/templates/list name them.');
  const forge = host.open();
  const text = resource
    ? await resource.read(forge)
    : asData(await forge.memory.show({ id: record as string }));
  return { contents: [{ uri, mimeType: 'text/plain', text }] };
}

export const PROMPTS = [
  {
    name: 'session_start',
    title: 'Start a session',
    description: 'Pick up the work where it stands',
    arguments: [{ name: 'goal', description: 'The task, instead of the next one', required: false }],
  },
  {
    name: 'session_end',
    title: 'End the session',
    description: 'Settle what is open, and hand over',
  },
];

type Prompt = { messages: { role: 'user'; content: { type: 'text'; text: string } }[] };

const say = (text: string): Prompt => ({ messages: [{ role: 'user', content: { type: 'text', text } }] });

/** Prompts change nothing: they say which tools to call, and how things stand. */
export async function writePrompt(
  host: Host,
  name: string,
  { goal }: Record<string, string>,
): Promise<Prompt> {
  if (name === 'session_start') {
    const { text } = await host.open().briefing();
    const wanted = goal === undefined ? '' : ` with the goal ${JSON.stringify(goal)}`;
    return say(`Call session_start${wanted}, then go on from here.\n\n${text}`);
  }
  if (name === 'session_end') {
    const { text } = await host.open().kfr.inject();
    return say(
      [
        'End this session: resolve or dismiss what requires resolution, promote what stays relevant (session_note_promote), then call session_end with what was learned and what comes next.',
        ...(text === null ? [] : [text]),
      ].join('\n\n'),
    );
  }
  throw invalidParams('There is no such prompt; prompts/list names them.');
}
