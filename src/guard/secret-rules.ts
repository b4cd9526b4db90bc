import { template } from '../core/templates.js';
import { escapePattern } from '../core/text.js';
import { lazyRule, type Rule, readTable } from './rule.js';
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

/** The table, which describes its columns. */
const SECRETS = template('guard', 'secrets.txt');

/** A name, or the end of one, that means a secret: `DB_PASSWORD`, `clientSecret`, `api-key`. */
const NAME =
  '(?:pass(?:word|wort|wd|phrase|code)?|pwd|secrets?|tokens?|cred(?:ential)?s?|auth|keys?)' +
  // Suffixes: `_value`, `1`, `_prod`.
  '(?:[_-]?(?:value|base|prod|dev|live|test|default|key|id|v?\\d{1,2}))?';
const TYPE = '[A-Za-z_][\\w.<>[\\]|?]{0,30}';

/** The patterns for the words in angle brackets. */
const PARTS: Readonly<Record<string, string>> = {
  '<hex>': '[0-9a-f]',
  '<alnum>': '[A-Za-z0-9]',
  '<url64>': '[\\w-]',
  '<std64>': '[A-Za-z0-9+/]',
  '<uuid>': '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
  '<begin>': '-----BEGIN ',
  // An escaped `\n` and quotes around lines are part of the body.
  '<pem>': '-----(?:[^-]|-(?!----)){40,16384}(?:-----END [A-Z0-9 ]{1,40}-----)?',
  // The quotes and brackets of a name, and its declared type: `password: str`, `token string`, `key[]`.
  '<declared>': `(?:\\\\?["'\`]?(?:\\]|\\[\\])?(?:\\s{0,3}:\\s{0,3}&?(?:'static )?${TYPE})?|[ \\t]{1,4}${TYPE})`,
  // `=`, `:`, `=>`, `:=`, `::=`, `.=`, `?=`, `+=`, `==`, `!=`.
  '<operator>': '(?::{1,3}=|[.?+!|]{0,2}={1,3}|=>|:)',
};

const readBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** `user:password` in base64 (RFC 7617, Docker's settings). */
function isPair(secret: string): boolean {
  const [, password = ''] = /^[^:\p{Cc}]{1,100}:([^\p{Cc}\ufffd]{1,1000})$/u.exec(readBase64(secret)) ?? [];
  return password.length >= 4 && !isPlaceholder(password);
}

const SAMPLE_SUBJECT = /"sub":\s?"1234567890"/;

/** A header with an algorithm, and a payload other than jwt.io's sample. */
function isJwt(token: string): boolean {
  const [head = '', payload = ''] = token
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('utf8'));
  try {
    return 'alg' in JSON.parse(head) && !SAMPLE_SUBJECT.test(payload);
  } catch {
    return false;
  }
}

/** A header inside armor: "Proc-Type: 4,ENCRYPTED". */
const ARMOR_HEADER = /^[A-Z][A-Za-z-]{2,20}: .*$/gm;

/** In prose, words follow a key's header. In a key, a line of base64 does, after any quotes and signs. */
function hasKeyBody(block: string): boolean {
  const body = block
    .replace(/^-{4,5}[^-]{1,60}-{4,5}/, '')
    .replace(/\\[nrt]/g, '\n')
    .replace(ARMOR_HEADER, '');
  const line = /[A-Za-z0-9][A-Za-z0-9+/]{0,200}/.exec(body)?.[0] ?? '';
  return line.length >= 24 && entropyOf(line) >= 3.3 && !/(.)\1{9}/.test(line);
}

/** `<url-credentials>@host`: a mask reads like an element with the next word as its value, but has no end tag. */
function isMask({ 0: text, index, input, groups }: RegExpExecArray): boolean {
  const end = index + (groups?.['name'] ?? '').length;
  const id = /<([a-z0-9-]{1,60})$/.exec(input.slice(Math.max(0, index - 60), end))?.[1];
  const isId = id !== undefined && input[end] === '>' && SECRETS.includes(`\n${id}  `);
  return isId && !input.startsWith(`</${id}>`, index + text.length);
}

/** A key without an owner is often the key of a record. */
const ofOwner =
  (accept: Accept): Accept =>
  (secret, match) =>
    !isMask(match) && accept(secret, match) && (isOwned(match) || isRandomKey(secret));

/** The checks that a line of the table can name. They take the secret, or the body after a token's prefix. */
const CHECKS: Readonly<Record<string, Accept>> = {
  '-': (text) => looksRandom(text),
  any: () => true,
  'after-dash': (body) => looksRandom(body.slice(body.lastIndexOf('-') + 1)),
  'after-colon': (text) => looksRandom(text.slice(text.indexOf(':') + 1)),
  /** A digest has the same length but no capitals. */
  mixed: (text) => mixtureOf(text) >= 0.15 && /[A-Z]/.test(text) && looksRandom(text),
  /** No word of that length looks like this. */
  name: (text) => mixtureOf(text) >= 0.15 && looksRandom(text),
  /** A bot token starts with the account's number in base64. */
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
  /** The value of a header, not a variable name. */
  value: (text) => /\d/.test(text) && isSecretValue(text) && looksRandom(text),
  secret: ofOwner(isSecretValue),
  word: ofOwner(isSecretWord),
  /** The value of a command-line option. `js-tokens "^4.0.0"` in a lock file is not one. */
  option: ofOwner((secret, match) => !/^[0-9a-f]{40}$/.test(secret) && isSecretWord(secret, match)),
  foreign: (secret) => isSecretWord(secret),
};

const CREDENTIAL =
  /key|token|secret|pass|auth|api|bearer|cred|(?:\b|_)pat(?:\b|_)|license|pw|login|webhook|dsn/i;
