import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readPlain } from '../core/files.js';
import { countTokens, oneLine, sha256 } from '../core/text.js';
import { maskText } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import { type Finding, findingOf, type Step } from './memory.js';
import { answers, isInside, type Question, readQuestion, type ToolInput } from './question.js';
import { isFinding, readLines, type Stored } from './store.js';

/** Larger files are neither hashed nor reported as known. */
const MAX_FILE = 8 * 1024 * 1024;
/** The most files and folders that a search's result may depend on. */
const MAX_ENTRIES = 20_000;

/** One finding of an observed call, with the data to check whether it still holds. */
export async function toStored(
  context: Context,
  step: Step & { at: number; reader: string; isReported?: boolean },
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
    // Content with a secret is not compared.
    question:
      masked.query === finding.query
        ? (seen?.question ?? withDetail(question, step.output))
        : { kind: 'other', tool: step.tool, text: '' },
    whole: question.kind === 'read' ? seen !== null : isWhole(step.output),
    ...(seen ? { sha: seen.sha } : {}),
    tokens: countTokens(step.output),
  };
}

/** If a search did not set an output mode, its output shows which one it was. */
const withDetail = (question: Question, output: string): Question =>
  question.kind === 'search' && question.detail === 1 && /^(?:[^:\n]+:)?\d+:/m.test(output)
    ? { ...question, detail: 2 }
    : question;

/** In characters. Some clients truncate longer results. */
const MAX_RESULT = 20_000;

/** Clients mark the results that they truncate. */
const isWhole = (output: string): boolean =>
  output.length <= MAX_RESULT &&
  !/truncat|omitted|\[\.\.\.|… \+\d+|results? (?:are|is) limited|with pagination|more (?:results|matches)/i.test(
    output,
  );

type Read = Extract<Question, { kind: 'read' }>;

/**
 * The lines that a result shows of the current file, and the file's digest. Null if the file changed since the
 * call, is not a regular file, or leads out of the project.
 */
function seenOf(
  context: Context,
  asked: Read,
  { output, at, isReported = false }: { output: string; at: number; isReported?: boolean },
): { question: Read; sha: string } | null {
  const file = readOwn(context, asked.path);
  if (!file || (!isReported && file.changed >= at)) return null;
  if (isReported) return { question: asked, sha: file.sha };
  const lines = file.bytes.toString('utf8').split('\n');
  const last = Math.min(asked.to ?? lines.length, lines.length);
  let position = 0;
  let shown = asked.from - 1;
  // In order, with only the tool's line numbers in between.
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

/** A regular file inside the project, within the size limit. Null for anything else. */
function readOwn({ layout }: Context, path: string): { bytes: Buffer; sha: string; changed: number } | null {
  try {
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > MAX_FILE || !isInside(realpathSync(path), realpathSync(layout.root)))
      return null;
    const bytes = readFileSync(path);
    return { bytes, sha: sha256(bytes), changed: stats.ctimeMs };
  } catch {
    return null;
  }
}

/** Whether a file of the project changed since it was read. */
export function hasChanged(context: Context, { sha, whole }: Stored, { path }: Read): boolean {
  if (sha !== undefined) return readOwn(context, path)?.sha !== sha;
  return !whole && isInside(path, context.layout.root);
}

export interface KnownAnswer {
  /** It was asked before in this session. */
  known: boolean;
  /** The earlier result still holds and is in the caller's context. */
  fresh: boolean;
  finding?: Finding;
  why: string;
  /** The same words, not just the same meaning. */
  exact?: boolean;
}

/** EXM-03: whether a question was already answered, and whether the answer still holds for the caller. */
export function lookUp(
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

/** Why an answer no longer holds for the caller. Null if it does. */
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
    if (one.sha === undefined) return `${name} changed while it was read, or did not exist.`;
    const now = readOwn(context, one.question.path);
    return now?.sha === one.sha
      ? null
      : `${name} ${now ? 'changed after it was read' : 'is not there as a plain file now'}.`;
  }
  if (one.question.kind === 'other' || asked.kind === 'other')
    return 'Its answer may be another one each time.';
  return changedSince(context, one.question, asked, one.at);
}

/**
 * Tells whether any file of the project, except ignored ones, changed since a given time. Folders do not count, because test
 * runs create temporary files. Each answer also settles earlier or later times, which saves a walk through the files.
 */
