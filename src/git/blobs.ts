import { type GitStream, gitError } from './client.js';

const LF = 0x0a;
/** Longer lines are handed on cut. */
export const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Cuts what comes in chunks into pieces at one byte. A piece that is too long to be a record is not held: only its
 * beginning is handed on, as not whole. What follows the last separator is no piece.
 */
export class Cutter {
  private held: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly onPiece: (bytes: Buffer, whole: boolean) => void,
    private readonly separator = LF,
    private readonly limit = MAX_LINE_BYTES,
  ) {}

  push(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(this.separator);
    for (; end >= 0; end = chunk.indexOf(this.separator, start)) {
      this.emit(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.hold(chunk.subarray(start));
  }

  /** Forgets the piece that has not ended. */
  drop(): void {
    this.held = [];
    this.length = 0;
  }

  private emit(last: Buffer): void {
    if (this.length > 0) this.hold(last);
    const bytes = this.length === 0 ? last : Buffer.concat(this.held);
    const length = this.length || last.length;
    this.drop();
    this.onPiece(bytes, length <= this.limit);
  }

  private hold(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length <= this.limit || this.held.length === 0) this.held.push(bytes);
  }
}

/**
 * Every line of some blobs, in one process. The bytes after a blob's last LF are no line, and no record is longer than
 * MAX_LINE_BYTES. A partial clone may lack blobs that its commits name.
 */
export async function readBlobs(
  stream: GitStream,
  oids: Iterable<string>,
  onLine: (oid: string, bytes: Buffer) => void,
  onMissing: (oid: string) => void = () => {},
): Promise<void> {
  const wanted = [...oids];
  if (wanted.length === 0) return;
  const failed = await readBatch(stream, wanted, onLine, onMissing);
  if (failed === null) return;
  // A git that may not fetch dies of the first blob that a partial clone lacks. So it is asked which ones there are.
  const here = await selectPresent(stream, failed.rest);
  for (const oid of failed.rest) if (!here.has(oid)) onMissing(oid);
  const again =
    here.size === 0 ? null : await readBatch(stream, failed.rest.filter(here.has, here), onLine, onMissing);
  if (again !== null) throw gitError(['cat-file'], again.stderr);
}

const BATCH = ['cat-file', '--batch', '--buffer'];

/** Null when git answered to all; else what it has not answered to. */
async function readBatch(
  stream: GitStream,
  oids: readonly string[],
  onLine: (oid: string, bytes: Buffer) => void,
  onMissing: (oid: string) => void,
): Promise<{ rest: string[]; stderr: string } | null> {
  const reader = new BatchReader(oids, onLine, onMissing);
  const input = `${oids.join('\n')}\n`;
  const { code, stderr } = await stream(BATCH, (chunk) => reader.push(chunk), { input });
  if (code === 0) return null;
  if (!/promisor|lazy fetch/i.test(stderr)) throw gitError(BATCH, stderr);
  return { rest: oids.slice(reader.answered), stderr };
}

async function selectPresent(stream: GitStream, oids: readonly string[]): Promise<Set<string>> {
  const wanted = new Set(oids);
  const here = new Set<string>();
  const cutter = new Cutter((bytes) => {
    const oid = bytes.toString('latin1');
    if (wanted.has(oid)) here.add(oid);
  });
  const args = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', '--batch-check=%(objectname)'];
  const { code, stderr } = await stream(args, (chunk) => cutter.push(chunk));
  if (code !== 0) throw gitError(args, stderr);
  return here;
}

/** `<oid> blob <size>`, LF, the bytes, LF; or `<oid> missing`, LF. Answers come in the order of the questions. */
class BatchReader {
  /** Blobs whose answer has come whole. */
  answered = 0;
  private head = '';
  /** Bytes of the blob still to come; -1 between blobs. */
  private left = -1;
  private isBlob = false;
  private readonly lines: Cutter;

  constructor(
    private readonly oids: readonly string[],
    onLine: (oid: string, bytes: Buffer) => void,
    private readonly onMissing: (oid: string) => void,
  ) {
    this.lines = new Cutter((bytes, whole) => {
      if (whole && this.isBlob) onLine(this.oids[this.answered] ?? '', bytes);
    });
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; )
      at = this.left < 0 ? this.readHead(chunk, at) : this.body(chunk, at);
  }

  private readHead(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(LF, at);
    this.head += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    const [, type, size] = /^\S+ (\w+) (\d+)$/.exec(this.head) ?? [];
    this.head = '';
    this.isBlob = type === 'blob';
    if (!this.isBlob) this.onMissing(this.oids[this.answered] ?? '');
    if (size !== undefined) this.left = Number(size);
    else this.answered++;
    return end + 1;
  }

  private body(chunk: Buffer, at: number): number {
    const taken = Math.min(this.left, chunk.length - at);
    if (taken > 0) this.lines.push(chunk.subarray(at, at + taken));
    this.left -= taken;
    // One byte more: the LF that git adds.
    if (this.left > 0 || at + taken === chunk.length) return at + taken;
    this.lines.drop();
    this.left = -1;
    this.answered++;
    return at + taken + 1;
  }
}