const DIGEST = /sha-?\d|sha\b|commit|hash|digest|md5|checksum|integrity|etag|revision|\bid\b/i;

/** Whether the value belongs to the name: a word for a credential is between them, or almost nothing. */
function isAssigned(match: RegExpExecArray): boolean {
  const { secret = '', gap = '' } = match.groups ?? {};
  if (DIGEST.test(gap)) return false;
  // 40 hex digits are a commit id unless they are assigned to the name.
  if (/^[0-9a-f]{40}$/.test(secret) && !/[:=>-]\s{0,4}["'`]?$|\b(?:is|bearer|token)\s{1,4}["'`]?$/i.test(gap))
    return false;
  const before = match[0].slice(0, match[0].lastIndexOf(secret));
  return CREDENTIAL.test(before) || /^["'`)\]]{0,2}\s{0,4}(?:[:=]|=>|is|)\s{0,4}["'`]?$/.test(gap);
}

/** The longest token before and after a marker, in characters. */
const MARK_REACH = [100, 200] as const;

/** How the rules of one kind are made from a line of the table (templates/guard/secrets.txt). */
interface Kind {
  /** Kinds with a lower rank name a hit first. Those of the same rank keep the order of the table. */
  rank: number;
  flags: string;
  pattern: (body: string, keywords: readonly string[]) => string;
  /** By default the check of the line. */
  accept?: (check: Accept) => Accept;
  more?: Partial<Rule>;
}

const alone = (body: string): string => `(?<![A-Za-z0-9])${body}(?![A-Za-z0-9])`;
const asItIs = (body: string): string => body;

/** The pattern for letters of either case. With flag `i`, each `[^…]` is slow to compile, and most texts need these rules. */
const anyCase = (pattern: string): string =>
  pattern.replace(LETTERS, (part, isNot: string | undefined, set: string | undefined) => {
    if (set !== undefined) return `[${isNot}${otherCase(set)}${set}]`;
    return part.length === 1 ? `[${part}${otherCase(part)}]` : part;
  });

/** Escapes and group names, which stay, sets, and letters. */
const LETTERS = /\\k<\w+>|\\.|\(\?<\w+>|\[(\^?)((?:\\.|[^\]\\])*)\]|[a-z]/gi;

/** The letters and ranges of a set, in the other case. */
const otherCase = (set: string): string =>
  (set.replace(/\\./g, '').match(/[a-z]-[a-z]|[a-z]/gi) ?? [])
    .map((part) => (part === part.toLowerCase() ? part.toUpperCase() : part.toLowerCase()))
    .join('');

const anyOf = (keywords: readonly string[]): string => `(?:${keywords.map(escapePattern).join('|')})`;

const KINDS: Readonly<Record<string, Kind>> = {
  token: {
    ...{ rank: 0, flags: 'y', pattern: (body, keywords) => alone(`${anyOf(keywords)}(?<body>${body})`) },
    accept: (check) => (_secret, match) => check(match.groups?.['body'] ?? '', match),
  },
  whole: { rank: 0, flags: 'y', pattern: alone },
  marked: { rank: 0, flags: 'g', pattern: alone, more: { reach: MARK_REACH } },
  form: { rank: 0, flags: 'y', pattern: asItIs },
  near: {
    ...{ rank: 1, flags: 'y', more: { isLoose: true } },
    pattern: (body, keywords) =>
      anyCase(
        `${anyOf(keywords)}(?<gap>[\\s\\S]{0,48}?)(?<![\\w.+/-])(?<secret>${body})(?![\\w+/-]|=[\\w=])`,
      ),
    accept: (check) => (secret, match) => isAssigned(match) && check(secret, match),
  },
  last: { rank: 2, flags: 'y', pattern: asItIs },
  place: { rank: 3, flags: 'y', pattern: anyCase, more: { isLoose: true } },
  command: { rank: 3, flags: 'y', pattern: asItIs, more: { isLoose: true } },
  assigned: {
    ...{ rank: 4, flags: 'y', pattern: (body) => anyCase(`(?<name>${NAME})${body}`) },
    more: { isLoose: true },
  },
  // A separate rule: non-ASCII letters need flag `i`, which makes a pattern slow to compile.
  named: { rank: 4, flags: 'iy', pattern: asItIs, more: { isLoose: true } },
};

function readRule(
  source: string,
  [id = '', name = '', word = '', anchors = '', text = '', what = '']: string[],
): Rule & { rank: number } {
  const check = CHECKS[word];
  const kind = KINDS[name];
  if (!check || !kind || what === '') throw new Error(`The guard cannot read its rule ${id}.`);
  const { rank, flags, pattern, more } = kind;
  const accept = kind.accept?.(check) ?? check;
  const form = /^\/(.+)\/$/.exec(anchors)?.[1];
  const literals = form === undefined ? anchors.split(',') : [];
  const keywords = [...new Set(literals.map((literal) => literal.toLowerCase()))];
  const anchor = form === undefined ? {} : { anchor: new RegExp(form, 'g') };
  const make = (): RegExp => {
    const body = text
      .replace('<keywords>', literals.join('|'))
      .replace(/<[a-z0-9]+>(?!\w*['=])/g, (part) => PARTS[part] ?? part);
    return new RegExp(pattern(body, literals), flags);
  };
  const rule = lazyRule({ id, class: 'secret', what, source, keywords, accept, ...anchor, ...more }, make);
  return Object.assign(rule, { rank });
}

/** Sorted so that the most specific rule names a hit: by form, by the vendor's name near it, by place, by any name. */
export const secretRules = (): readonly Rule[] =>
  readTable(SECRETS, readRule).sort((a, b) => a.rank - b.rank);
