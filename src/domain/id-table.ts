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
    return this.slots[this.slotOf(this.words)] ?? -1;
  }

  /** The index of an id, added when it is new. */
  add(hex: string): number {
    this.scratch.write(hex, 0, 32, 'hex');
    const slot = this.slotOf(this.words);
    const found = this.slots[slot] ?? -1;
    if (found >= 0) return found;
    if (this.count * 8 === this.ids.length) {
      this.grow();
      return this.add(hex);
    }
    const index = this.count++;
    this.ids.set(this.words, index * 8);
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

  /** Open addressing: the slot that holds the id, or the free one where it belongs. */
  private slotOf(words: Int32Array): number {
    const mask = this.slots.length - 1;
    for (let slot = (words[0] ?? 0) & mask; ; slot = (slot + 1) & mask) {
      const index = this.slots[slot] as number;
      if (index < 0 || this.equals(index * 8, words)) return slot;
    }
  }

  private equals(at: number, words: Int32Array): boolean {
    for (let i = 0; i < 8; i++) if (this.ids[at + i] !== words[i]) return false;
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
    for (let index = 0; index < this.count; index++)
      this.slots[this.slotOf(this.ids.subarray(index * 8, index * 8 + 8))] = index;
  }
}
