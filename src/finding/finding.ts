import { createHash } from 'node:crypto';
import {
  appendFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { listFolder, makeFolder, readPlain, removeQuietly } from '../core/files.js';
import { findingsFile, findingsFolder, knownFile } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { countTokens, oneLine } from '../core/text.js';
import { maskText } from '../guard/guard.js';
import { type Context, readConfig } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { type Finding, findingOf, type MemorySummary, type Step, summarize } from './memory.js';
import { answers, isInside, keyOf, kindOf, type Question, readQuestion, type ToolInput } from './question.js';

/** A finding as it is stored, one JSON line each. */
interface Stored extends Finding {
  /** When the tool was called, ms. */
  at: number;
  /** Who asked: the conversation of an agent, or `shell`. */
  reader: string;
  question: Question;
  /** All that the question asks for was shown. */
  whole: boolean;
  /** SHA-256 of the file that was read; absent when it changed before it was looked at. */
  sha?: string;
  /** Tokens of the result. */
  tokens: number;
}

/** What else happened: a conversation lost its context, or a question was asked again. */
type Event =
  | { event: 'compacted'; reader: string; at: number }
  | { event: 'asked'; how: 'exact' | 'near' | 'stale'; tokens: number; avoided: boolean; at: number };

/** Larger files are neither hashed nor called known. */
const MAX_FILE = 8 * 1024 * 1024;
/** In bytes; the file of a session that grows longer is begun anew. */
const MAX_STORED = 4 * 1024 * 1024;
const KEPT_SESSIONS = 20;
/** Files and folders that a search's answer may depend on. */
const MAX_ENTRIES = 20_000;

const sessionOf = (context: Context): string => readRunning(context)?.id ?? 'none';
const readerOf = ({ world }: Context): string => world.holder().agent ?? 'shell';

function readLines(context: Context, session = sessionOf(context)): (Stored | Event)[] {
  const text = readPlain(findingsFile(context.layout, session), 2 * MAX_STORED)?.toString('utf8') ?? '';
  return text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line);
      return 'event' in value || (value.question && typeof value.fact === 'string') ? [value] : [];
    } catch {
      return [];
    }
  });
}

const isFinding = (line: Stored | Event): line is Stored => !('event' in line);

const findingsIn = (context: Context, session?: string): Stored[] =>
  readLines(context, session).filter(isFinding);

/** Adds lines at the end, each in one write: agents may write at the same time. */
function append(context: Context, lines: readonly (Stored | Event)[]): void {
  const { disk, layout } = context;
  if (disk.dryRun || lines.length === 0 || !isOwn(layout)) return;
  const file = findingsFile(layout, sessionOf(context));
  const size = lstatSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size > MAX_STORED) begin(context, file);
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const keys = lines.filter(isFinding).map(({ question }) => keyOf(question, layout.root));
  // An empty line would match every call.
  const told = [...new Set(keys)].filter((key) => key.length > 2 && !key.includes('\n'));
  if (told.length > 0) appendFileSync(knownFile(layout), told.map((key) => `${key}\n`).join(''));
}

