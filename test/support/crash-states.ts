import { dirname } from 'node:path';
import { type Call, WRITE_CALLS } from './faults.js';

/*
 * What may be on the disk after the power has failed, by what POSIX promises: the bytes of a file are there once it was
 * fsynced, names in a folder once the folder was; of what came later any part may be, names in order, bytes by blocks.
 */

/** A file: what is certainly on the disk, and what a reader saw last. */
interface Inode {
  durable: Buffer;
  current: Buffer;
}

/** Names that change together; null: the name goes. */
type Naming = [path: string, inode: Inode | null][];

/** Path by path what stands there; null: nothing. Only what the command touched. */
export type State = Map<string, Buffer | null>;

const decoded = (text: string): string =>
  Buffer.from(text.replace(/\\x|[^0-9a-f]/g, ''), 'hex').toString('utf8');
const pathIn = (text: string): string => (text.includes('\\x') ? decoded(text) : text);

/** Calls as `traceCalls` has them with hexadecimal strings. */
export class CrashDisk {
  private readonly names = new Map<string, Inode | null>();
  /** Of each folder, what was named since it was last fsynced. */
  private readonly namings = new Map<string, Naming[]>();
  private readonly before = new Map<string, Inode | null>();

  /** `read` gives what stood at a path before all this; null: nothing. */
  constructor(private readonly read: (path: string) => Buffer | null) {}

  apply({ name, line }: Call): void {
    const ok = !/= -1 /.test(line);
    if (!ok || !(WRITE_CALLS as readonly string[]).concat('copy_file_range', 'sendfile').includes(name))
      return;
    const strings = [...line.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map((match) => match[1] ?? '');
    const files = [...line.matchAll(/\d+<([^>]*)>/g)].map((match) => pathIn(match[1] ?? ''));
    const [first = '', second = ''] = strings.map(decoded);
    if (name === 'openat') this.open(first, line);
    else if (name.startsWith('rename')) this.rename(first, second);
    else if (name.startsWith('link')) this.name([[second, this.at(first)]]);
    else if (name.startsWith('unlink')) this.name([[first, null]]);
    else if (name.startsWith('mkdir')) return;
    else if (/^f(data)?sync$/.test(name)) this.sync(files[0] ?? '');
    else if (name === 'ftruncate') this.cut(files[0] ?? '', Number(/, (\d+)\)/.exec(line)?.[1]));
    else if (name === 'copy_file_range') this.write(files[1] ?? '', this.at(files[0] ?? '')?.current);
    else if (name === 'sendfile') this.write(files[0] ?? '', this.at(files[1] ?? '')?.current);
    else this.write(files[0] ?? '', Buffer.from((strings[0] ?? '').replaceAll('\\x', ''), 'hex'), line);
  }

  private at(path: string): Inode | null {
    if (!this.names.has(path)) {
      const bytes = this.read(path);
      this.names.set(path, bytes && { durable: bytes, current: bytes });
      this.before.set(path, this.names.get(path) ?? null);
    }
    return this.names.get(path) ?? null;
  }

  private open(path: string, line: string): void {
    const inode = this.at(path);
    if (inode && line.includes('O_TRUNC')) inode.current = Buffer.alloc(0);
    if (!inode) this.name([[path, { durable: Buffer.alloc(0), current: Buffer.alloc(0) }]]);
  }

  private rename(from: string, to: string): void {
    const inode = this.at(from);
    this.name([
      [from, null],
      [to, inode],
    ]);
  }

  private name(naming: Naming): void {
    const folder = dirname(naming[0]?.[0] ?? '');
    for (const [path, inode] of naming) {
      this.at(path);
      this.names.set(path, inode);
    }
    this.namings.set(folder, [...(this.namings.get(folder) ?? []), naming]);
  }

  private sync(path: string): void {
    const inode = this.names.get(path);
    if (inode) inode.durable = inode.current;
    // A folder: all of its names.
    for (const naming of this.namings.get(path) ?? [])
      for (const [named, to] of naming) this.before.set(named, to);
    this.namings.delete(path);
  }

  private cut(path: string, size: number): void {
    const inode = this.at(path);
    if (inode) inode.current = inode.current.subarray(0, size);
  }

  private write(path: string, bytes: Buffer | undefined, line = ''): void {
    const inode = this.at(path);
    const offset = /^pwrite64\(.*, (\d+)\) = /.exec(line)?.[1];
    if (!inode || !bytes) return;
    const start = offset === undefined ? inode.current.length : Number(offset);
    const after = inode.current.subarray(start + bytes.length);
    inode.current = Buffer.concat([inode.current.subarray(0, start), bytes, after]);
  }

  /** What may be found if the power fails now, each state once. */
  states(): State[] {
    const longest = Math.max(0, ...[...this.namings.values()].map(({ length }) => length));
    const kept = [...Array(longest + 1).keys()];
    const states = kept.flatMap((count) => LEFT.map((left) => this.state(count, left)));
    return [...new Map(states.map((state) => [fingerprint(state), state])).values()];
  }

  /** The first `count` namings of each folder, and what is left of the bytes that were not fsynced. */
  private state(count: number, left: Left): State {
    const found = new Map(this.before);
    for (const namings of this.namings.values())
      for (const naming of namings.slice(0, count))
        for (const [path, inode] of naming) found.set(path, inode);
    return new Map([...found].map(([path, inode]) => [path, inode && remains(inode, left)]));
  }
}

type Left = 'old' | 'new' | 'first block' | 'zeros' | 'zeros, then the last block';
const LEFT: readonly Left[] = ['old', 'new', 'first block', 'zeros', 'zeros, then the last block'];
const BLOCK = 512;

function remains({ durable, current }: Inode, left: Left): Buffer {
  if (durable.equals(current) || left === 'new') return current;
  if (left === 'old') return durable;
  // Where the first block ends behind what was there before.
  const end = Math.min((Math.floor(durable.length / BLOCK) + 1) * BLOCK, current.length);
  if (left === 'first block') return current.subarray(0, end);
  const start = current.subarray(0, durable.length).equals(durable) ? durable.length : 0;
  const zeros = Buffer.concat([current.subarray(0, start), Buffer.alloc(current.length - start)]);
  if (left === 'zeros') return zeros;
  current.copy(zeros, end, end);
  return zeros;
}

const fingerprint = (state: State): string =>
  JSON.stringify([...state].map(([path, bytes]) => [path, bytes?.toString('latin1') ?? null]));
