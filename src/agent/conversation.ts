import { createHash } from 'node:crypto';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '../core/error.js';
import { appendLog, readHint } from '../core/files.js';
import { type Holder, sameHolder, sameProcess } from '../core/holder.js';
import { hookLog, kfrFile, promptedFile, sessionFile, toldFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { makeToken, oneLine } from '../core/text.js';
import { noteForgotten, noteSteps } from '../finding/finding.js';
import { commandIn, kindOf } from '../finding/question.js';
import { readKfr } from '../kfr/kfr.js';
import { type Entry, injection, type Kfr, openEntries, stopReason, unparked } from '../kfr/rules.js';
import { type Context, isHalted, noteActivity, timestamp } from '../project/project.js';
import { forgetEmpty, isEmpty } from '../session/archive.js';
import {
  type Conversation,
  forgetConversation,
  listConversations,
  readConversation,
  writeConversation,
} from '../session/conversations.js';
import { type RanCommand, recordTurn } from '../session/record.js';
import type { RunningSession } from '../session/rules.js';
import { isOursToSettle, readRunning } from '../session/running.js';
import { AGENTS, type AgentName, runsHook } from './agents.js';
import { readCalls, type ToolCall } from './transcript.js';

/** There is room for two marks of so many characters; up to there no hook has to load what computes digests. */
const LONGEST_MARK = 700;

/** Which working memory an agent was given. Entries are replaced, never changed: their ids say it all. */
function markOf({ session, entries }: Kfr): string {
  const ids = entries.map(({ id, parked }) => `${id}${parked ? 'p' : ''}`);
  const mark = ids.length === 0 ? '' : `${session} ${ids.join(' ')}`;
  return mark.length > LONGEST_MARK ? createHash('sha256').update(mark).digest('hex') : mark;
}

/** Which working memory whoever is told of it now is given; null where it cannot be read, which is told them too. */
export function markKfr(context: Context): string | null {
  try {
    return markOf(readKfr(context));
  } catch (error) {
    if (error instanceof ForgeError) return null;
    throw error;
  }
}

/**
 * At the start of a conversation: it was given the working memory that had that mark before; told again what was patched
 * meanwhile. Its commands are told by its process.
 */
export function noteConversation(context: Context, id: string, before: string | null): void {
  const { layout, world } = context;
  const { agent: _, ...process } = world.holder();
  const at = world.now().getTime();
  const known = readConversation(layout, id);
  const conversation: Conversation = {
    id,
    process,
    at,
    seen: markKfr(context) === before ? before : null,
    blocks: 0,
    transcript: known.transcript,
    read: known.read,
    noted: known.noted,
    // A compaction does not end the turn.
    since: known.since || at,
    asked: null,
  };
  writeConversation(layout, conversation);
  noteTold(context);
}

/**
 * Sets the times that the shell compares before it starts forge. After a tool, forge is needed if a conversation lost its
 * working memory. With a prompt, also if one has not seen the current entries, or its last stop was blocked.
 */
function noteTold(context: Context): void {
  const { disk, layout, world } = context;
  if (disk.dryRun) return;
  // Read the time before the entries, so that a concurrent change is newer.
  const time = statSync(kfrFile(layout), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const mark = markKfr(context);
  const known = listConversations(layout).filter(
    ({ process }) => process === null || world.liveness(process) !== 'gone',
  );
  touch(toldFile(layout), known.some(({ seen }) => seen === null) ? 0 : time);
  touch(promptedFile(layout), known.some(({ seen, blocks }) => seen !== mark || blocks > 0) ? 0 : time);
}

/** Sets a file's time just after `time` (ms since 1970). 0 makes it older than every file. */
function touch(file: string, time: number): void {
  const seconds = time === 0 ? 0 : (time + 1) / 1000;
  try {
    writeFileSync(file, '');
    utimesSync(file, seconds, seconds);
  } catch {
    // Without the folder there is no working memory. On a read-only disk forge starts each time.
  }
}

/** A conversation that works in the session keeps it: elsewhere (a container) its process cannot be seen. */
function keepSession(context: Context, id: string): void {
  const running = readRunning(context);
  if (running && [running.holder, ...(running.joined ?? [])].some(({ agent }) => agent === id))
    noteActivity(context);
}

/** SES-12: records what happened since the last turn. */
export async function recordEvent(
  context: Context,
  id: string,
  { transcript: named, commands }: { transcript: string | null; commands: readonly RanCommand[] },
): Promise<void> {
  const known = readConversation(context.layout, id);
  // Copilot CLI may write its last command after the stop, and its end event has no transcript path.
  const transcript = named ?? (known.transcript || null);
  if (transcript === null) return void (await recordTurn(context, id, commands));
  // A conversation that is resumed may get another file.
  const from = known.transcript === transcript ? known.read : 0;
  const read = readCalls(transcript, { from, since: known.since });
  await noteFindings(context, id, transcript, true);
  writeConversation(context.layout, {
    ...readConversation(context.layout, id),
    transcript,
    read: read.offset,
  });
  await recordTurn(context, id, [...commands, ...ranIn(read.calls)]);
}

/** Of a command that failed without an exit code nobody knows whether it ran. */
const ranIn = (calls: readonly ToolCall[]): RanCommand[] =>
  calls.flatMap(({ tool, input, exit, failed }) => {
    const command = kindOf(tool) === 'shell' ? commandIn(input) : '';
    return command === '' || (failed && exit === null) ? [] : [{ command, exit }];
  });

/** EXM-05: what the transcript has since the last look. `isOver`: the turn is, and calls without a result have none. */
export async function noteFindings(
  context: Context,
  id: string,
  transcript: string,
  isOver = false,
): Promise<void> {
  const known = readConversation(context.layout, id);
  const isSame = known.transcript === transcript;
  const { calls, offset } = readCalls(transcript, {
    from: isSame ? known.noted : 0,
    since: known.since,
    isOver,
  });
  const done = calls.flatMap(({ tool, input, at, output, exit, failed, isPart, cwd }) =>
    output === null || at === 0 || isPart
      ? []
      : [{ tool, input, at, output, exit, success: !failed, ...(cwd ? { cwd } : {}) }],
  );
  await noteSteps(context, id, done);
  if (offset !== known.noted || !isSame)
    writeConversation(context.layout, {
      ...known,
      ...(isSame ? {} : { transcript, read: 0 }),
      noted: offset,
    });
}

/** A person spoke: an agent may be asked again to settle what is open. */
export function notePrompt(context: Context, id: string): void {
  const known = readConversation(context.layout, id);
  if (known.blocks > 0) writeConversation(context.layout, { ...known, blocks: 0 });
  noteTold(context);
}

/**
 * The working memory that an agent has not seen as it stands, for its prompt; null when it has. With `lostOnly` that of
 * an agent that has none in its context: its conversation was compacted.
 */
export function unseenKfr(context: Context, id: string, lostOnly: boolean): string | null {
  keepSession(context, id);
  const kfr = readKfr(context);
  const mark = markOf(kfr);
  const known = readConversation(context.layout, id);
  const isNews = mark !== '' && known.seen !== mark && !(lostOnly && known.seen !== null);
  if (isNews || (mark === '' && known.seen !== ''))
    writeConversation(context.layout, { ...known, seen: mark });
  noteTold(context);
  return isNews ? injection(kfr.entries, makeToken(12)) : null;
}

/** What the agent knew is summarised now: whatever hook it calls next gives it its working memory again. */
export function noteCompaction(context: Context, id: string): void {
  const known = readConversation(context.layout, id);
  if (known.seen !== null) writeConversation(context.layout, { ...known, seen: null });
  noteForgotten(context, id);
  noteTold(context);
}

/** Of what is open: all that this agent could settle. To ask for anything else would only hold it up. */
function owed(context: Context, open: Entry[]): Entry[] {
  if (open.length === 0 || isHalted(context.disk)) return [];
  const running = readRunning(context);
  return running && isOursToSettle(context, running) ? open : [];
}

const FREE = { block: null, unsettled: [] };

/** Why a compaction that a person asked for has to wait (KFR-09); null when nothing is open. */
export function gateCompaction(context: Context): string | null {
  const open = owed(context, openEntries(readKfr(context)));
  return open.length === 0 ? null : stopReason(open, 'compact the conversation');
}

/**
 * Why an agent may not stop yet (KFR-09); null when it may. `isContinuing`: it is here because a stop was blocked;
 * false begins a new row. An agent that changed nothing since the last block has no answer: it may stop, and what is
 * `unsettled` waits for a human. After `limit` blocks in a row it goes free, and so it does where blocks cannot be counted.
 */
export function gateStop(
  context: Context,
  id: string,
  { limit, isContinuing }: { limit: number; isContinuing: boolean | null },
): { block: string | null; unsettled: string[] } {
  keepSession(context, id);
  const { layout } = context;
  const known = readConversation(layout, id);
  const kfr = readKfr(context);
  const open = owed(context, unparked(kfr));
  if (open.length === 0) {
    if (known.blocks > 0) writeConversation(layout, { ...known, blocks: 0 });
    return FREE;
  }
  const before = isContinuing === false ? 0 : known.blocks;
  const asked = markOf(kfr);
  if (before > 0 && known.asked === asked) return { block: null, unsettled: open.map(({ id }) => id) };
  if (before >= limit || !writeConversation(layout, { ...known, blocks: before + 1, asked })) return FREE;
  noteTold(context);
  return { block: stopReason(open, 'stop'), unsettled: [] };
}

/**
 * A conversation ended. Its session goes over to another one of the same agent; without one it stays as it is, marked, and
 * the next start offers it. Null when it held none, or when only its context was cleared: then the agent goes on at once.
 */
export function endConversation(context: Context, isCleared: boolean): RunningSession | null {
  const { disk, layout, world } = context;
  const me = world.holder();
  if (me.agent !== undefined) forgetConversation(layout, me.agent);
  if (isCleared) return null;
  return disk.withLock(() => {
    const running = readRunning(context);
    if (!running) return null;
    const left = leave(running, me, livingOf(context, me), timestamp(context));
    if (left?.parked && isEmpty(context, running)) forgetEmpty(context, running);
    else if (left !== null) disk.replace(sessionFile(layout), encodeDocument(left));
    return left;
  });
}

/** Who joined goes quietly; where the holder goes, another one of its process holds it, or the first that joined. */
function leave(
  running: RunningSession,
  me: Holder,
  living: Holder | undefined,
  at: string,
): RunningSession | null {
  const joined = running.joined ?? [];
  const others = joined.filter((holder) => !isPlaceOf(holder, me));
  if (!isPlaceOf(running.holder, me))
    return others.length === joined.length ? null : { ...running, joined: others };
  if (living) return { ...running, holder: living, joined: others };
  const [next, ...rest] = others;
  if (next) return { ...running, holder: next, joined: rest };
  return { ...running, parked: { at, agent: me.agent ?? '' } };
}

/** Another conversation of the same process, the last that started. */
function livingOf({ layout }: Context, me: Holder): Holder | undefined {
  const { agent: _, ...process } = me;
  const other = listConversations(layout).find(
    (known) => known.id !== me.agent && known.process !== null && sameProcess(known.process, process),
  );
  return other && { ...process, agent: other.id };
}

/** A process may have more than one conversation: that one of them ends says nothing of the others. */
const isPlaceOf = (holder: Holder, me: Holder): boolean =>
  sameHolder(holder, me) && (holder.agent === undefined || holder.agent === me.agent);

/** True when this project wires an agent that runs the hooks of others as well: then only its own hooks answer. */
export function isWired({ layout }: Context, agent: AgentName): boolean {
  const file = AGENTS[agent].hooks?.file.project;
  if (file === undefined) return false;
  return runsHook(agent, readHint<{ hooks?: unknown }>(join(layout.root, file))?.hooks);
}

/** One line in the log of this worktree: an agent's hook has nobody to tell it to. */
export const noteFault = (context: Context, what: string): void =>
  appendLog(hookLog(context.layout), `${timestamp(context)} ${oneLine(what, 200)}`);