/** No link that a clone brought may lead the writing elsewhere. */
function isOwn(layout: Context['layout']): boolean {
  const [folder, known] = [findingsFolder(layout), knownFile(layout)];
  const paths = [dirname(folder), folder, known, ...listFolder(folder).map((name) => join(folder, name))];
  return paths.every((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true);
}

/** A session's file is new: what the shell looks for begins anew, and the oldest sessions' findings go. */
function begin({ layout }: Context, file: string): void {
  makeFolder(findingsFolder(layout));
  writeFileSync(file, '');
  writeFileSync(knownFile(layout), '');
  const files = readdirSync(findingsFolder(layout)).filter((name) => name.endsWith('.jsonl'));
  const ages = files.map((name) => ({ name, at: lstatSync(join(findingsFolder(layout), name)).mtimeMs }));
  for (const { name } of ages.sort((a, b) => b.at - a.at).slice(KEPT_SESSIONS))
    removeQuietly(join(findingsFolder(layout), name));
}

/** One finding of a call that was seen, with what is needed to tell whether it is still true. */
async function toStored(
  context: Context,
  step: Step & { at: number; reader: string; isTold?: boolean },
  number: number,
): Promise<Stored> {
  const { root } = context.layout;
  const { question, ...finding } = findingOf(step, number, root);
  const seen = question.kind === 'read' ? seenOf(context, question, step) : null;
  const masked = {
    query: oneLine(await maskText(finding.query), 300),
    fact: oneLine(await maskText(finding.fact), 600),
  };
  return {
    ...finding,
    ...masked,
    at: step.at,
    reader: step.reader,
    // What holds a secret is not compared.
    question:
      masked.query === finding.query
        ? (seen?.question ?? withDetail(question, step.output))
        : { kind: 'other', tool: step.tool, text: '' },
    whole: question.kind === 'read' ? seen !== null : isWhole(step.output),
    ...(seen ? { sha: seen.sha } : {}),
    tokens: countTokens(step.output),
  };
}

/** A search that did not say whether it shows lines is known by what it showed. */
const withDetail = (question: Question, output: string): Question =>
  question.kind === 'search' && question.detail === 1 && /^(?:[^:\n]+:)?\d+:/m.test(output)
    ? { ...question, detail: 2 }
    : question;

/** Clients cut long results, and tell. */
const isWhole = (output: string): boolean =>
  !/truncat|omitted|\[\.\.\.|… \+\d+|results? (?:are|is) limited|more (?:results|matches)/i.test(
    output.slice(-4000) + output.slice(0, 400),
  );

type Read = Extract<Question, { kind: 'read' }>;

/**
 * The lines that a result shows of the file as it is now, and the file's digest. Null where the file changed since the
 * call, is none, or leads out of the project.
 */
function seenOf(
  context: Context,
  asked: Read,
  { output, at, isTold = false }: { output: string; at: number; isTold?: boolean },
): { question: Read; sha: string } | null {
  const file = readOwn(context, asked.path);
  if (!file || (!isTold && file.changed >= at)) return null;
  if (isTold) return { question: asked, sha: file.sha };
  const lines = file.bytes.toString('utf8').split('\n');
  const last = Math.min(asked.to ?? lines.length, lines.length);
  let position = 0;
  let shown = asked.from - 1;
  // In order, and with no more between two lines than the number that a tool puts there.
  for (; shown < last; shown++) {
    const line = (lines[shown] as string).trimEnd();
    const found = output.indexOf(line, position);
    if (found < 0 || (shown >= asked.from && line !== '' && found - position > 40)) break;
    if (line !== '') position = found + line.length;
  }
  if (shown < asked.from) return null;
  const isAll = shown >= lines.length || (shown === lines.length - 1 && lines.at(-1) === '');
  return { question: { ...asked, to: isAll ? null : shown }, sha: file.sha };
}

/** A plain file inside the project, not too long; null for anything else. */
function readOwn({ layout }: Context, path: string): { bytes: Buffer; sha: string; changed: number } | null {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > MAX_FILE || !isInside(realpathSync(path), realpathSync(layout.root)))
      return null;
    const bytes = readFileSync(path);
    return { bytes, sha: createHash('sha256').update(bytes).digest('hex'), changed: stats.ctimeMs };
  } catch {
    return null;
  }
}

export interface KnownAnswer {
  /** It was asked before in this session. */
  known: boolean;
  /** What was found then is still true, and in the context of who asks. */
  fresh: boolean;
  finding?: Finding;
  why: string;
  /** The same words, not only the same question. */
  exact?: boolean;
}

