import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readHint, writeHint } from '../core/files.js';
import type { ProcessIdentity } from '../core/holder.js';
import { conversationFile, conversationsFolder, type Layout } from '../core/paths.js';

/** The state of an agent's conversation in this worktree, from one hook to the next. */
export interface Conversation {
  /** The agent and its conversation id, as a file name. */
  id: string;
  /** The agent's process. */
  process: ProcessIdentity | null;
  /** When it started, ms. */
  at: number;
  /** The working memory that it last got. Null if none of it is in its context any more. */
  seen: string | null;
  /** How many of its stops were blocked since the last prompt of a person. */
  blocks: number;
  /** Its transcript, and the read offset in bytes. */
  transcript: string;
  read: number;
  /** The read offset for findings, in bytes. */
  noted: number;
  /** Its commands are recorded from this time on, ms, because a resumed transcript has older ones. */
  since: number;
  /** The working memory that it was asked to settle at the last blocked stop. */
  asked: string | null;
}

/** More than are ever open at the same time in one worktree. */
const KEPT = 20;

export function readConversation(layout: Layout, id: string): Conversation {
  const known = readHint<Partial<Conversation>>(conversationFile(layout, id)) ?? {};
  const { process, at, seen, blocks, asked, transcript, read, noted, since } = known;
  return {
    id,
    process: process ?? null,
    at: typeof at === 'number' ? at : 0,
    seen: typeof seen === 'string' ? seen : null,
    // A negative count would delay the limit that lets the agent stop.
    blocks: typeof blocks === 'number' && blocks > 0 ? blocks : 0,
    transcript: typeof transcript === 'string' ? transcript : '',
    read: typeof read === 'number' && read > 0 ? read : 0,
    noted: typeof noted === 'number' && noted > 0 ? noted : 0,
    since: typeof since === 'number' ? since : 0,
    asked: typeof asked === 'string' ? asked : null,
  };
}

/** Neither locked nor synced: after a power failure an agent sees the text again. False if it was not stored. */
export function writeConversation(layout: Layout, conversation: Conversation): boolean {
  const file = conversationFile(layout, conversation.id);
  if (readHint(file) === null) pruneConversations(layout);
  writeHint(file, conversation);
  const kept = readConversation(layout, conversation.id);
  return kept.blocks === conversation.blocks && kept.seen === conversation.seen;
}

/** Newest start first. */
export function listConversations(layout: Layout): Conversation[] {
  return names(layout)
    .map((name) => readConversation(layout, name))
    .sort((a, b) => b.at - a.at);
}

/** The conversation has ended, so its state no longer matters. */
export const forgetConversation = (layout: Layout, id: string): void =>
  rmSync(conversationFile(layout, id), { force: true });

/** Forgets all but the newest. */
function pruneConversations(layout: Layout): void {
  if (names(layout).length <= KEPT) return;
  for (const { id } of listConversations(layout).slice(KEPT)) forgetConversation(layout, id);
}

function names(layout: Layout): string[] {
  const folder = conversationsFolder(layout);
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return files
      .filter((name) => lstatSync(join(folder, name)).isFile())
      .map((name) => name.slice(0, -'.json'.length));
  } catch {
    return [];
  }
}
