import { rmSync } from 'node:fs';
import * as z from 'zod/mini';
import { listFolder } from '../core/files.js';
import { findingsFile, findingsFolder, knownFile } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { oneLine, sha256 } from '../core/text.js';
import { type Context, readConfig } from '../project/project.js';
import { isWork } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { hasChanged, type KnownAnswer, lookUp, projectChanges, shownAs, toStored } from './known.js';
import { type Finding, type Step, summarize } from './memory.js';
import { commandIn, inputOf, kindOf, type ToolInput } from './question.js';
import { append, findingsIn, readerOf, readLines, type Stored, sessionOf } from './store.js';

const StepInput = z.strictObject({
  tool: z.string().check(z.minLength(1), z.maxLength(100)),
  query: z.string().check(z.minLength(1), z.maxLength(4000)),
  /** Where the tool ran; by default the top of the project. */
  cwd: z.optional(z.string()),
});
type About = z.infer<typeof StepInput>;

/** EXM-01: a finding in the caller's own words. */
export const addFinding = (
  context: Context,
  { fact, failed = false, ...about }: About & { fact: string; failed?: boolean },
): Promise<{ finding: Finding }> => keep(context, about, { output: fact, success: !failed }, fact);

/** EXM-02: the fact in a tool's output. */
export const extractFinding = (
  context: Context,
  { output, exit, ...about }: About & { output: string; exit?: number },
): Promise<{ finding: Finding }> => keep(context, about, { output, exit: exit ?? null });

async function keep(
  context: Context,
  about: About,
  result: Pick<Step, 'output' | 'exit' | 'success'>,
  reported?: string,
): Promise<{ finding: Finding }> {
  const { tool, query, cwd = context.layout.root } = checkInput(StepInput, about);
  const step = {
    ...{ tool, input: inputOf(tool, query), cwd, ...result },
    ...{ at: context.world.now().getTime(), reader: readerOf(context) },
  };
  const stored = await toStored(context, step, findingsIn(context).length + 1, reported);
  append(context, [stored]);
  return { finding: shownAs(stored) };
}

/** The findings of all kept sessions, the running one's last. */
export function findingsOf(context: Context): (Finding & { session: string; at: string })[] {
  const names = listFolder(findingsFolder(context.layout)).filter((name) => name.endsWith('.jsonl'));
  return names.sort().flatMap((name) => {
    const session = name.slice(0, -'.jsonl'.length);
    return findingsIn(context, session).map((one) => ({
      ...{ ...shownAs(one), session },
      at: new Date(one.at).toISOString(),
    }));
  });
}

export const listFindings = (context: Context): { session: string | null; findings: Finding[] } => ({
  session: readRunning(context)?.id ?? null,
  findings: findingsIn(context).map(shownAs),
});

export function hasFinding(context: Context, raw: About): KnownAnswer {
  const { tool, query, cwd = context.layout.root } = checkInput(StepInput, raw);
  const found = lookUp(context, tool, inputOf(tool, query), readerOf(context), cwd);
  const { tokens: _, exact: _exact, ...answer } = found;
  return answer;
}

/** EXM-04: what still tells something, of this session and of the one that it resumed. */
export function summarizeFindings(context: Context, { budget = 400 }: { budget?: number } = {}) {
  const from = readRunning(context)?.resumed_from;
  const before = from === undefined ? [] : findingsIn(context, from);
  const hasChangedSince = projectChanges(context);
  return summarize(
    [...before, ...findingsIn(context)].filter((one) => isTelling(context, one, hasChangedSince)),
    budget,
  );
}

/** False for what a change made stale, and for commands that only listed, committed or printed nothing. */
function isTelling(context: Context, one: Stored, hasChangedSince: (at: number) => boolean): boolean {
  const { question, tool, query, tokens, success } = one;
  if (question.kind === 'read') return !hasChanged(context, one, question);
  const isShell = kindOf(tool) === 'shell';
  if ((isShell || question.kind !== 'other') && hasChangedSince(one.at)) return false;
  if (!isShell || question.kind === 'search') return true;
  return question.kind !== 'list' && (!success || (tokens > 0 && isWork(query)));
}

export const clearFindings = (context: Context): { cleared: number } => {
  const cleared = findingsIn(context).length;
  if (!context.disk.dryRun) {
    rmSync(findingsFile(context.layout, sessionOf(context)), { force: true });
    rmSync(knownFile(context.layout), { force: true });
  }
  return { cleared };
};

export interface FindingStats {
  /** Tool calls that read. */
  calls: number;
  exact_repeats: number;
  near_repeats: number;
  /** Questions that were known, but whose answer no longer held. */
  stale: number;
  /** Repeats that were refused (`[findings] mode = "deny"`). */
  avoided: number;
  /** An estimate: tokens of repeated results, and of avoided ones. */
  tokens_repeated: number;
  tokens_saved: number;
}

