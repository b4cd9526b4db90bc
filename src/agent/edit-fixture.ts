import type { Draft } from './draft.js';
import { dropBlock, lookForBlock, putBlock } from './edit-block.js';
import {
  dropItems,
  dropMember,
  type Item,
  isBareSettings,
  lookForItem,
  lookForMember,
  putItems,
  putMember,
} from './edit-json.js';
import { dropTable, lookForTable, putTable } from './edit-toml.js';
import type { AgentName } from './event.js';
import { formatSettings } from './json-text.js';
import { commandsIn, isOwnFile, isSame } from './own.js';
import type { Fixture, Found } from './wiring-rules.js';

/** A fixture, and whose it is. */
export interface Part {
  agent: AgentName;
  fixture: Fixture;
  /** The JSON that a new file of that name begins with. */
  beginning?: string | undefined;
}

/** Two fixtures with the same key are one thing in the file; agents share servers and blocks, never hooks. */
export function keyOf({ agent, fixture }: Part): string {
  const { kind, file } = fixture;
  if (kind === 'member') return JSON.stringify([file, kind, fixture.path]);
  if (kind === 'item') return JSON.stringify([file, kind, fixture.path, agent, fixture.value]);
  return JSON.stringify([file, kind, kind === 'table' ? fixture.name : '']);
}

/** What more than one agent has, from the parts of each. */
export function sharedKeys(agents: readonly (readonly Part[])[]): Set<string> {
  const keys = agents.flatMap((parts) => [...new Set(parts.map(keyOf))]);
  const [once, more] = [new Set<string>(), new Set<string>()];
  for (const key of keys) (once.has(key) ? more : once).add(key);
  return more;
}

/** How a file begins that is not there yet, or is empty. */
export function beginningOf(parts: readonly Part[]): string {
  const beginning = parts.find((part) => part.beginning !== undefined)?.beginning;
  return beginning !== undefined ? `${formatSettings(JSON.parse(beginning))}\n` : '';
}

/** Puts them in: what is forge's already is replaced where it is. */
export function putParts(draft: Draft, parts: readonly Part[]): void {
  for (const { agent, fixture } of parts) {
    if (fixture.kind === 'member') putMember(draft, fixture);
    else if (fixture.kind === 'item') putItems(draft, agent, fixture.path, besides(parts, agent, fixture));
    else if (fixture.kind === 'table') putTable(draft, fixture);
    else if (fixture.kind === 'block') putBlock(draft, fixture);
    else if (draft.text !== fixture.text)
      draft.apply([{ offset: 0, removed: draft.text.length, inserted: fixture.text }]);
  }
}

/** All items of an agent for one list. */
const besides = (parts: readonly Part[], agent: AgentName, { path }: Item): unknown[] =>
  parts.flatMap((part) =>
    part.agent === agent && part.fixture.kind === 'item' && isSame(part.fixture.path, path)
      ? [part.fixture.value]
      : [],
  );

/** Takes them out, whatever version of forge put them in. */
export function dropParts(draft: Draft, parts: readonly Part[]): void {
  for (const { agent, fixture } of parts) {
    if (fixture.kind === 'member') dropMember(draft, fixture);
    else if (fixture.kind === 'item') dropItems(draft, agent, fixture, new Set());
    else if (fixture.kind === 'table') dropTable(draft, fixture);
    else if (fixture.kind === 'block') dropBlock(draft);
    else if (isOwnFile(agent, draft.text) || draft.text === fixture.text)
      draft.apply([{ offset: 0, removed: draft.text.length, inserted: '' }]);
  }
}

/** Hooks of an older forge at events that this one does not use. */
export function dropStale(draft: Draft, parts: readonly Part[]): void {
  const items = parts.filter((part): part is Part & { fixture: Item } => part.fixture.kind === 'item');
  for (const { agent, fixture } of items) {
    const parent = fixture.path.slice(0, -1);
    const beside = items.filter(
      (other) => other.agent === agent && isSame(other.fixture.path.slice(0, -1), parent),
    );
    dropItems(draft, agent, fixture, new Set(beside.map((other) => other.fixture.path.at(-1) as string)));
  }
}

export function lookFor(text: string, { agent, fixture }: Part): Found {
  if (fixture.kind === 'member') return lookForMember(text, fixture);
  if (fixture.kind === 'item') return lookForItem(text, agent, fixture);
  if (fixture.kind === 'table') return lookForTable(text, fixture);
  if (fixture.kind === 'block') return lookForBlock(text, fixture);
  const state = text === fixture.text ? 'wired' : isOwnFile(agent, text) ? 'changed' : 'missing';
  return { state, value: text };
}

/** With which commands forge is started by what was found. */
export const foundCommands = ({ agent, fixture }: Part, { value }: Found): string[] =>
  fixture.kind === 'item'
    ? ((value as unknown[] | undefined) ?? []).flatMap((item) => commandsIn(agent, item))
    : commandsIn(agent, value);

/** True when a file that forge began holds nothing else any more. */
export function isBare(text: string, [first]: readonly Part[]): boolean {
  const isSettings = first?.fixture.kind === 'member' || first?.fixture.kind === 'item';
  return isSettings ? isBareSettings(text, first.beginning) : text.trim() === '';
}
