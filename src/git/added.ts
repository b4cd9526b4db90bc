import { Cutter } from '../core/cutter.js';
import { type Git, gitError, toText } from './client.js';
import { commitAt } from './read.js';

/** Lines that a change adds in one place. */
export interface Added {
  /** From the worktree's top; empty for a commit's message. */
  file: string;
  /** Of the first line, 1-based. */
  line: number;
  text: string;
  /** Null for staged changes. */
  commit: string | null;
}

type OnAdded = (added: Added) => void;

const MAX_LINE_BYTES = 1024 * 1024;
/** Git's prefixes of added and removed lines. No other line of its output begins with them. */
const [GAINED, LOST] = ['\u0001', '\u0002'];
/** Keeps the person's settings and the repository's programs from changing the output. */
const PATCH = [
  ...['-p', '-U0', '--inter-hunk-context=0', '--text', '--no-renames', '--no-ext-diff', '--no-textconv'],
  ...['--no-color', '--no-relative', '--src-prefix=a/', '--dst-prefix=b/', '-O/dev/null'],
  ...[`--output-indicator-new=${GAINED}`, `--output-indicator-old=${LOST}`],
];
/** Otherwise git diff may rewrite the index. */
const STILL = ['-c', 'diff.autoRefreshIndex=false'];
/** The message is indented. */
const FORM = '--format=commit %H%n%w(0,4,4)%B';
/** A merge adds what none of its parents has, in git's combined format, which knows no --text. */
const MERGES = ['--diff-merges=dense-combined', '--no-follow', '--no-notes', FORM, '--encoding=UTF-8'];
const AS_TEXT = ['-c', 'diff.default.binary=false'];

/** The staged changes. `tracked`: including those that `git commit -a` would stage. */
export async function readStaged(git: Git, onAdded: OnAdded, tracked = false): Promise<void> {
  // Before the first commit there is no HEAD to compare with, but every git knows the empty tree.
  const emptyTree = async () => (await git(['hash-object', '-t', 'tree', '/dev/null'])).stdout.trim();
  const base = tracked ? ((await commitAt(git, 'HEAD')) ?? (await emptyTree())) : '--cached';
  return read(git, [...STILL, 'diff', base, ...PATCH], onAdded);
}

/** What a range's commits add (`A..B`, or ids, `^` in front of excluded ones), with messages. Exit 6 for an invalid one. */
export const readRange = (git: Git, range: string | readonly string[], onAdded: OnAdded): Promise<void> =>
  read(git, [...AS_TEXT, 'log', ...MERGES, ...PATCH, '--end-of-options', ...[range].flat(), '--'], onAdded);

async function read(git: Git, args: readonly string[], onAdded: OnAdded): Promise<void> {
  const reader = new PatchReader(onAdded);
  const { code, stderr } = await git(args, { timeout: 600_000, onStdout: (chunk) => reader.push(chunk) });
  if (code !== 0) throw gitError(args, stderr);
  reader.end();
}

/**
 * Reads a patch in chunks. Git indents messages and marks each line of a file, in a merge by one of " +-" for each parent,
 * so no commit or file can imitate git's own lines. Consecutive lines become one text, because a key may span several.
 */
class PatchReader {
  // One more byte for the mark.
  private readonly lines = new Cutter((bytes, isWhole) => this.line(bytes, isWhole), MAX_LINE_BYTES + 1);
  private open: Added | null = null;
  private commit: string | null = null;
  private file = '';
  private newLine = 1;
  private height = 0;
  /** Parents of the merge whose hunk this is; else 0. */
  private parents = 0;

  constructor(private readonly onAdded: OnAdded) {}

  push(chunk: Buffer): void {
    this.lines.push(chunk);
  }

  end(): void {
    if (this.open) this.onAdded(this.open);
    this.open = null;
  }

  private line(bytes: Buffer, isWhole: boolean): void {
    const start = bytes.toString('latin1', 0, 80);
    if (this.parents > 0 && /^[ +-]/.test(start)) {
      const marks = start.slice(0, this.parents);
      if (isWhole && /^\++$/.test(marks))
        this.add(this.file, this.newLine, bytes.toString('utf8', this.parents));
      if (!marks.includes('-')) this.newLine++;
      return;
    }
    this.parents = 0;
    if (start.startsWith(GAINED)) {
      if (isWhole) this.add(this.file, this.newLine, bytes.toString('utf8', 1));
      this.newLine++;
    } else if (start.startsWith('    ')) this.add('', 1, bytes.toString('utf8', 4));
    else if (start.startsWith('commit ')) {
      this.end();
      this.commit = start.slice('commit '.length);
    } else if (start.startsWith('+++ ')) this.file = parsePath(bytes);
    else if (start.startsWith('@@')) {
      this.newLine = Number(/ \+(\d+)/.exec(start)?.[1] ?? 1);
      this.parents = start.startsWith('@@@') ? start.search(/[^@]/) - 1 : 0;
    }
  }

  private add(file: string, line: number, text: string): void {
    const { open } = this;
    if (open?.file === file && (file === '' || line === open.line + this.height)) {
      open.text += `\n${text}`;
      this.height++;
      return;
    }
    this.end();
    this.open = { file, line, text, commit: this.commit };
    this.height = 1;
  }
}

/** The path in `+++ b/…`: quoted by git if it has unusual characters, and followed by a tab if it has a space. */
const parsePath = (bytes: Buffer): string =>
  toText(bytes.toString('latin1').replace(/^\+\+\+ "?(?:b\/)?|"?\t?$/g, ''));
