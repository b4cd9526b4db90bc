import { Cutter, MAX_LINE_BYTES } from './blobs.js';

export interface PatchHandler {
  /** What a commit changed against one of its parents begins; a merge has one for each parent it differs from. */
  onDiff(commit: string, parent: string | undefined): void;
  /** A `Forge-Ledger` trailer of the commit's message; once for each, not for each parent. */
  onAnchor(commit: string, value: string): void;
  /** A whole line that the parent has; its bytes without the LF. */
  onRemoved(path: string, bytes: Buffer): void;
  /** `line` is 1-based, in the new file. */
  onAdded(bytes: Buffer, path: string, line: number): void;
  /** A last line without LF counts too. */
  takesTails?: true;
  /** A line of a commit's message. */
  onMessage?(commit: string, line: string): void;
}

const [SPACE, PLUS, MINUS, AT, BACKSLASH, D, C] = [0x20, 0x2b, 0x2d, 0x40, 0x5c, 0x64, 0x63];

/**
 * Reads `git log -p -U0 --pretty=raw` as it comes. Only this format names the parent that a merge is compared with, and
 * it indents messages: nothing that a commit or a file says can pass for git's own words. How many lines of a hunk are
 * content, its header says.
 */
export class PatchReader {
  // One byte more than a record: the sign.
  private readonly lines = new Cutter((bytes, whole) => this.line(bytes, whole), 0x0a, MAX_LINE_BYTES + 1);
  private readonly message = new TrailerReader();
  private commit = '';
  private parent: string | undefined;
  private inHeader = false;
  private authored: string | undefined;
  private path = '';
  private newPath = '';
  /** Of the next line that is added. */
  private newLine = 1;
  private oldLeft = 0;
  private newLeft = 0;
  /** Whether it ended in LF is only known with the line after it. */
  private waiting: Buffer | null = null;

  constructor(private readonly handler: PatchHandler) {}

  push(chunk: Buffer): void {
    this.lines.push(chunk);
  }

  /** The last line waits for no other any more; a git that died may have had more to say of it. */
  end(whole: boolean): void {
    if (whole) this.flush();
    this.endMessage();
  }

  private line(bytes: Buffer, whole: boolean): void {
    const sign = bytes[0];
    if (sign === BACKSLASH) {
      // "\ No newline at end of file": the line before it was none.
      if (!this.handler.takesTails) this.waiting = null;
      return;
    }
    this.flush();
    if (this.oldLeft <= 0 && this.newLeft <= 0) this.mark(sign, bytes);
    else this.content(sign, bytes, whole);
  }

  private content(sign: number | undefined, bytes: Buffer, whole: boolean): void {
    if (sign !== PLUS) this.oldLeft--;
    if (sign !== MINUS) this.newLeft--;
    if (whole && (sign === PLUS || sign === MINUS)) this.waiting = bytes;
  }

  private flush(): void {
    const line = this.waiting;
    if (line === null) return;
    this.waiting = null;
    if (line[0] === MINUS) this.handler.onRemoved(this.path, line.subarray(1));
    else this.handler.onAdded(line.subarray(1), this.newPath, this.newLine++);
  }

  /** A line that is no content. */
  private mark(sign: number | undefined, bytes: Buffer): void {
    if (this.inHeader) this.header(bytes);
    else if (sign === SPACE) this.said(bytes.toString('utf8', 4));
    else if (sign === C) this.begin(bytes.toString('latin1'));
    else if (sign === D) this.endMessage();
    else if (sign === MINUS) this.path = parsePath(bytes);
    else if (sign === PLUS) this.newPath = parsePath(bytes);
    else if (sign === AT) this.hunk(bytes.toString('latin1', 0, 80));
  }

  private said(line: string): void {
    this.message.push(line);
    this.handler.onMessage?.(this.commit, line);
  }

  private begin(line: string): void {
    this.endMessage();
    const [, commit = '', parent] = /^commit ([0-9a-f]+)(?: \(from ([0-9a-f]+)\))?/.exec(line) ?? [];
    this.message.begin(commit !== this.commit);
    this.commit = commit;
    this.parent = parent;
    this.inHeader = true;
  }

  private header(bytes: Buffer): void {
    if (bytes.length === 0) {
      this.inHeader = false;
      this.handler.onDiff(this.commit, this.parent);
      return;
    }
    const line = bytes.toString('latin1');
    // Git does not say it for a commit with one parent.
    this.parent ??= /^parent ([0-9a-f]+)$/.exec(line)?.[1];
    const [, role, at] = /^(author|committer) .* (\d+ [+-]\d{4})$/.exec(line) ?? [];
    if (role === 'author') this.authored = at;
    // Picked, rebased or amended: its message speaks of another tree.
    else if (role === 'committer' && at !== this.authored) this.message.ignore();
  }

  private endMessage(): void {
    for (const value of this.message.end()) this.handler.onAnchor(this.commit, value);
  }

  private hunk(line: string): void {
    const [, old = '1', at = '1', added = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    this.newLine = Number(at);
    this.oldLeft = Number(old);
    this.newLeft = Number(added);
  }
}

/** The values of the `Forge-Ledger` trailers: lines of a message's last paragraph, which is not its first. */
class TrailerReader {
  private counts = false;
  private paragraph = 0;
  private isBlank = true;
  private values: string[] = [];
  private continues = false;

  /** A merge's message comes once for each parent and counts once. */
  begin(counts: boolean): void {
    this.counts = counts;
    this.paragraph = 0;
    this.isBlank = true;
    this.values = [];
  }

  ignore(): void {
    this.counts = false;
  }

  push(line: string): void {
    const wasBlank = this.isBlank;
    this.isBlank = line.trim() === '';
    if (this.isBlank) return;
    if (wasBlank) {
      this.paragraph++;
      this.values = [];
      this.continues = false;
    }
    const value = /^Forge-Ledger\s*:(.*)$/i.exec(line)?.[1];
    const folded = this.continues && /^\s/.test(line);
    if (folded) this.values.push(`${this.values.pop()} ${line.trim()}`);
    else if (value !== undefined) this.values.push(value.trim());
    this.continues = folded || value !== undefined;
  }

  end(): string[] {
    const values = this.counts && this.paragraph > 1 ? this.values : [];
    this.counts = false;
    return values;
  }
}

const ESCAPES: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** The path in `--- a/…` or `+++ b/…`: git quotes it as C does where it must, and ends it with a tab where it has a space. */
function parsePath(bytes: Buffer): string {
  const line = bytes.toString('utf8').slice('--- '.length).replace(/\t$/, '');
  if (!line.startsWith('"')) return line.slice('a/'.length);
  const text = line.slice('"a/'.length, -1);
  const parts = text.split(/(\\(?:[0-7]{3}|.))/).map((part) => {
    if (!part.startsWith('\\')) return Buffer.from(part);
    const code = part.slice(1);
    return Buffer.from([/^\d/.test(code) ? Number.parseInt(code, 8) : (ESCAPES[code] ?? code.charCodeAt(0))]);
  });
  return Buffer.concat(parts).toString('utf8');
}
