import { lineAt, oneLine } from '../core/text.js';
import { type Cleanup, cleanMessage, hasComments } from './clean.js';
import { type Circumstances, type Exemption, exemptionOf, isRevert, type Mark, markOf } from './exempt.js';
import { checkReading, readMessage, type Surroundings } from './protocol.js';
import type { CommitRules, Problem, RuleName } from './rules.js';

/** How a message is to be taken; nothing given: a file that git will read, with or without an editor. */
export interface MessageState extends Circumstances, Surroundings {
  /** `core.commentChar` (or `core.commentString`). */
  comment?: string | undefined;
  /** Git's clean-up, where it is known. */
  cleanup?: Cleanup | undefined;
}

export interface CheckedMessage {
  subject: string;
  exempt?: Exemption;
  problems: Problem[];
  /** Whether its text shows that somebody asked for the protocol, or that an agent wrote it. */
  mark: Mark;
  /** Git will refuse it by itself. */
  empty: boolean;
  /** It passes as git stores it without an editor, and would lose its headings with one: see protectHeadings. */
  fragile: boolean;
}

/** A message shows no more than these. */
const MAX_PROBLEMS = 20;

/**
 * GIT-01: what is to be written otherwise. Never throws, and reads each character a fixed number of times. Where git's
 * clean-up is not known the message is judged by each that may come, and the better one counts.
 */
export function checkMessage(
  bytes: Uint8Array,
  rules: CommitRules,
  state: MessageState = {},
): CheckedMessage {
  const text = decode(bytes);
  if (typeof text === 'number') return refused(text);
  const [first, ...others] = cleanupsOf(text, state);
  const one = judge(text, first, rules, state);
  if (others.length === 0) return one;
  const judged = [one, ...others.map((cleanup) => judge(text, cleanup, rules, state))];
  const best = judged.reduce((a, b) => (b.problems.length < a.problems.length ? b : a));
  const worst = Math.max(...judged.map(({ problems }) => problems.length));
  return { ...best, fragile: best.problems.length < worst };
}

function cleanupsOf(text: string, { cleanup, comment, stored }: MessageState): [Cleanup, ...Cleanup[]] {
  if (stored) return ['verbatim'];
  if (cleanup) return [cleanup];
  return hasComments(text, comment) ? ['whitespace', 'strip'] : ['whitespace'];
}

function judge(text: string, cleanup: Cleanup, rules: CommitRules, state: MessageState): CheckedMessage {
  const message = cleanMessage(text, cleanup, state.comment);
  const empty = message.lines.every((line) => line === '');
  const subject = oneLine((message.lines[0] ?? '').slice(0, 500), 200);
  const exempt = empty ? null : exemptionOf(message.lines, state, rules);
  const found = exempt ? [] : checkReading(readMessage(message), rules, state);
  const problems = [...unreadable(text), ...found].slice(0, MAX_PROBLEMS);
  const mark = markOf(message.lines, rules, state.people?.authorEmail);
  return { subject, ...(exempt ? { exempt } : {}), problems, mark, empty, fragile: false };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding it is the point
const NUL = /\u0000/;
/** Direction overrides and isolates: a reader sees another text than the one that is stored. */
const INVISIBLE = /[\u202a-\u202e\u2066-\u2069]/;

/** What git would store as it is, or not at all. */
function unreadable(text: string): Problem[] {
  const problems: Problem[] = [];
  const report = (rule: RuleName, at: number, message: string, every: RegExp): void => {
    const fix = oneLine(lineAround(text, at).replace(new RegExp(every, 'g'), ''), 100);
    problems.push({ rule, line: lineAt(text, at), message, fix });
  };
  if (text.startsWith('\ufeff'))
    report('encoding', 0, 'The message begins with a byte order mark, which git stores.', /\ufeff/);
  const [nul, invisible] = [text.search(NUL), text.search(INVISIBLE)];
  if (nul >= 0) report('nul', nul, 'There is a NUL character, which git refuses.', NUL);
  if (invisible >= 0) {
    const code = text.charCodeAt(invisible).toString(16).toUpperCase();
    report('invisible', invisible, `U+${code} changes the direction of the text that follows.`, INVISIBLE);
  }
  return problems;
}

const lineAround = (text: string, offset: number): string =>
  text.slice(Math.max(text.lastIndexOf('\n', offset) + 1, offset - 200), offset + 200).split('\n')[0] ?? '';

/** The text, or the line of the first byte that is not UTF-8. A byte order mark stays: git keeps it too. */
function decode(bytes: Uint8Array): string | number {
  try {
    return UTF8.decode(bytes);
  } catch {
    const text = new TextDecoder().decode(bytes);
    return lineAt(text, text.indexOf('\ufffd'));
  }
}

/** A decoder costs more than a message. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const refused = (line: number): CheckedMessage => ({
  subject: '',
  mark: null,
  empty: false,
  fragile: false,
  problems: [
    {
      rule: 'encoding',
      line,
      message: 'The message is not valid UTF-8.',
      fix: 'The same text in UTF-8; git config --unset i18n.commitEncoding',
    },
  ],
});

/** What is told from the first line alone. */
const RULES: ReadonlySet<RuleName> = new Set(['subject', 'id', 'description', 'subject-length']);

/**
 * Whether a commit's subject alone shows that the commit does not follow the protocol. Reverts are told by it, though anybody
 * can write one: the rest of the message is not known here.
 */
export function breaksProtocol(
  { subject, parents }: { subject: string; parents: number },
  rules: CommitRules,
): boolean {
  if (isRevert(subject)) return false;
  const { problems } = checkMessage(new TextEncoder().encode(subject), rules, { stored: true, parents });
  return problems.some(({ rule }) => RULES.has(rule));
}