/** EXM-03: whether a question was answered already, and whether the answer still holds for who asks. */
function lookUp(
  context: Context,
  tool: string,
  input: ToolInput | string,
  reader: string,
  cwd: string,
): KnownAnswer & { tokens: number } {
  const asked = readQuestion(tool, input, cwd);
  const lines = readLines(context);
  const lost =
    lines.findLast((line) => 'event' in line && line.event === 'compacted' && line.reader === reader)?.at ??
    0;
  const all = lines.filter(isFinding).filter(({ success }) => success);
  const found = all.filter((one) => isAnswered(one, asked, all));
  if (found.length === 0)
    return { known: false, fresh: false, why: 'It was not asked in this session.', tokens: 0 };
  const reasons = found.map((one) => ({ one, why: whyStale(context, one, asked, reader, lost) })).reverse();
  const { one, why } = reasons.find((entry) => entry.why === null) ?? (reasons[0] as (typeof reasons)[0]);
  const { question, at, tokens } = one;
  const said =
    typeof input === 'string' ? input : findingOf({ tool, input, output: '' }, 0, context.layout.root).query;
  const when = new Date(at).toISOString().slice(11, 16);
  return {
    known: true,
    fresh: why === null,
    finding: shownAs(one),
    why: why ?? `Step ${one.step} (${one.tool}, ${when} UTC) answered it, and nothing changed since.`,
    exact: one.tool === tool && one.query === oneLine(said, 300) && isDeepStrictEqual(question, asked),
    tokens,
  };
}

/** By one finding, or by several reads that together show the lines asked for. */
function isAnswered(one: Stored, asked: Question, all: readonly Stored[]): boolean {
  if (answers(one.question, asked, one.whole)) return true;
  if (one.question.kind !== 'read' || asked.kind !== 'read' || one.question.path !== asked.path || !one.sha)
    return false;
  const { from } = one.question;
  if (from > asked.from || asked.to === null) return false;
  let to = one.question.to ?? Number.POSITIVE_INFINITY;
  const others = all.filter(
    ({ sha, reader, at }) => sha === one.sha && reader === one.reader && at >= one.at,
  );
  for (const { question } of others.sort((a, b) => fromOf(a) - fromOf(b)))
    if (question.kind === 'read' && question.path === asked.path && question.from <= to + 1)
      to = Math.max(to, question.to ?? Number.POSITIVE_INFINITY);
  return to >= asked.to;
}

const fromOf = ({ question }: Stored): number => (question.kind === 'read' ? question.from : 0);

/** Why an answer does not hold any more for who asks; null when it does. */
function whyStale(
  context: Context,
  one: Stored,
  asked: Question,
  reader: string,
  lost: number,
): string | null {
  if (one.reader !== reader)
    return `Another reader asked it (${one.reader}), so it is not in this conversation.`;
  if (one.at <= lost) return 'It was asked before this conversation was compacted.';
  if (one.question.kind === 'read') {
    const name = relative(context.layout.root, one.question.path);
    if (one.sha === undefined) return `${name} changed after it was read.`;
    const now = readOwn(context, one.question.path);
    return now?.sha === one.sha
      ? null
      : `${name} ${now ? 'changed after it was read' : 'is not there as a plain file now'}.`;
  }
  if (one.question.kind === 'other' || asked.kind === 'other')
    return 'Its answer may be another one each time.';
  return changedSince(context, one.question, asked, one.at);
}

/** What changed where a search or a listing looked, since it did; null for nothing. */
function changedSince(context: Context, known: Question, asked: Question, since: number): string | null {
  if (asked.kind === 'other' || known.kind === 'other') return 'Its answer may be another one each time.';
  const { root } = context.layout;
  if (!isInside(asked.path, root)) return 'It looked outside of the project.';
  const foldersOnly = known.kind === 'list';
  const byRipgrep = known.kind === 'search' && known.ripgrep;
  const { names: skipped, isAll } = byRipgrep ? ignored(root) : { names: new Set(['.forge']), isAll: true };
  // grep looks into what ripgrep leaves out.
  const isWider = byRipgrep && asked.kind === 'search' && !asked.ripgrep;
  if (isWider && !isAll) return 'The search before left out files that git ignores.';
  const isRecursive = known.kind === 'search' || (known.kind === 'list' && /\*\*|\//.test(known.glob));
  let left = MAX_ENTRIES;
  const visit = (path: string, isDeep: boolean): string | null => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return `${relative(root, path)} is gone.`;
    if (stats.isSymbolicLink()) return path === asked.path ? 'It is a link.' : null;
    const isFolder = stats.isDirectory();
    if ((isFolder || !foldersOnly) && stats.ctimeMs >= since)
      return `${relative(root, path) || 'The folder'} changed after it was searched.`;
    if (!isFolder || !isDeep) return null;
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (isWider && entry.name.startsWith('.') && !OWN_FOLDERS.includes(entry.name))
        return 'The search before left out hidden files.';
      if (isWider && skipped.has(entry.name) && !OWN_FOLDERS.includes(entry.name))
        return 'The search before left out files that git ignores.';
      if (skipped.has(entry.name) || (foldersOnly && !entry.isDirectory())) continue;
      if (--left < 0) return 'There are too many files to tell whether one changed.';
      const changed = visit(join(path, entry.name), isRecursive);
      if (changed !== null) return changed;
    }
    return null;
  };
  try {
    return visit(asked.path, true);
  } catch {
    return 'Some of the files cannot be read.';
  }
}

