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

const NEW: Omit<Conversation, 'id'> = {
  process: null,
  at: 0,
  seen: null,
  blocks: 0,
  transcript: '',
  read: 0,
  noted: 0,
  since: 0,
  asked: null,
};

/** More than are ever open at the same time in one worktree. */
const KEPT = 20;

export function readConversation(layout: Layout, id: string): Conversation {
  const known = { ...NEW, ...readHint<Conversation>(conversationFile(layout, id)), id };
  // A damaged count would delay the limit that lets the agent stop.
  return known.blocks > 0 ? known : { ...known, blocks: 0 };
}

/** Neither locked nor synced: after a power failure an agent sees the text again. False if it was not stored. */
export function writeConversation(layout: Layout, conversation: Conversation): boolean {
  const file = conversationFile(layout, conversation.id);
  if (readHint(file) === null)
    for (const { id } of listConversations(layout).slice(KEPT)) forgetConversation(layout, id);
  writeHint(file, conversation);
  const kept = readConversation(layout, conversation.id);
  return kept.blocks === conversation.blocks && kept.seen === conversation.seen;
}

/** Newest start first. */
export function listConversations(layout: Layout): Conversation[] {
  const folder = conversationsFolder(layout);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json') && lstatSync(join(folder, name)).isFile())
      .map((name) => readConversation(layout, name.slice(0, -'.json'.length)))
      .sort((a, b) => b.at - a.at);
  } catch {
    return [];
  }
}

/** The conversation has ended, so its state no longer matters. */
export const forgetConversation = (layout: Layout, id: string): void =>
  rmSync(conversationFile(layout, id), { force: true });
