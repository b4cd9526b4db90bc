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
