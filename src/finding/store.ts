import { appendFileSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFolder, makeFolder, readPlain, removeQuietly } from '../core/files.js';
import { findingsFile, findingsFolder, knownFile } from '../core/paths.js';
import type { Context } from '../project/project.js';
import { holderHere, readRunning } from '../session/running.js';
import type { Finding } from './memory.js';
import { keyOf, type Question } from './question.js';

/** A finding as it is stored, one JSON line each. */
export interface Stored extends Finding {
  /** When the tool was called, ms. */
  at: number;
  /** The caller: the conversation of an agent, or `shell`. */
  reader: string;
  question: Question;
  whole: boolean;
  /** SHA-256 of the file that was read. Absent if it changed in between. */
  sha?: string;
  tokens: number;
}

/** Another event: a conversation lost its context, or a question was repeated. */
export type Event =
  | { event: 'compacted'; reader: string; at: number }
  | {
      event: 'asked';
      how: 'exact' | 'near' | 'stale';
      tokens: number;
      avoided: boolean;
      /** A digest of the call. */
      call: string;
      at: number;
    };

/** In bytes. A longer session file is started over. */
const MAX_STORED = 4 * 1024 * 1024;
const KEPT_SESSIONS = 20;

export const sessionOf = (context: Context): string => readRunning(context)?.id ?? 'none';
/** An agent's conversation, also from its shell. */
export const readerOf = (context: Context): string => holderHere(context).agent ?? 'shell';

export function readLines(context: Context, session = sessionOf(context)): (Stored | Event)[] {
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

export const isFinding = (line: Stored | Event): line is Stored => !('event' in line);

export const findingsIn = (context: Context, session?: string): Stored[] =>
  readLines(context, session).filter(isFinding);

/** Appends lines, each in one write, because agents may write at the same time. */
export function append(context: Context, lines: readonly (Stored | Event)[]): void {
  const { disk, layout } = context;
  if (disk.dryRun || lines.length === 0 || !isOwn(layout)) return;
  const file = findingsFile(layout, sessionOf(context));
  const size = lstatSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined || size > MAX_STORED) begin(context, file);
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const keys = lines.filter(isFinding).map(({ question }) => keyOf(question, layout.root));
  // An empty line would match every call.
  const told = [...new Set(keys)].filter((key) => key.length > 3 && !key.includes('\n'));
  if (told.length > 0) appendFileSync(knownFile(layout), told.map((key) => `${key}\n`).join(''));
}

/** A symlink from a clone must not redirect the write. */
function isOwn(layout: Context['layout']): boolean {
  const [folder, known] = [findingsFolder(layout), knownFile(layout)];
  const paths = [dirname(folder), folder, known, ...listFolder(folder).map((name) => join(folder, name))];
  return paths.every((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true);
}

/** For a new session file: clears the words for the shell, and removes the oldest sessions' findings. */
function begin({ layout }: Context, file: string): void {
  makeFolder(findingsFolder(layout));
  writeFileSync(file, '');
  writeFileSync(knownFile(layout), '');
  const files = readdirSync(findingsFolder(layout)).filter((name) => name.endsWith('.jsonl'));
  const ages = files.map((name) => ({ name, at: lstatSync(join(findingsFolder(layout), name)).mtimeMs }));
  for (const { name } of ages.sort((a, b) => b.at - a.at).slice(KEPT_SESSIONS))
    removeQuietly(join(findingsFolder(layout), name));
}
