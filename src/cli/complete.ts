import { isAbsolute, resolve } from 'node:path';
import { type LookUp, type Offer, offerAt } from './complete-position.js';
import {
  bashWord,
  isShowable,
  powershellWord,
  SHELLS,
  type Shell,
  splitLine,
  type Typed,
} from './complete-shells.js';
import type { Io } from './io.js';

/** ms. Whoever has pressed a key does not wait longer. */
const DEADLINE = 2000;

/** More are no help to anybody. */
const MOST = 1000;

interface Request {
  shell: Shell;
  typed: Typed;
  /** What readline would replace. */
  replaced: string;
}

/**
 * `forge complete --shell=NAME --current=WORD -- WORDS…`: what a shell's script asks at each TAB, with the words in front
 * of the one at the cursor; bash hands over the line instead. The first line of the answer says what follows (`words`;
 * `open`: without a space behind; `files`, `folders`: the shell's own), each other one is a candidate. Errors are not printed: they would end up in the middle of a command line.
 */
export async function runComplete(io: Io, argv: readonly string[]): Promise<number> {
  io.deadline?.(DEADLINE);
  try {
    const request = readRequest(argv);
    if (!request) return 0;
    const { words, current } = request.typed;
    const offer = await offerAt(words, current, lookUpIn(io));
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
  const replaced = read('current');
  const current = replaced.replace(/^['"]/, '');
  const typed =
    shell === 'bash' ? lineOf(words[0] ?? '') : { words, current, raw: replaced, quote: '' as const };
  return typed && { shell, typed, replaced };
}

/** Without the command's own name. */
function lineOf(line: string): Typed | null {
  const typed = splitLine(line);
  return typed && typed.words.length > 0 ? { ...typed, words: typed.words.slice(1) } : null;
}

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

function linesOf({ candidates }: Offer, { shell, typed, replaced }: Request): string[] {
  const known = [...new Set(candidates.filter(isShowable))];
  // zsh and fish choose by themselves, and not by the beginning alone.
  const isMuch = known.length > MOST || shell === 'bash' || shell === 'powershell';
  const all = (isMuch ? known.filter((value) => value.startsWith(typed.current)) : known).slice(0, MOST);
  if (shell === 'powershell') return all.map(powershellWord);
  return shell === 'bash' ? bashLines(all, typed, replaced) : all;
}

/** Readline replaces only the part after the last `=` or `:`. */
function bashLines(candidates: readonly string[], typed: Typed, replaced: string): string[] {
  if (!typed.raw.endsWith(replaced)) return [];
  const cut = typed.raw.length - replaced.length;
  return candidates.flatMap((value) => bashWord(value, typed)?.slice(cut) ?? []);
}
