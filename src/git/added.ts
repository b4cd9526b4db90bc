import { type GitStream, gitError } from './client.js';
import { type PatchHandler, PatchReader } from './patch.js';

/** Lines that a change adds in one place. */
export interface Added {
  /** From the worktree's top; empty for a commit's message. */
  file: string;
  /** Of the first line, 1-based. */
  line: number;
  text: string;
  /** Null for what is staged. */
  commit: string | null;
}

/** Nothing of the person's own settings, and no program of the repository's, changes what is read. */
const PATCH = [
  ...['-p', '-U0', '--inter-hunk-context=0', '--text', '--no-renames', '--no-ext-diff', '--no-textconv'],
  ...['--no-color', '--no-relative', '--src-prefix=a/', '--dst-prefix=b/', '-O/dev/null'],
];
const LOG = ['--diff-merges=first-parent', '--no-follow', '--no-notes', '--pretty=raw', '--encoding=UTF-8'];

/** What is staged and not in HEAD. */
export const readStaged = (git: GitStream, onAdded: (added: Added) => void): Promise<void> =>
  read(git, ['diff', '--cached', ...PATCH], onAdded);

/**
 * What the commits of a range (`A..B`, or ids, those left out with `^` in front) add, their messages too. Exit 6 with git's
 * words for a range that is none.
 */
export const readRange = (
  git: GitStream,
  range: string | readonly string[],
  onAdded: (added: Added) => void,
): Promise<void> =>
  read(git, ['log', ...LOG, ...PATCH, '--end-of-options', ...[range].flat(), '--'], onAdded);

async function read(git: GitStream, args: readonly string[], onAdded: (added: Added) => void): Promise<void> {
  const handler = new AddedReader(onAdded);
  const reader = new PatchReader(handler);
  const { code, stderr } = await git(args, (chunk) => reader.push(chunk));
  if (code !== 0) throw gitError(args, stderr);
  reader.end(true);
  handler.end();
}

/** Lines that follow each other are one text: a key may take many. */
class AddedReader implements PatchHandler {
  readonly takesTails = true;
  private open: Added | null = null;
  private commit: string | null = null;
  /** Where the open place goes on. */
  private next = 1;

  constructor(private readonly onPlace: (added: Added) => void) {}

  end(): void {
    if (this.open) this.onPlace(this.open);
    this.open = null;
  }

  onDiff(commit: string): void {
    this.end();
    this.commit = commit;
  }

  onMessage(commit: string, line: string): void {
    this.commit = commit;
    this.add('', 1, line);
  }

  onAdded(bytes: Buffer, path: string, line: number): void {
    this.add(path, line, bytes.toString('utf8'));
  }

  onAnchor(): void {}
  onRemoved(): void {}

  private add(file: string, line: number, text: string): void {
    if (this.open?.file === file && (file === '' || line === this.next)) this.open.text += `\n${text}`;
    else {
      this.end();
      this.open = { file, line, text, commit: this.commit };
    }
    this.next = line + 1;
  }
}
