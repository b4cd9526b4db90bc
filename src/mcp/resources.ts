import type { Forge } from '../index.js';
import { asData } from './data.js';
import { invalidParams } from './errors.js';
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
    read: async (forge) => asData('learned', await forge.knowledge.list()),
  },
  'forge://features': {
    title: 'The feature list',
    read: async (forge) => asData('asserted', await forge.feature.list()),
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
    : asData('record', await forge.memory.show({ id: record as string }));
  return { contents: [{ uri, mimeType: 'text/plain', text }] };
}
