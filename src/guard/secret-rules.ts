import { lazyRule, type Rule } from './rule.js';
import { NAME, PARTS, SECRETS } from './rules/secrets.js';
import {
  entropyOf,
  hasSequence,
  isOwned,
  isPlaceholder,
  isRandomKey,
  isSecretValue,
  isSecretWord,
  looksRandom,
  mixtureOf,
} from './value.js';

type Accept = NonNullable<Rule['accept']>;

const readBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** `user:password` in base64, as RFC 7617 and Docker's settings have it. */
function isPair(secret: string): boolean {
  const [, user, password] =
    /^([^:\p{Cc}]{1,100}):([^\p{Cc}\ufffd]{1,1000})$/u.exec(readBase64(secret)) ?? [];
  return user !== undefined && password !== undefined && !isPlaceholder(password) && password.length >= 4;
}

const SAMPLE_SUBJECT = /"sub":\s?"1234567890"/;

/** A header with an algorithm, and a payload that is not the one of jwt.io. */
function isJwt(token: string): boolean {
  const [head = '', payload = ''] = token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  try {
    const header: unknown = JSON.parse(head);
    return typeof header === 'object' && header !== null && 'alg' in header && !SAMPLE_SUBJECT.test(payload);
  } catch {
    return false;
  }
}

/** What armor may have between its header and its body: "Proc-Type: 4,ENCRYPTED". */
const ARMOR_HEADER = /^[A-Z][A-Za-z-]{2,20}: .*$/gm;

/** A header in prose is followed by words; a key's by a line of base64, whatever quotes and signs stand between. */
function hasKeyBody(block: string): boolean {
  const body = block
    .replace(/^-{4,5}[^-]{1,60}-{4,5}/, '')
    .replace(/\\[nrt]/g, '\n')
    .replace(ARMOR_HEADER, '');
  const line = /[A-Za-z0-9][A-Za-z0-9+/]{0,200}/.exec(body)?.[0] ?? '';
  return line.length >= 24 && entropyOf(line) >= 3.3 && !/(.)\1{9}/.test(line);
}

/** A key to nothing in particular is often the key of a record. */
const ofOwner =
  (accept: Accept): Accept =>
  (secret, match) =>
    accept(secret, match) && (isOwned(match) || isRandomKey(secret));

/** The checks that a line of the table can name. All take the secret, or the body behind the prefix of a token. */
const CHECKS: Readonly<Record<string, Accept>> = {
  '-': (text) => looksRandom(text),
  any: () => true,
  'after-dash': (body) => looksRandom(body.slice(body.lastIndexOf('-') + 1)),
  'after-colon': (text) => looksRandom(text.slice(text.indexOf(':') + 1)),
  /** A digest is as long, but has no capitals. */
  mixed: (text) => mixtureOf(text) >= 0.15 && /[A-Z]/.test(text) && looksRandom(text),
  /** No word of that length is written so. */
  name: (text) => mixtureOf(text) >= 0.15 && looksRandom(text),
  /** A bot token begins with its account's number in base64. */
  discord: (text) =>
    /^\d{15,22}$/.test(Buffer.from(text.split('.')[0] ?? '', 'base64').toString('latin1')) &&
    looksRandom(text),
  pem: hasKeyBody,
  bech32: (text) => !hasSequence(text) && entropyOf(text) >= 3,
  jwt: isJwt,
  own: (text) => !isPlaceholder(text),
  url: (text, match) =>
    !isPlaceholder(text) && text !== match.groups?.['user'] && !/^[{$[]|[}\]]$/.test(text),
  pair: isPair,
  docker: (text) => isPair(text) || (text.length >= 40 && looksRandom(text)),
  /** The value of a header. A program has a variable name there. */
  value: (text) => /\d/.test(text) && isSecretValue(text) && looksRandom(text),
  secret: ofOwner(isSecretValue),
  word: ofOwner(isSecretWord),
  /** A whole word or a whole option, and on one line: `js-tokens "^4.0.0"` in a lock file is neither. */
  option: ofOwner((secret, match) => !/^[0-9a-f]{40}$/.test(secret) && isSecretWord(secret, match)),
  foreign: (secret) => secret.length >= 6 && isSecretWord(secret),
};

const literally = (literal: string): string => literal.replace(/[.$+*?|()[\]{}\\/]/g, '\\$&');

const CREDENTIAL =
  /key|token|secret|pass|auth|api|bearer|cred|(?:\b|_)pat(?:\b|_)|license|pw|login|webhook|dsn/i;
