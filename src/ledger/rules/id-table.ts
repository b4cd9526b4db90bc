const NO_NIBBLE = 0xff;
/** By the code of a hex digit. */
const NIBBLE = new Uint8Array(256).fill(NO_NIBBLE);
for (const [value, digit] of [...'0123456789abcdef'].entries()) NIBBLE[digit.charCodeAt(0)] = value;

/**
 * A set of SHA-256 ids with a number and flags each, in flat buffers: a Map of hex strings takes three times the
 * memory and most of the time of a verification.
 */
export class IdTable {
  private ids: Int32Array;
  private numbers: Float64Array;
  private flags: Uint8Array;
  private slots: Int32Array;
  private count = 0;
  private readonly scratch = Buffer.alloc(32);
  private readonly words = new Int32Array(this.scratch.buffer, this.scratch.byteOffset, 8);

  constructor(capacity = 1024) {
    this.ids = new Int32Array(capacity * 8);
    this.numbers = new Float64Array(capacity);
    this.flags = new Uint8Array(capacity);
    this.slots = new Int32Array(capacity * 2).fill(-1);
  }

  get size(): number {
    return this.count;
  }

  /** The index of an id given as 64 hex digits; -1 when it is not in the set. */
  find(hex: string): number {
    this.scratch.write(hex, 0, 32, 'hex');
    return this.slots[this.slotOf(this.words, 0)] ?? -1;
  }

  /** As `find`, for the 32 bytes of an id as characters. */
  findDigest(digest: string): number {
    for (let i = 0; i < 32; i++) this.scratch[i] = digest.charCodeAt(i);
    return this.slots[this.slotOf(this.words, 0)] ?? -1;
  }

  /** The index of an id, added when it is new. */
  add(hex: string): number {
    this.scratch.write(hex, 0, 32, 'hex');
    return this.addWords();
  }

  /** As `add`, for the 64 small hex digits that stand in `bytes` at `from`; -1 when they are none. */
  addFrom(bytes: Uint8Array, from: number): number {
    const { scratch } = this;
    let all = 0;
    for (let i = 0; i < 32; i++) {
      const high = NIBBLE[bytes[from + i * 2] as number] ?? NO_NIBBLE;
      const low = NIBBLE[bytes[from + i * 2 + 1] as number] ?? NO_NIBBLE;
      all |= high | low;
      scratch[i] = (high << 4) | low;
    }
    return all > 0xf ? -1 : this.addWords();
  }

  private addWords(): number {
    const slot = this.slotOf(this.words, 0);
    const found = this.slots[slot] ?? -1;
    if (found >= 0) return found;
    if (this.count * 8 === this.ids.length) {
      this.grow();
      return this.addWords();
    }
    const index = this.count++;
    for (let i = 0; i < 8; i++) this.ids[index * 8 + i] = this.words[i] as number;
    this.slots[slot] = index;
    return index;
  }

  number(index: number): number {
    return this.numbers[index] ?? 0;
  }

  setNumber(index: number, n: number): void {
    this.numbers[index] = n;
  }

  has(index: number, flag: number): boolean {
    return ((this.flags[index] ?? 0) & flag) !== 0;
  }

  mark(index: number, flag: number): void {
    this.flags[index] = (this.flags[index] ?? 0) | flag;
  }

  /** The id as hex. */
  hex(index: number): string {
    return Buffer.from(this.ids.buffer, index * 32, 32).toString('hex');
  }

  /** Open addressing: the slot that holds the id whose words begin at `from`, or the free one where it belongs. */
  private slotOf(words: Int32Array, from: number): number {
    const mask = this.slots.length - 1;
    for (let slot = (words[from] ?? 0) & mask; ; slot = (slot + 1) & mask) {
      const index = this.slots[slot] as number;
      if (index < 0 || this.equals(index * 8, words, from)) return slot;
    }
  }

  private equals(at: number, words: Int32Array, from: number): boolean {
    const { ids } = this;
    for (let i = 0; i < 8; i++) if (ids[at + i] !== words[from + i]) return false;
    return true;
  }

  private grow(): void {
    const capacity = (this.ids.length / 8) * 2;
    const wider = <T extends Int32Array | Float64Array | Uint8Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.ids = wider(new Int32Array(capacity * 8), this.ids);
    this.numbers = wider(new Float64Array(capacity), this.numbers);
    this.flags = wider(new Uint8Array(capacity), this.flags);
    this.slots = new Int32Array(capacity * 2).fill(-1);
    for (let index = 0; index < this.count; index++) this.slots[this.slotOf(this.ids, index * 8)] = index;
  }
}
