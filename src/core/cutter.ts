export const LF = 0x0a;

/** Splits a stream at one byte. A piece longer than the limit is truncated, or dropped to free its memory, and marked. */
export class Cutter {
  private held: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly onPiece: (bytes: Buffer, whole: boolean) => void,
    private readonly limit: number,
    private readonly separator = LF,
    private readonly truncates = true,
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

  private emit(last: Buffer): void {
    if (this.length > 0) this.hold(last);
    const bytes = this.length === 0 ? last : Buffer.concat(this.held);
    const length = this.length || last.length;
    this.held = [];
    this.length = 0;
    this.onPiece(bytes, length <= this.limit);
  }

  private hold(bytes: Buffer): void {
    this.length += bytes.length;
    if (this.length <= this.limit || this.held.length === 0) this.held.push(bytes);
    else if (!this.truncates) this.held = [];
  }
}