const askedIn = (context: Context) =>
  readLines(context).flatMap((line) => ('event' in line && line.event === 'asked' ? [line] : []));

export function findingStats(context: Context): FindingStats {
  const asked = askedIn(context);
  const count = (wanted: string): number => asked.filter(({ how }) => how === wanted).length;
  const avoided = asked.filter((one) => one.avoided);
  const repeated = asked.filter((one) => one.how !== 'stale' && !one.avoided);
  const tokens = (some: typeof asked): number => some.reduce((sum, one) => sum + one.tokens, 0);
  return {
    calls: findingsIn(context).filter(({ question }) => question.kind !== 'other').length,
    exact_repeats: count('exact'),
    near_repeats: count('near'),
    stale: count('stale'),
    avoided: avoided.length,
    tokens_repeated: tokens(repeated),
    tokens_saved: tokens(avoided),
  };
}

/** AGT-04: what forge printed is no finding, whether a shell or a tool called it. */
const isOwn = ({ tool, input }: Step): boolean =>
  /^mcp__forge__/.test(tool) ||
  (kindOf(tool) === 'shell' &&
    /(?:^|[;&|(\n]\s*|\bnpx (?:--no-install )?)forge\b/.test(commandIn(input).trim()));

/** EXM-05: findings of the calls in an agent's transcript or hook. Calls of editing tools have none. */
export async function noteSteps(
  context: Context,
  reader: string,
  steps: readonly (Step & { at: number })[],
): Promise<void> {
  if (readConfig(context).findings.mode === 'off') return;
  const before = findingsIn(context);
  const key = ({ reader: by, at, tool, query }: Stored): string => `${by} ${at} ${tool} ${query}`;
  // An incomplete turn is read again.
  const known = new Set(before.map(key));
  const stored: Stored[] = [];
  for (const step of steps) {
    if (kindOf(step.tool) === 'edit' || isOwn(step)) continue;
    const one = await toStored(context, { ...step, reader }, before.length + stored.length + 1);
    if (!known.has(key(one))) stored.push(one);
  }
  append(context, stored);
}

/** ms. How long before its hook a call may have started. */
const CALL_TIME = 5000;

/** The same for a call that just ended. A change shortly before it may be newer than what the call saw. */
export const noteCall = (
  context: Context,
  reader: string,
  { tool, input, output, cwd }: { tool: string; input: ToolInput; output: string | null; cwd: string | null },
): Promise<void> =>
  noteSteps(context, reader, [
    {
      ...{ tool, input, output: output ?? '', at: context.world.now().getTime() - CALL_TIME },
      ...(cwd === null || kindOf(tool) === 'shell' ? {} : { cwd }),
    },
  ]);

/** A compaction of the conversation: the files it read are no longer in its context. */
export function noteForgotten(context: Context, reader: string): void {
  if (findingsIn(context).length > 0)
    append(context, [{ event: 'compacted', reader, at: context.world.now().getTime() }]);
}

/** The notice for a question that an agent is about to repeat. Null if it is new. */
export function noticeFor(
  context: Context,
  reader: string,
  call: { tool: string; input: ToolInput; cwd: string | null; isAhead?: boolean },
): { text: string; mode: 'notice' | 'ask' | 'deny' } | null {
  const { tool, input, cwd, isAhead = true } = call;
  const wanted = readConfig(context).findings.mode;
  if (wanted === 'off' || ['edit', 'other', 'fetch'].includes(kindOf(tool))) return null;
  const mode = isAhead ? wanted : 'notice';
  const answer = lookUp(context, tool, input, reader, cwd ?? context.layout.root);
  const { fresh, finding, why, exact = false, tokens } = answer;
  if (!finding) return null;
  const how = fresh ? (exact ? 'exact' : 'near') : 'stale';
  const digest = sha256(JSON.stringify([tool, input])).slice(0, 12);
  // An agent that repeats a refused call needs the result itself.
  const last = askedIn(context).at(-1);
  const isNeeded = mode === 'deny' && last?.avoided === true && last.call === digest;
  const avoided = fresh && mode === 'deny' && !isNeeded;
  append(context, [
    { event: 'asked', how, tokens, avoided, call: digest, at: context.world.now().getTime() },
  ]);
  if (!fresh || isNeeded) return null;
  const name = finding.filePath ?? finding.query;
  return {
    mode,
    text: `Already known, from this conversation: ${oneLine(name, 200)}: ${finding.fact} (${why} ${avoided ? 'Make the same call again to get the result itself.' : 'forge finding list shows all.'})`,
  };
}
