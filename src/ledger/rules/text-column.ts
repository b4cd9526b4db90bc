const ASCII = /^[\x20-\x7e]*$/;
/** Rows that share a string, as a power of two. */
const SHARED = 10;

/**
 * Texts of one length, a thousand in one string: each by itself would be an object that the garbage collector moves
 * about. What has another length or is not ASCII is kept as it is.
 */
export class TextColumn {
  length = 0;
  private readonly blocks: string[] = [];
  /** The last rows, which are no block yet. */
  private open: string[] = [];
  private readonly others = new Map<number, string>();
  private readonly empty: string;

  constructor(private readonly width: number) {
    this.empty = ' '.repeat(width);
  }

  push(text: string): void {
    // A line may have anything there, whatever its type says.
    const isPlain = typeof text === 'string' && text.length === this.width && ASCII.test(text);
    if (!isPlain) this.others.set(this.length, text);
    this.pushPlain(isPlain ? text : this.empty);
  }

  /** For a text that surely has the length, and is ASCII. */
  pushPlain(text: string): void {
    this.length++;
    if (this.open.push(text) < 1 << SHARED) return;
    this.blocks.push(this.open.join(''));
    this.open = [];
  }

  /** Empty where there is no such row. */
  get(row: number): string {
    if (row < 0 || row >= this.length) return '';
    const other = this.others.size > 0 ? this.others.get(row) : undefined;
    if (other !== undefined) return other;
    const block = this.blocks[row >> SHARED];
    const place = row % (1 << SHARED);
    return block?.slice(place * this.width, (place + 1) * this.width) ?? (this.open[place] as string);
  }
}