const OWN_FOLDERS = ['.git', '.forge'];

/** The plain names of the .gitignore at the top, which ripgrep leaves out, and whether it has nothing else. */
function ignored(root: string): { names: Set<string>; isAll: boolean } {
  const text = readPlain(join(root, '.gitignore'), 1 << 20)?.toString('utf8') ?? '';
  const lines = text.split('\n').map((line) => line.trim());
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const names = patterns
    .map((line) => line.replace(/^\/|\/$/g, ''))
    .filter((name) => /^[\w.@-]+$/.test(name));
  return { names: new Set([...OWN_FOLDERS, ...names]), isAll: names.length === patterns.length };
}

const StepInput = z.strictObject({
  tool: z.string().check(z.minLength(1), z.maxLength(100)),
  query: z.string().check(z.minLength(1), z.maxLength(4000)),
});

/** EXM-01: a finding in somebody's own words. */
export async function addFinding(
  context: Context,
  raw: { tool: string; query: string; fact: string; failed?: boolean },
): Promise<{ finding: Finding }> {
  const { fact, failed = false, ...rest } = raw;
  const { tool, query } = checkInput(StepInput, rest);
  const step = {
    tool,
    input: query,
    output: fact,
    success: !failed,
    at: context.world.now().getTime(),
    reader: readerOf(context),
    isTold: true,
  };
  const stored = await toStored(context, step, findingsIn(context).length + 1);
  const told = { ...stored, fact: oneLine(await maskText(fact), 600), whole: true };
  append(context, [told]);
  return { finding: shownAs(told) };
}

/** EXM-02: the fact in a tool's output. */
export async function extractFinding(
  context: Context,
  raw: { tool: string; query: string; output: string; exit?: number },
): Promise<{ finding: Finding }> {
  const { output, exit = null, ...rest } = raw;
  const { tool, query } = checkInput(StepInput, rest);
  const step = {
    tool,
    input: query,
    output,
    exit,
    at: context.world.now().getTime(),
    reader: readerOf(context),
  };
  const stored = await toStored(context, step, findingsIn(context).length + 1);
  append(context, [stored]);
  return { finding: shownAs(stored) };
}

const shownAs = ({ tool, query, fact, step, success, filePath }: Stored): Finding => ({
  ...{ tool, query, fact, step, success },
  ...(filePath === undefined ? {} : { filePath }),
});

/** Those of all sessions that are kept, the running one's last. */
export function findingsOf(context: Context): (Finding & { session: string })[] {
  const names = listFolder(findingsFolder(context.layout)).filter((name) => name.endsWith('.jsonl'));
  return names.sort().flatMap((name) => {
    const session = name.slice(0, -'.jsonl'.length);
    return findingsIn(context, session).map((one) => ({ ...shownAs(one), session: sessionName(session) }));
  });
}

export const listFindings = (context: Context): { session: string | null; findings: Finding[] } => ({
  session: readRunning(context)?.id ?? null,
  findings: findingsIn(context).map(shownAs),
});

export function hasFinding(context: Context, raw: { tool: string; query: string }): KnownAnswer {
  const { tool, query } = checkInput(StepInput, raw);
  const {
    tokens: _,
    exact: __,
    ...answer
  } = lookUp(context, tool, query, readerOf(context), context.layout.root);
  return answer;
}

