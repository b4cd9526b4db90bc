import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { withoutOwn } from '../commit/recent.js';
import { readHint, writeHint } from '../core/files.js';
import { recordedFile, shownFrom } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import { madeSince, readLog } from '../git/read.js';
import { readTreeStatus } from '../git/status.js';
import { cleanForeign, installGuard, maskText } from '../guard/guard.js';
import { type Context, isBuilding, readConfig } from '../project/project.js';
import { addEntry, isPipeline, isWork } from './rules.js';
import { holdsSession, readRunning } from './running.js';
import { editProgress } from './store.js';

/** A command that an agent ran in a shell. Null: its exit code is not known. */
export interface RanCommand {
  command: string;
  exit: number | null;
}

/** The working tree when a turn was last recorded. */
interface Recorded {
  session: string;
  head: string | null;
  /** By path, the state of each uncommitted file. */
  files: Record<string, string>;
}

export interface Tree extends Omit<Recorded, 'session'> {
  /** All uncommitted files. */
  count: number;
}

/** A hint holds this many file states. With more changes no file is recorded. */
const MAX_FILES = 300;
const SHOWN_FILES = 6;
const SHOWN_COMMITS = 5;
const SHOWN_COMMANDS = 5;

/** Records the working tree at the start of a session: earlier changes are not its work. */
export const noteTree = ({ disk, layout }: Context, session: string, { head, files }: Tree): void => {
  if (!disk.dryRun) writeHint(recordedFile(layout), { session, head, files });
};

/** One `git status`. Null without git. */
export async function readTree({ git, repository, layout }: Context): Promise<Tree | null> {
  if (!git || !repository) return null;
  const folder = shownFrom(repository.root, layout.dir);
  const { head, files: changed } = await readTreeStatus(git, folder);
  const paths = changed.map(({ path }) => path);
  const noted = paths.length > MAX_FILES ? [] : paths;
  const files = Object.fromEntries(noted.map((path) => [path, stateOf(join(repository.root, path))]));
  return { head, files, count: paths.length };
}

function stateOf(path: string): string {
  const { mtimeMs, size } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
  return mtimeMs === undefined ? 'deleted' : `${mtimeMs} ${size}`;
}

/**
 * SES-12: at the end of an agent's turn, adds changed files, commits and commands to progress.
 * Does nothing if `[session] record` is off, or if the session is not this conversation's.
 */
export async function recordTurn(
  context: Context,
  id: string,
  commands: readonly RanCommand[],
): Promise<{ recorded: string[] }> {
  const running = readRunning(context);
  if (!running || !holdsSession(running, id) || isBuilding(context)) return { recorded: [] };
  if (readConfig(context).session.record === 'off') return { recorded: [] };
  const known = readHint<Recorded>(recordedFile(context.layout));
  const before = known?.session === running.id ? known : null;
  const tree = await readTree(context);
  const lines = [
    ...(tree && before ? changedLine(before, tree) : []),
    ...(tree && before?.head && tree.head ? await commitLines(context, before.head, tree.head) : []),
    ...(await commandLine(commands)),
  ];
  const recorded = lines.length === 0 ? [] : await addLines(context, lines);
  if (tree) noteTree(context, running.id, tree);
  return { recorded };
}

/** The guard is loaded only here: most turns end without a new line. */
async function addLines(context: Context, lines: readonly string[]): Promise<string[]> {
  const { knowAllowed } = await import('../guard/allow.js');
  knowAllowed(context);
  await installGuard(context);
  const added = (await cleanForeign(context, lines)).map((line) => oneLine(line, 600));
  editProgress(context, (file) =>
    added.reduce((text, line) => addEntry(text, context.world.now(), line), file),
  );
  return added;
}

function changedLine(before: Recorded, { files }: Tree): string[] {
  const changed = Object.keys(files).filter((path) => before.files[path] !== files[path]);
  return listed('Changed', changed.slice(0, SHOWN_FILES), changed.length);
}

async function commitLines(context: Context, from: string, to: string): Promise<string[]> {
  if (from === to || !context.git) return [];
  const made = await madeSince(context.git, from);
  const log = await readLog(context.git, 100, `${from}..${to}`);
  const commits = withoutOwn(log.filter(({ hash }) => made.has(hash)));
  const shown = commits.slice(0, SHOWN_COMMITS).reverse();
  return shown.map(({ short, subject }) => `Committed ${short}: ${subject}`);
}

/** The last commands that matter for the work, in the order of their last runs, with their exit codes. */
async function commandLine(commands: readonly RanCommand[]): Promise<string[]> {
  const all = commands.filter(({ command }) => isWork(command));
  const last = all.filter((one, i) => all.findLastIndex(({ command }) => command === one.command) === i);
  const shown = last.slice(-SHOWN_COMMANDS).map(async ({ command, exit }) => {
    // Masked before it is truncated, because half a secret is not recognized.
    const words = oneLine(await maskText(command), 100);
    return exit === null || isPipeline(command) ? words : `${words} (exit ${exit})`;
  });
  return listed('Ran', await Promise.all(shown), last.length, '; ');
}

function listed(word: string, shown: readonly string[], count: number, between = ', '): string[] {
  if (count === 0) return [];
  const left = count - shown.length;
  return [`${word}: ${shown.join(between)}${left > 0 ? ` and ${left} more` : ''}`];
}
