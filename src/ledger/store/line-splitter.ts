import { isAscii } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs';
import { MAX_RECORD_BYTES, type Piece } from '../rules/record.js';

/** A whole line without its LF, from `start` to `end` of a piece that is only good until the call returns. */
export type SpanHandler = (piece: Piece, start: number, end: number) => void;

export interface LineHandler {
  /** A whole line without its LF. The bytes are only good until the call returns. */
  line(bytes: Buffer, line: number, offset: number): void;
  /** Called instead of `line`, where it is given: an object for each line is too dear for a long ledger. */
  span?: SpanHandler;
  /** A line over MAX_RECORD_BYTES; its bytes are not kept. */
  long(line: number, offset: number, digest: { length: number; sha256: string }): void;
  /** What stands after the last LF: torn, or still being written. */
  tail(bytes: Buffer, line: number, offset: number): void;
}

/** The text of more than 100 KB would be an allocation of its own, which is slower. */
const CHUNK = 64 * 1024;

/** Splits what it reads at LF only. */
export class LineSplitter {
  private readonly buffer: Buffer;
  /** Bytes of an unfinished line at the start of the buffer. */
  private held = 0;
  private lineStart = 0;
  private lineNumber = 1;
  /** Length so far of a line that is too long to hold; 0 when none is. */
  private skipped = 0;
  private skippedHash: Hash | null = null;

  constructor(
    private readonly handler: LineHandler,
    private readonly size: number,
  ) {
    this.buffer = Buffer.allocUnsafe(Math.min(size, CHUNK + MAX_RECORD_BYTES));
  }

  run(fd: number): void {
    for (let position = 0; position < this.size; ) {
      const wanted = Math.min(CHUNK, this.size - position);
      const read = fs.readSync(fd, this.buffer, this.held, wanted, position);
      if (read === 0) break;
      position += read;
      this.split(this.held + read);
    }
    if (this.skipped > 0) this.emitLong(this.buffer.subarray(0, this.held));
    else if (this.held > 0)
      this.handler.tail(this.buffer.subarray(0, this.held), this.lineNumber, this.lineStart);
  }

  private split(filled: number): void {
    let start = 0;
    const bytes = this.buffer.subarray(0, filled);
    // The held part has no LF, so the search goes on behind it. Of a part of a line no text is made.
    let end = bytes.indexOf(0x0a, this.held);
    const text = end < 0 ? '' : bytes.toString('latin1');
    const piece = { bytes, text, isAscii: end >= 0 && isAscii(bytes) };
    for (; end >= 0; end = text.indexOf('\n', start)) {
      this.emit(piece, start, end);
      start = end + 1;
    }
    this.held = filled - start;
    if (this.held > MAX_RECORD_BYTES) {
      this.skip(this.buffer.subarray(start, filled));
      this.held = 0;
    } else if (start > 0) this.buffer.copyWithin(0, start, filled);
  }

  private emit(piece: Piece, start: number, end: number): void {
    const length = end - start;
    if (this.skipped > 0 || length > MAX_RECORD_BYTES) this.emitLong(this.buffer.subarray(start, end));
    else {
      if (this.handler.span) this.handler.span(piece, start, end);
      else this.handler.line(this.buffer.subarray(start, end), this.lineNumber, this.lineStart);
      this.lineStart += length + 1;
    }
    this.lineNumber++;
  }

  /** Only its digest is kept. */
  private skip(bytes: Buffer): void {
    this.skippedHash ??= createHash('sha256');
    this.skippedHash.update(bytes);
    this.skipped += bytes.length;
  }

  private emitLong(rest: Buffer): void {
    this.skip(rest);
    const digest = { length: this.skipped, sha256: (this.skippedHash as Hash).digest('hex') };
    this.handler.long(this.lineNumber, this.lineStart, digest);
    this.lineStart += this.skipped + 1;
    this.skipped = 0;
    this.skippedHash = null;
  }
}