/** EXM-04: what was learned in this session, and in the one that it goes on from. */
export function summarizeFindings(
  context: Context,
  { budget = 400 }: { budget?: number } = {},
): MemorySummary & { left: number } {
  const from = readRunning(context)?.resumed_from;
  const before = from === undefined ? [] : findingsIn(context, from);
  return summarize([...before, ...findingsIn(context)], budget);
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
  /** Reading tool calls that were seen. */
  calls: number;
  exact_repeats: number;
  near_repeats: number;
  /** Questions that were known once, and whose answer no longer held. */
  stale: number;
  /** Repeats that were refused (`[findings] mode = "deny"`). */
  avoided: number;
  /** An estimate: tokens of the results that repeats brought again, and of those that were avoided. */
  tokens_repeated: number;
  tokens_saved: number;
}

/** EXM-05 */
export function findingStats(context: Context): FindingStats {
  const lines = readLines(context);
  const asked = lines.flatMap((line) => ('event' in line && line.event === 'asked' ? [line] : []));
  const repeats = asked.filter(({ how }) => how !== 'stale');
  const tokens = (some: typeof asked): number => some.reduce((sum, one) => sum + one.tokens, 0);
  return {
    calls: lines.filter(isFinding).filter(({ question }) => question.kind !== 'other').length,
    exact_repeats: asked.filter(({ how }) => how === 'exact').length,
    near_repeats: asked.filter(({ how }) => how === 'near').length,
    stale: asked.filter(({ how }) => how === 'stale').length,
    avoided: asked.filter(({ avoided }) => avoided).length,
    tokens_repeated: tokens(repeats.filter(({ avoided }) => !avoided)),
    tokens_saved: tokens(repeats.filter(({ avoided }) => avoided)),
  };
}

/** EXM-05: findings of the calls that an agent's transcript or hook shows. Those of editing tools say nothing. */
export async function noteSteps(
  context: Context,
  reader: string,
  steps: readonly (Step & { at: number })[],
): Promise<void> {
  if (readConfig(context).findings.mode === 'off') return;
  const before = findingsIn(context);
  const key = ({ reader: by, at, tool, query }: Stored): string => `${by} ${at} ${tool} ${query}`;
  // A turn that was looked at half-way is looked at again.
  const known = new Set(before.map(key));
  const stored: Stored[] = [];
  for (const step of steps) {
    if (kindOf(step.tool) === 'edit') continue;
    const one = await toStored(context, { ...step, reader }, before.length + stored.length + 1);
    if (!known.has(key(one))) stored.push(one);
  }
  append(context, stored);
}

/** In ms: how long before its hook a call may have begun. */
const CALL_TIME = 5000;

/** The same of a call that just ended. What changed shortly before is not taken for what the call saw. */
export const noteCall = (
  context: Context,
  reader: string,
  { tool, input, output }: { tool: string; input: ToolInput; output: string | null },
): Promise<void> =>
  noteSteps(context, reader, [
    { tool, input, output: output ?? '', at: context.world.now().getTime() - CALL_TIME },
  ]);

/** A conversation's context is summarised now: what it read is not before it any more. */
export function noteForgotten(context: Context, reader: string): void {
  if (findingsIn(context).length > 0)
    append(context, [{ event: 'compacted', reader, at: context.world.now().getTime() }]);
}

/** What forge says to a question that an agent is about to ask again; null when it is news. */
export function noticeFor(
  context: Context,
  reader: string,
  { tool, input, cwd }: { tool: string; input: ToolInput; cwd: string | null },
): { text: string; mode: 'notice' | 'ask' | 'deny' } | null {
  const { mode } = readConfig(context).findings;
  if (mode === 'off' || ['edit', 'other', 'fetch'].includes(kindOf(tool))) return null;
  const {
    known,
    fresh,
    finding,
    why,
    exact = false,
    tokens,
  } = lookUp(context, tool, input, reader, cwd ?? context.layout.root);
  if (!known || !finding) return null;
  const how = fresh ? (exact ? 'exact' : 'near') : 'stale';
  append(context, [
    { event: 'asked', how, tokens, avoided: fresh && mode === 'deny', at: context.world.now().getTime() },
  ]);
  if (!fresh) return null;
  const name = finding.filePath ?? finding.query;
  return {
    mode,
    text: `Already known, from this conversation: ${oneLine(name, 200)}: ${finding.fact} (${why} forge finding list shows all.)`,
  };
}
