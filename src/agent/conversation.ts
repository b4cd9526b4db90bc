import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { homeFolder } from '../core/environment.js';
import { unlessFailed } from '../core/error.js';
import { appendLog, readTarget, realPath } from '../core/files.js';
import { type Holder, sameHolder, sameProcess } from '../core/holder.js';
import { hookLog, kfrFile, memoryFolder, sessionFile, shown, toldFile } from '../core/paths.js';
import { encodeDocument } from '../core/schema.js';
import { makeToken, oneLine } from '../core/text.js';
import { noteForgotten, noteSteps } from '../finding/finding.js';
import { commandIn, kindOf } from '../finding/question.js';
import { describePause } from '../guard/fingerprint.js';
import { readKfr } from '../kfr/kfr.js';
import { type Entry, injection, type Kfr, openEntries, stopReason, unparked } from '../kfr/rules.js';
import { type Context, isHalted, noteActivity, otherWorktrees, timestamp } from '../project/project.js';
import { type RanCommand, recordTurn } from '../session/record.js';
import type { RunningSession } from '../session/rules.js';
import {
  forgetConversation,
  holdsSession,
  isOursToSettle,
  listConversations,
  readConversation,
  readRunning,
  writeConversation,
} from '../session/running.js';
import { forgetEmpty } from '../session/store.js';
import { AGENTS, type AgentName, isHookOf } from './agents.js';
import { readCalls, type ToolCall } from './event.js';

/** Identifies a state of working memory. Entries are replaced, never changed, so their ids suffice. '' when empty. */
function versionOf({ session, entries }: Kfr): string {
  const ids = entries.map(({ id, parked }) => `${id}${parked ? 'p' : ''}`);
  return ids.length === 0 ? '' : `${session} ${ids.join(' ')}`;
}

/** Null when working memory cannot be read: the agent gets the error instead. */
const currentVersion = (context: Context): string | null =>
  unlessFailed(null, () => versionOf(readKfr(context)));

/** Notes that a conversation started and got the current working memory with its briefing. */
export function noteStart(context: Context, id: string): void {
  const { layout, world } = context;
  const { agent: _, ...process } = world.holder();
  const at = world.now().getTime();
  const known = readConversation(layout, id);
  writeConversation(layout, {
    ...known,
    process,
    at,
    seen: currentVersion(context),
    blocks: 0,
    // A compaction starts the conversation again without ending the turn.
    since: known.since || at,
    asked: null,
  });
  updateShellMark(context);
}

/**
 * Sets the file time that the shell compares with working memory before it starts forge after a tool: just after the
 * present state, or older than every file while a conversation has lost its working memory.
 */
