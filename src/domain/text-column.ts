const ASCII = /^[\x20-\x7e]*$/;

/**
 * Texts of one length in one buffer: as strings, each would be an object that the garbage collector moves about. What has
 * another length or is not ASCII is kept as it is.
 */
export class TextColumn {
  length = 0;
  private bytes: Buffer;
  private readonly others = new Map<number, string>();

  constructor(private readonly width: number) {
    this.bytes = Buffer.alloc(1024 * width);
  }

  push(text: string): void {
    // A line may have anything there, whatever its type says.
    if (typeof text === 'string' && text.length === this.width && ASCII.test(text)) this.pushPlain(text);
    else this.others.set(this.length++, text);
  }

  /** For a text that surely has the length, and is ASCII. */
  pushPlain(text: string): void {
    const start = this.startNext();
    this.bytes.write(text, start, this.width);
  }

  /** For ASCII that stands in other bytes. */
  pushFrom(bytes: Uint8Array, from: number): void {
    const start = this.startNext();
    const { bytes: own, width } = this;
    for (let i = 0; i < width; i++) own[start + i] = bytes[from + i] as number;
  }

  /** Whether the last one, if it is like the others, stands in these bytes. */
  endsWith(bytes: Uint8Array, from: number): boolean {
    const { bytes: own, width } = this;
    const start = (this.length - 1) * width;
    if (start < 0 || this.others.has(this.length - 1)) return false;
    for (let i = 0; i < width; i++) if (own[start + i] !== bytes[from + i]) return false;
    return true;
  }

  /** Empty where there is no such row. */
  get(row: number): string {
    if (row < 0 || row >= this.length) return '';
    const start = row * this.width;
    return this.others.get(row) ?? this.bytes.toString('latin1', start, start + this.width);
  }

  private startNext(): number {
    const start = this.length++ * this.width;
    if (start + this.width > this.bytes.length)
      this.bytes = Buffer.concat([this.bytes], Math.max(this.bytes.length * 2, start + this.width));
    return start;
  }
}
