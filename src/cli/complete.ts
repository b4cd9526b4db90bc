import { isAbsolute, resolve } from 'node:path';
import { SHELLS, type Shell } from './command-complete.js';
import { type LookUp, type Offer, offerAt } from './complete-position.js';
import type { Io } from './io.js';

/** ms. Whoever has pressed a key does not wait longer. */
const DEADLINE = 2000;

/** More are no help to anybody. */
const MOST = 1000;

interface Request {
  shell: Shell;
  /** The words before the one at the cursor, without quotes. */
  words: string[];
  /** The one at the cursor, as far as it was typed, without its quote. */
  current: string;
  quote: string;
}

/**
 * `forge complete --shell=NAME --current=WORD -- WORDS…`: what a shell's script asks at each TAB, with the words in front
 * of the one at the cursor. The first line of the answer says what follows (`words`;
 * `open`: without a space behind; `files`, `folders`: the shell's own), each other one is a candidate. Errors are not printed: they would end up in the middle of a command line.
 */
export async function runComplete(io: Io, argv: readonly string[]): Promise<number> {
  io.deadline?.(DEADLINE);
  try {
    const request = readRequest(argv);
    if (!request) return 0;
    const offer = await offerAt(request.words, request.current, lookUpIn(io));
    io.stdout.write([kindOf(offer), ...linesOf(offer, request)].map((line) => `${line}\n`).join(''));
  } catch {
    // Then nothing is completed.
  }
  return 0;
}

function readRequest(argv: readonly string[]): Request | null {
  const end = argv.indexOf('--');
  const given = argv.slice(0, end).map((word) => /^--(\w+)=(.*)$/s.exec(word) ?? []);
  const read = (name: string): string => given.find(([, key]) => key === name)?.[2] ?? '';
  const shell = SHELLS.find((name) => name === read('shell'));
  if (!shell || end < 0) return null;
  const words = argv.slice(end + 1);
  const [, quote = '', current = ''] = /^(['"]?)(.*)$/s.exec(read('current')) ?? [];
  return { shell, words: shell === 'bash' ? words.flatMap(bashWord) : words, current, quote };
}

/** Bash leaves quotes in a word, and makes words of its own of `=` and `:`. */
const bashWord = (word: string): string[] =>
  word === '=' || word === ':' ? [] : [word.replace(/\\(.)|['"]/gs, '$1')];

function lookUpIn(io: Io): LookUp {
  return async (kind, before, dir) => {
    const { liveValues, systemWorld } = await import('../index.js');
    const wanted = dir?.replace(/^~(?=\/|$)/, () => io.env.HOME ?? '~') ?? (io.env.FORGE_DIR || '.');
    const folder = isAbsolute(wanted) ? wanted : resolve(io.cwd(), wanted);
    return liveValues(folder.replace(/[\\/]\.forge$/, ''), kind, before, {
      world: io.world ?? systemWorld(io.env, false),
    });
  };
}

const kindOf = ({ paths, isOpen }: Offer): string => paths ?? (isOpen ? 'open' : 'words');

/**
 * Words that every shell takes for themselves. Others are not offered: what an id or a name holds, which may have come with a
 * clone, must never be run or expanded.
 */
const PLAIN = /^-{0,2}[\p{L}\p{N}][\p{L}\p{M}\p{N}_./:=@%+-]*$/u;

function linesOf({ candidates }: Offer, { shell, current, quote }: Request): string[] {
  const known = [...new Set(candidates.filter((value) => PLAIN.test(value)))];
  // zsh and fish choose by themselves, and not by the beginning alone.
  const isMuch = known.length > MOST || shell === 'bash' || shell === 'powershell';
  const all = (isMuch ? known.filter((value) => value.startsWith(current)) : known).slice(0, MOST);
  return shell === 'bash' ? all.map((value) => quote + value) : all;
}