export function projectChanges(context: Context): (since: number) => boolean {
  const all = readQuestion('rg', { pattern: '.' }, context.layout.root);
  let [stale, fresh] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  return (since) => {
    if (since > stale && since < fresh)
      if (changedSince(context, all, all, since, false) === null) fresh = since;
      else stale = since;
    return since <= stale;
  };
}

/** What changed in the place of a search or a listing since then. Null if nothing did. */
function changedSince(
  context: Context,
  known: Question,
  asked: Question,
  since: number,
  countsFolders = true,
): string | null {
  if (asked.kind === 'other' || known.kind === 'other') return 'Its answer may be another one each time.';
  const { root } = context.layout;
  if (!isInside(asked.path, root)) return 'It looked outside of the project.';
  // `ls -l` shows the size and time of files too.
  const foldersOnly = known.kind === 'list' && !/^-.*l/.test(known.glob);
  const byRipgrep = known.kind === 'search' && known.ripgrep && !known.options.includes('u');
  // grep searches files that ripgrep ignores.
  const isWider = byRipgrep && asked.kind === 'search' && !asked.ripgrep;
  const { folders, isAll } = byRipgrep ? ignoredFolders(root) : { folders: [], isAll: true };
  if (isWider && !isAll) return LEFT_OUT;
  const skipped = new Set([...OWN_FOLDERS, ...folders]);
  const isRecursive = known.kind === 'search' || (known.kind === 'list' && /\*\*|\//.test(known.glob));
  let left = MAX_ENTRIES;
  const visit = (path: string, isDeep: boolean): string | null => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return `${relative(root, path)} is gone.`;
    if (stats.isSymbolicLink()) return path === asked.path ? 'It is a link.' : null;
    const isFolder = stats.isDirectory();
    if ((isFolder ? countsFolders : !foldersOnly) && stats.ctimeMs >= since)
      return `${relative(root, path) || 'The folder'} changed after it was searched.`;
    if (!isFolder || !isDeep) return null;
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      const isIgnored = skipped.has(entry.name) || skipped.has(inner);
      const isHidden = isIgnored || entry.name.startsWith('.');
      if (isWider && isHidden && !OWN_FOLDERS.includes(entry.name)) return LEFT_OUT;
      if (entry.isDirectory() ? isIgnored : foldersOnly) continue;
      if (--left < 0) return 'There are too many files to tell whether one changed.';
      const changed = visit(inner, isRecursive);
      if (changed !== null) return changed;
    }
    return null;
  };
  try {
    return changedAbove(root, asked.path, since) ?? visit(asked.path, true);
  } catch {
    return 'Some of the files cannot be read.';
  }
}

/** grep also reads `.git`, which changes with every commit, but nobody searches for its content. */
const OWN_FOLDERS = ['.git', '.forge'];
const LEFT_OUT = 'The search before left out hidden and ignored files.';

/** A folder above may have been replaced by another one, and other files may be ignored now. */
function changedAbove(root: string, path: string, since: number): string | null {
  const above = [join(root, '.gitignore')];
  for (let folder = path; folder !== root; folder = dirname(folder)) above.push(dirname(folder));
  const changed = above
    .filter((name) => name !== root)
    .find((name) => (lstatSync(name, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= since);
  return changed === undefined ? null : `${relative(root, changed)} changed after it was searched.`;
}

/** The plain names and paths in the top .gitignore, which ripgrep leaves out. `isAll`: it has no other patterns. */
function ignoredFolders(root: string): { folders: string[]; isAll: boolean } {
  const text = readPlain(join(root, '.gitignore'), 1 << 20)?.toString('utf8') ?? '';
  const patterns = text.split('\n').map((line) => line.trim().replace(/\/$/, ''));
  const meant = patterns.filter((line) => line !== '' && !line.startsWith('#'));
  if (meant.some((line) => line.startsWith('!'))) return { folders: [], isAll: false };
  const plain = meant.filter((line) => /^\/?[\w.@-]+$/.test(line));
  const folders = plain.map((line) => (line.startsWith('/') ? join(root, line) : line));
  return { folders, isAll: plain.length === meant.length };
}

/** Without the data that is needed to check whether it still holds. */
export const shownAs = ({ tool, query, fact, step, success, filePath }: Stored): Finding => ({
  ...{ tool, query, fact, step, success },
  ...(filePath === undefined ? {} : { filePath }),
});