const DIGEST = /sha-?\d|sha\b|commit|hash|digest|md5|checksum|integrity|etag|revision|\bid\b/i;

/** Between the name and the value stands a word for a credential, or next to nothing. */
function isAssigned(match: RegExpExecArray): boolean {
  const { secret = '', gap = '' } = match.groups ?? {};
  if (DIGEST.test(gap)) return false;
  // Forty hex digits are a commit, unless they are assigned to the name.
  if (/^[0-9a-f]{40}$/.test(secret) && !/[:=>-]\s{0,4}["'`]?$|\b(?:is|bearer|token)\s{1,4}["'`]?$/i.test(gap))
    return false;
  const before = match[0].slice(0, match[0].lastIndexOf(secret));
  return CREDENTIAL.test(before) || /^["'`)\]]{0,2}\s{0,4}(?:[:=]|=>|is|)\s{0,4}["'`]?$/.test(gap);
}

/** Characters around a mark: the longest token before it, and the longest behind it. */
const MARK_REACH = [100, 200] as const;

interface Row {
  kind: string;
  accept: Accept;
  keywords: readonly string[];
  body: string;
}

/** How a rule of each kind reads its line, in the order in which kinds give a hit its name. */
const KINDS: Readonly<Record<string, (row: Row) => [pattern: string, flags: string, more?: Partial<Rule>]>> =
  {
    token: ({ accept, keywords, body }) => [
      `(?<![A-Za-z0-9])(?:${keywords.map(literally).join('|')})(?<body>${body})(?![A-Za-z0-9])`,
      'y',
      { accept: (_secret, match) => accept(match.groups?.['body'] ?? '', match) },
    ],
    whole: ({ body }) => [`(?<![A-Za-z0-9])${body}(?![A-Za-z0-9])`, 'y'],
    marked: ({ body }) => [`(?<![A-Za-z0-9])${body}(?![A-Za-z0-9])`, 'g', { reach: MARK_REACH }],
    form: ({ body }) => [body, 'y'],
    near: ({ accept, keywords, body }) => [
      `(?:${keywords.map(literally).join('|')})(?<gap>[\\s\\S]{0,48}?)(?<![\\w.+/-])(?<secret>${body})(?![\\w+/-]|=[\\w=])`,
      'iy',
      { accept: (secret, match) => isAssigned(match) && accept(secret, match), isLoose: true },
    ],
    last: ({ body }) => [body, 'y'],
    place: ({ body }) => [body, 'iy', { isLoose: true }],
    command: ({ body }) => [body, 'y', { isLoose: true }],
    assigned: ({ body }) => [`(?<name>${NAME})${body}`, 'iy', { isLoose: true }],
    // By itself: with flag `i` letters beyond ASCII make every pattern slow to compile.
    named: ({ body }) => [body, 'iy', { isLoose: true }],
  };
/** Kinds of one rank keep the order of the table. */
const RANKS = ['token whole marked form', 'near', 'last', 'place command', 'assigned named'];

function readRule(line: string, source: string): Rule & { rank: number } {
  const [id = '', kind = '', check = '', anchors = '', pattern = '', what = ''] = line.split(/ {2,}/);
  const accept = CHECKS[check];
  const make = KINDS[kind];
  if (!accept || !make || what === '') throw new Error(`The guard cannot read its rule ${id}.`);
  const form = /^\/(.+)\/$/.exec(anchors)?.[1];
  const literals = form === undefined ? anchors.split(',') : [];
  const body = pattern
    .replace('<keywords>', literals.join('|'))
    .replace(/<[a-z0-9]+>(?!\w*['=])/g, (part) => PARTS[part] ?? part);
  const [text, flags, more] = make({ kind, accept, keywords: literals, body });
  const keywords = [...new Set(literals.map((literal) => literal.toLowerCase()))];
  const anchor = form === undefined ? {} : { anchor: new RegExp(form, 'g') };
  const rule = lazyRule(
    { id, class: 'secret', what, source, keywords, accept, ...anchor, ...more },
    () => new RegExp(text, flags),
  );
  return Object.assign(rule, { rank: RANKS.findIndex((kinds) => kinds.split(' ').includes(kind)) });
}

/**
 * Secrets. Where several rules match, the first gives the hit its name: known by its form, by the vendor's name beside
 * it, by its place, by any name.
 */
export function secretRules(): readonly Rule[] {
  let source = '';
  const rules: (Rule & { rank: number })[] = [];
  for (const line of SECRETS.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('https://')) source = line;
    else rules.push(readRule(line, source));
  }
  return rules.sort((a, b) => a.rank - b.rank);
}
