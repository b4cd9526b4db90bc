import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { changedBy, readPlain } from '../core/files.js';
import { countTokens, oneLine, sha256 } from '../core/text.js';
import { maskText } from '../guard/guard.js';
import type { Context } from '../project/project.js';
import { numbered } from './facts.js';
import { type Finding, findingOf, type Step } from './memory.js';
import { answers, isInside, type Question, queryOf, readQuestion, type ToolInput } from './question.js';
import { type Event, isFinding, readLines, type Stored } from './store.js';

/** Larger files are neither hashed nor reported as known. */
const MAX_FILE = 8 * 1024 * 1024;
/** The most files and folders that a search's result may depend on. */
const MAX_ENTRIES = 20_000;

/**
 * One finding of an observed call, with the data to check whether it still holds. `reported`: its fact in the caller's own
 * words.
 */
export async function toStored(
  context: Context,
  step: Step & { at: number; reader: string },
  number: number,
  reported?: string,
): Promise<Stored> {
  const { question, ...finding } = findingOf(step, number, context.layout.root);
  const seen = question.kind === 'read' ? seenOf(context, question, step, reported !== undefined) : null;
  const query = oneLine(await maskText(finding.query), 300);
  return {
    ...finding,
    query,
    fact: oneLine(await maskText(reported ?? finding.fact), 600),
    at: step.at,
    reader: step.reader,
    // Content with a secret is not compared.
    question: query === finding.query ? (seen?.question ?? question) : { kind: 'other' },
    whole: reported !== undefined || isWhole(step.output),
    ...(seen ? { sha: seen.sha } : {}),
    tokens: countTokens(step.output),
  };
}

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
 * call and no longer has exactly these lines, is not a regular file, or leads out of the project.
 */
function seenOf(context: Context, asked: Read, { output, at }: Step & { at: number }, isReported: boolean) {
  const file = readOwn(context, asked.path);
  if (!file) return null;
  if (isReported) return { question: asked, sha: file.sha };
  const lines = file.bytes.toString('utf8').split('\n');
  const isSame = ([n, line]: readonly [number, string]) => line.trimEnd() === lines[n - 1]?.trimEnd();
  if (file.changed >= at && !numbered(output.trimEnd(), asked.from).every(isSame)) return null;
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
    return { bytes, sha: sha256(bytes), changed: changedBy(stats) };
  } catch {
    return null;
  }
}

/** Whether a file of the project changed since it was read. */
export const hasChanged = (context: Context, { sha }: Stored, { path }: Read): boolean =>
  sha === undefined ? isInside(path, context.layout.root) : readOwn(context, path)?.sha !== sha;

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
  input: ToolInput,
  reader: string,
  cwd: string,
): KnownAnswer & { tokens: number } {
  const asked = readQuestion(tool, input, cwd);
  const lines = readLines(context);
  const isLoss = (line: Stored | Event) =>
    'event' in line && line.event === 'compacted' && line.reader === reader;
  const lost = lines.findLast(isLoss)?.at ?? 0;
  const reasons = lines
    .filter(isFinding)
    .filter(({ success, question, whole }) => success && answers(question, asked, whole))
    .map((one) => ({ one, why: whyStale(context, one, asked, reader, lost) }));
  const best = reasons.findLast(({ why }) => why === null) ?? reasons.at(-1);
  if (!best) return { known: false, fresh: false, why: 'It was not asked in this session.', tokens: 0 };
  const { one, why } = best;
  const { question, at, tokens } = one;
  const when = new Date(at).toISOString().slice(11, 16);
  return {
    known: true,
    fresh: why === null,
    finding: shownAs(one),
    why: why ?? `Step ${one.step} (${one.tool}, ${when} UTC) answered it, and nothing changed since.`,
    exact:
      one.tool === tool && one.query === oneLine(queryOf(input), 300) && isDeepStrictEqual(question, asked),
    tokens,
  };
}