function updateShellMark({ disk, layout, world }: Context): void {
  if (disk.dryRun) return;
  const time = statSync(kfrFile(layout), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const hasLost = listConversations(layout).some(
    ({ process, seen }) => seen === null && (process === null || world.liveness(process) !== 'gone'),
  );
  const seconds = hasLost ? 0 : (time + 1) / 1000;
  try {
    writeFileSync(toldFile(layout), '');
    utimesSync(toldFile(layout), seconds, seconds);
  } catch {
    // Without the folder there is no working memory. On a read-only disk the shell starts forge each time.
  }
}

/** Keeps a session alive while a conversation works in it, whose process may be invisible. */
function keepSession(context: Context, id: string): void {
  const running = readRunning(context);
  if (running && holdsSession(running, id)) noteActivity(context);
}

/** SES-12: records what happened since the last turn. */
export async function recordEvent(
  context: Context,
  id: string,
  { transcript: named, commands }: { transcript: string | null; commands: readonly RanCommand[] },
): Promise<void> {
  const { layout } = context;
  const known = readConversation(layout, id);
  // Copilot CLI may write its last command after the stop, and its end event names no transcript.
  const transcript = named ?? (known.transcript || null);
  if (transcript === null) return void (await recordTurn(context, id, commands));
  // A resumed conversation may get another file.
  const from = known.transcript === transcript ? known.read : 0;
  const { calls, offset } = readCalls(transcript, { from, since: known.since });
  await noteFindings(context, id, transcript, true);
  writeConversation(layout, { ...readConversation(layout, id), transcript, read: offset });
  await recordTurn(context, id, [...commands, ...commandsOf(calls)]);
}

/** A command that failed without an exit code may not have run. */
const commandsOf = (calls: readonly ToolCall[]): RanCommand[] =>
  calls.flatMap(({ tool, input, exit, failed }) => {
    const command = kindOf(tool) === 'shell' ? commandIn(input) : '';
    return command === '' || (failed && exit === null) ? [] : [{ command, exit }];
  });

/** EXM-05: extracts findings from the new part of a transcript. `isOver`: the turn ended, and no more results come. */
export async function noteFindings(
  context: Context,
  id: string,
  transcript: string,
  isOver = false,
): Promise<void> {
  const known = readConversation(context.layout, id);
  const isSame = known.transcript === transcript;
  const from = isSame ? known.noted : 0;
  const { calls, offset } = readCalls(transcript, { from, since: known.since, isOver });
  const steps = calls.flatMap(({ tool, input, at, output, exit, failed, isSubagent, cwd }) =>
    output === null || at === 0 || isSubagent
      ? []
      : [{ tool, input, at, output, exit, success: !failed, ...(cwd ? { cwd } : {}) }],
  );
  await noteSteps(context, id, steps);
  const read = isSame ? known.read : 0;
  if (offset !== known.noted || !isSame)
    writeConversation(context.layout, { ...known, transcript, read, noted: offset });
}

/** A person typed a prompt: the next stop may be blocked again. */
export function notePrompt(context: Context, id: string): void {
  const known = readConversation(context.layout, id);
  if (known.blocks > 0) writeConversation(context.layout, { ...known, blocks: 0 });
}

const EMPTY = 'Working memory is empty now: no KFR is in force, and each earlier one is obsolete.';

/**
 * The working memory for an agent's prompt, or the news that it is empty. Null when the agent knows it. With `lostOnly`, only
 * for an agent whose context lost it in a compaction.
 */
export function unseenKfr(context: Context, id: string, lostOnly: boolean): string | null {
  keepSession(context, id);
  const kfr = readKfr(context);
  const version = versionOf(kfr);
  const known = readConversation(context.layout, id);
  const isNews = known.seen !== version && !(lostOnly && known.seen !== null);
  if (isNews) writeConversation(context.layout, { ...known, seen: version });
  updateShellMark(context);
  return isNews ? (injection(kfr.entries, makeToken(12)) ?? (known.seen ? EMPTY : null)) : null;
}

/** Notes that the agent of this process got working memory as an answer, unless several conversations share the process. */
export function noteAnswer(context: Context): void {
  const { layout, world } = context;
  const [known, ...more] = listConversations(layout).filter(
    ({ process }) => process !== null && sameProcess(process, world.agent()),
  );
  if (known && more.length === 0) writeConversation(layout, { ...known, seen: currentVersion(context) });
}

/** Notes that the context is being summarized: the next hook sends working memory again. */
export function noteCompaction(context: Context, id: string): void {
  const known = readConversation(context.layout, id);
  if (known.seen !== null) writeConversation(context.layout, { ...known, seen: null });
  noteForgotten(context, id);
  updateShellMark(context);
}

/** The entries that this agent can settle. None while memory is halted or paused, or while another agent works in the session. */
function settleable(context: Context, open: Entry[]): Entry[] {
  if (open.length === 0 || isHalted(context.disk) || describePause(context)) return [];
  const running = readRunning(context);
  return running && isOursToSettle(context, running) ? open : [];
}

/** Why a requested compaction has to wait (KFR-09). Null when nothing is open. */
export function gateCompaction(context: Context): string | null {
  const open = settleable(context, openEntries(readKfr(context)));
  return open.length === 0 ? null : stopReason(open, 'compact the conversation');
}

/** Blocked stops in a row, after which the agent may stop. */
const MAX_BLOCKS = 5;

/**
 * Why an agent may not stop yet (KFR-09); null when it may. If working memory did not change since the last block, the agent
 * has no answer: it may stop, and the `unsettled` entries wait for a human. A stop that cannot be counted is not blocked.
 */
export function gateStop(
  context: Context,
  id: string,
): { block: string | null; unsettled: string[]; notice?: string } {
  keepSession(context, id);
  const { layout } = context;
  const known = readConversation(layout, id);
  const kfr = readKfr(context);
  const open = settleable(context, unparked(kfr));
  if (open.length === 0) {
    if (known.blocks > 0) writeConversation(layout, { ...known, blocks: 0 });
    const pause = describePause(context);
    return { block: null, unsettled: [], ...(pause ? { notice: `forge: ${pause.why}: ${pause.fix}` } : {}) };
  }
  const asked = versionOf(kfr);
  if (known.blocks > 0 && known.asked === asked)
    return { block: null, unsettled: open.map((entry) => entry.id) };
  const isCounted =
    known.blocks < MAX_BLOCKS && writeConversation(layout, { ...known, blocks: known.blocks + 1, asked });
  return { block: isCounted ? stopReason(open, 'stop') : null, unsettled: [] };
}

/** The command that writes a file below `.forge/memory/`, by the start of its path. */
const COMMANDS = [
  [/^short-term\/progress/, 'forge log "TEXT"'],
  [/^short-term\/focus/, 'forge focus set --task "TEXT"'],
  [/^long-term\/features/, 'forge feature add ID "NAME", forge feature edit ID, forge done ID'],
  [/^long-term\/(knowledge|learned)/, 'forge learn "TEXT" --as success'],
  [/^long-term\/architecture/, 'forge architecture edit FILE'],
  [/^(ledger|long-term\/notes|\w+\.jsonl)/, 'forge note add "TEXT"'],
  [/^sessions/, 'forge end'],
] as const;

/** Folders where agents may write files themselves. */
const FREE = /^(short-term\/scratch|artifacts)(\/|$)/;

/** Why an edit tool may not write these files, null when it may. An edit would be neither checked nor recorded. */
export function gateEdit(
  context: Context,
  { cwd, paths }: { cwd: string | null; paths: readonly string[] },
): string | null {
  const { layout } = context;
  for (const path of paths) {
    const whole = resolve(cwd ?? layout.root, path);
    const files = [whole, withoutLinks(whole)];
    const others = files.some((file) => file.includes('.forge')) ? otherWorktrees(context) : [];
    for (const memory of [context, ...others].map((each) => memoryFolder(each.layout))) {
      const inside = files.map((file) => relative(memory, file).split(sep).join('/'));
      const name = inside.find((file) => file !== '' && !file.startsWith('../') && !FREE.test(file));
      if (name === undefined) continue;
      const command = COMMANDS.find(([start]) => start.test(name))?.[1] ?? 'forge --help';
      return `Only forge writes ${oneLine(shown(layout, join(memory, name)), 200)}; nothing was changed. Use: ${command}`;
    }
  }
  return null;
}

/** The path with links in its folder resolved, or unchanged if the folder is missing. */
function withoutLinks(path: string): string {
  const folder = realPath(dirname(path));
  return folder === null ? path : join(folder, basename(path));
}

/** Passes the session of an ended conversation to another one, or parks it for the next start. An empty one is removed. */
export function endConversation(context: Context, isCleared: boolean): void {
  const { disk, layout, world } = context;
  const me = world.holder();
  if (me.agent !== undefined) forgetConversation(layout, me.agent);
  if (isCleared) return;
  disk.withLock(() => {
    const running = readRunning(context);
    if (!running) return;
    const left = leave(context, running, me);
    if (!left || (left.parked && forgetEmpty(context, running))) return;
    disk.replace(sessionFile(layout), encodeDocument(left));
  });
}

/** The session without this holder. Null when the conversation was not in it. */
function leave(context: Context, running: RunningSession, me: Holder): RunningSession | null {
  // A process may have several conversations.
  const isMe = (holder: Holder): boolean =>
    sameHolder(holder, me) && (holder.agent === undefined || holder.agent === me.agent);
  const { holder, joined = [] } = running;
  const others = joined.filter((one) => !isMe(one));
  if (!isMe(holder)) return others.length === joined.length ? null : { ...running, joined: others };
  const { agent = '', ...process } = me;
  const sibling = listConversations(context.layout).find(
    (known) => known.id !== agent && known.process !== null && sameProcess(known.process, process),
  );
  const next = sibling ? { ...process, agent: sibling.id } : others.shift();
  if (next) return { ...running, holder: next, joined: others };
  return { ...running, parked: { at: timestamp(context), agent } };
}

/** Whether an agent that also runs the hooks of others is wired, here or for the person. Then only its own hooks answer. */
export function isWired({ layout, world }: Context, agent: AgentName): boolean {
  const { project = '', user = '' } = AGENTS[agent].hooks?.file ?? {};
  return [join(layout.root, project), join(homeFolder(world.env), user)].some((file) => {
    try {
      return isHookOf(agent, readTarget(file, 64 * 1024)?.toString());
    } catch {
      return false;
    }
  });
}

/** Adds a line to this worktree's hook log: a hook has nobody to report an error to. */
export const noteFault = (context: Context, what: string): void =>
  appendLog(hookLog(context.layout), `${timestamp(context)} ${oneLine(what, 200)}`);
