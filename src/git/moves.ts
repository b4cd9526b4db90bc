import { recordId } from '../ledger/rules/record.js';

/** A line that a commit's parent has in a file and the commit has not. */
export interface RemovedLine {
  commit: string;
  parent?: string;
  /** From the worktree's top. */
  path: string;
  /** Without the LF. */
  bytes: Buffer;
}

/** How a record begins. Other lines are not looked for elsewhere. */
const BRACE = 0x7b;
/** Bytes held of one diff on either side, and ids of what it adds. Beyond that a moved line counts as removed. */
const HELD_BYTES = 8 * 1024 * 1024;
const HELD_IDS = 100_000;

/**
 * Tells what one diff moves from what it removes. Nearly all commits only add: what they add is held, and is hashed
 * when the first line goes.
 */
export class Moves {
  private additions: Buffer[] = [];
  private readonly addedIds = new Set<string>();
  private removals: { id: string; line: RemovedLine }[] = [];
  private heldBytes = 0;

  constructor(private readonly onLine: (line: RemovedLine) => void) {}

  added(bytes: Buffer): void {
    if (bytes[0] !== BRACE) return;
    if (this.removals.length > 0 || this.heldBytes > HELD_BYTES) {
      this.noteAdded(bytes);
      return;
    }
    // A copy: the chunk that it is a part of is not to be held with it.
    this.additions.push(Buffer.from(bytes));
    this.heldBytes += bytes.length;
  }

  removed(line: RemovedLine): void {
    if (line.bytes[0] !== BRACE) {
      this.onLine(line);
      return;
    }
    this.hashAdditions();
    const id = recordId(line.bytes);
    if (this.addedIds.has(id)) return;
    this.removals.push({ id, line: { ...line, bytes: Buffer.from(line.bytes) } });
    this.heldBytes += line.bytes.length;
    if (this.heldBytes > HELD_BYTES) this.release();
  }

  /** The diff has ended, and none of it is kept. */
  end(): void {
    this.release();
    this.additions = [];
    this.addedIds.clear();
    this.heldBytes = 0;
  }

  private release(): void {
    for (const { id, line } of this.removals) if (!this.addedIds.has(id)) this.onLine(line);
    this.removals = [];
    this.heldBytes = 0;
  }

  private hashAdditions(): void {
    if (this.additions.length === 0) return;
    for (const bytes of this.additions) this.noteAdded(bytes);
    this.additions = [];
    this.heldBytes = 0;
  }

  private noteAdded(bytes: Buffer): void {
    if (this.addedIds.size < HELD_IDS) this.addedIds.add(recordId(bytes));
  }
}
