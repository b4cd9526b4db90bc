import { Cutter } from './blobs.js';
import { type GitStream, gitError } from './client.js';

/** An entry of git's raw differences: a file before and after. */
interface RawChange {
  oldOid: string;
  newOid: string;
  /** Whether each side is a file, not a link, a submodule or nothing. */
  wasFile: boolean;
  isFile: boolean;
  path: string;
}

export const isLedger = (path: string): boolean => path.endsWith('.jsonl');

/**
 * Pathspecs of the memory folder without what may be large in it and is no ledger. Literal: git takes three times as
 * long to match a glob against thousands of segments.
 */
export const ledgersIn = (folder: string): string[] => [
  `:(top,literal)${folder}`,
  `:(top,exclude,literal)${folder}/artifacts`,
];

/** `:<mode> <mode> <oid> <oid> <status>`, and the path after it. */
function parseRaw(fields: string, path: string): RawChange {
  const [oldMode = '', newMode = '', oldOid = '', newOid = ''] = fields.slice(1).split(' ');
  const isFile = (mode: string): boolean => mode.startsWith('100');
  return { oldOid, newOid, wasFile: isFile(oldMode), isFile: isFile(newMode), path };
}

/** The changes of memory files that a `-z` command printed. */
export function parseRawList(output: string): RawChange[] {
  const words = output.split('\0');
  const changes = words.flatMap((word, i) =>
    i % 2 === 0 && word ? [parseRaw(word, words[i + 1] ?? '')] : [],
  );
  return changes.filter(({ path }) => isLedger(path));
}

interface RawReader {
  input?: string;
  /** The line that stands before changes: a commit's, or that of a pair of trees. */
  onHead(head: string): void;
  onFile(oid: string, path: string): void;
}

/** The files that a `-z` command lists as they came to be, as they come. */
export async function readRaw(stream: GitStream, args: readonly string[], reader: RawReader): Promise<void> {
  let fields: string | null = null;
  const cutter = new Cutter((bytes) => {
    const word = bytes.toString('utf8');
    if (fields !== null) {
      const { newOid, isFile, path } = parseRaw(fields, word);
      if (isFile && isLedger(path)) reader.onFile(newOid, path);
      fields = null;
      return;
    }
    // A head ends in NUL or in LF, before the first change.
    const at = word.startsWith(':') ? 0 : word.indexOf('\n:') + 1 || word.length;
    const head = word.slice(0, at).trim();
    if (head !== '') reader.onHead(head);
    if (at < word.length) fields = word.slice(at);
  }, 0);
  const options = reader.input === undefined ? {} : { input: reader.input };
  const { code, stderr } = await stream(args, (chunk) => cutter.push(chunk), options);
  if (code !== 0) throw gitError(args, stderr);
}
