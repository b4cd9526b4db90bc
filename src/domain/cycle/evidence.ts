import { createHash } from 'node:crypto';
import { oneLine } from '../text.js';
import type { Evidence, EvidenceLeftOut } from './cycle.js';

/** A record has 1 MB at most, and other things in it. */
const MAX_RUNS = 500;
const MAX_RUNS_BYTES = 256 * 1024;
const MAX_TEXTS = 500;
const MAX_TEXTS_BYTES = 128 * 1024;

/** The runs of a cycle as its record has them. */
export interface BoundEvidence {
  evidence: Evidence[];
  evidence_left_out?: EvidenceLeftOut;
}

/** How many fit. */
class Room {
  constructor(
    private count: number,
    private bytes: number,
  ) {}

  takes(value: unknown): boolean {
    const size = Buffer.byteLength(JSON.stringify(value));
    if (this.count === 0 || size > this.bytes) return false;
    this.count--;
    this.bytes -= size;
    return true;
  }
}

/**
 * What a record can hold of all runs: failures before the others, and of what is left out the number and the SHA-256
 * of its JSON lines, in the order of the runs.
 */
export function boundEvidence(runs: readonly Evidence[]): BoundEvidence {
  const room = new Room(MAX_RUNS, MAX_RUNS_BYTES);
  const failed = runs.filter(({ exit_code }) => exit_code !== 0);
  const ordered = [...failed, ...runs.filter(({ exit_code }) => exit_code === 0)];
  const kept = new Set(ordered.filter((run) => room.takes(run)));
  const left = runs.filter((run) => !kept.has(run));
  if (left.length === 0) return { evidence: [...runs] };
  const sha256 = createHash('sha256')
    .update(left.map((run) => `${JSON.stringify(run)}\n`).join(''))
    .digest('hex');
  const left_failed = left.filter(({ exit_code }) => exit_code !== 0).length;
  return { evidence: [...kept], evidence_left_out: { runs: left.length, failed: left_failed, sha256 } };
}

/** Each on a line, and as many as a record can hold; the last says how many more there are. */
export function boundTexts(texts: readonly string[]): string[] {
  const room = new Room(MAX_TEXTS, MAX_TEXTS_BYTES);
  const lines = texts.map((text) => oneLine(text, 500));
  const end = lines.findIndex((line) => !room.takes(line));
  return end < 0 ? lines : [...lines.slice(0, end), `and ${lines.length - end} more`];
}