/** Why an answer no longer holds for the caller. Null if it does. */
function whyStale(context: Context, one: Stored, asked: Question, reader: string, lost: number) {
  if (one.reader !== reader)
    return `Another reader asked it (${one.reader}), so it is not in this conversation.`;
  if (one.at <= lost) return 'It was asked before this conversation was compacted.';
  if (one.question.kind === 'read') {
    const name = relative(context.layout.root, one.question.path);
    if (one.sha === undefined) return `${name} could not be compared with what was shown.`;
    const isSame = readOwn(context, one.question.path)?.sha === one.sha;
    return isSame ? null : `${name} was replaced or changed since it was read.`;
  }
  if (one.question.kind === 'other' || asked.kind === 'other')
    return 'Its answer may be another one each time.';
  const { root } = context.layout;
  if (!isInside(asked.path, root)) return 'It looked outside of the project.';
  const last = lastChange(root, asked.path, one.question);
  if (last === null) return 'Its files cannot be compared: a link, too many of them, or not readable.';
  return last >= one.at ? 'A file or folder there changed since.' : null;
}

/**
 * Tells whether any file of the project, except ignored ones, changed since a given time. Folders do not count, because test
 * runs create temporary files.
 */
export function projectChanges({ layout: { root } }: Context): (since: number) => boolean {
  let last: number | null | undefined;
  return (since) => {
    last ??= lastChange(root, root, readQuestion('rg', { pattern: '.' }, root) as Place, false);
    return last === null || last >= since;
  };
}

type Place = Extract<Question, { kind: 'search' | 'list' }>;

/** When a searched or listed folder last changed, or one above it, which may have been replaced. Null if unknown. */
function lastChange(root: string, path: string, asked: Place, countsFolders = true): number | null {
  const skipsIgnored = asked.kind === 'search' && asked.ripgrep && !asked.options.includes('u');
  const skipped = new Set([...OWN_FOLDERS, ...(skipsIgnored ? ignoredFolders(root) : [])]);
  const isDeep = asked.kind === 'search' || /\*\*|\//.test(asked.glob);
  let last = 0;
  let left = MAX_ENTRIES;
  const note = (stats: Stats): void => {
    last = Math.max(last, changedBy(stats));
  };
  const visit = (name: string, stats: Stats): void => {
    if (!stats.isDirectory() || countsFolders) note(stats);
    if (!stats.isDirectory() || (name !== path && !isDeep)) return;
    for (const entry of readdirSync(name, { withFileTypes: true })) {
      const inner = join(name, entry.name);
      if (entry.isDirectory() && (skipped.has(entry.name) || skipped.has(inner))) continue;
      if (--left < 0) throw new Error('too many');
      visit(inner, lstatSync(inner));
    }
  };
  try {
    for (let above = dirname(path); above !== root && isInside(above, root); above = dirname(above))
      note(lstatSync(above));
    const ignoring = lstatSync(join(root, '.gitignore'), { throwIfNoEntry: false });
    if (ignoring) note(ignoring);
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return null;
    visit(path, stats);
    return last;
  } catch {
    return null;
  }
}

/** grep also reads `.git`, which changes with every commit, but nobody searches for its content. */
const OWN_FOLDERS = ['.git', '.forge'];

/** The plain names and paths in the top .gitignore, which ripgrep leaves out. */
function ignoredFolders(root: string): string[] {
  const text = readPlain(join(root, '.gitignore'), 1 << 20)?.toString('utf8') ?? '';
  const patterns = text.split('\n').map((line) => line.trim().replace(/\/$/, ''));
  if (patterns.some((line) => line.startsWith('!'))) return [];
  const plain = patterns.filter((line) => /^\/?[\w.@-]+$/.test(line));
  return plain.map((line) => (line.startsWith('/') ? join(root, line) : line));
}

/** Without the data that is needed to check whether it still holds. */
export const shownAs = ({ tool, query, fact, step, success, filePath }: Stored): Finding => ({
  ...{ tool, query, fact, step, success },
  ...(filePath === undefined ? {} : { filePath }),
});
