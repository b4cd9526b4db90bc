import { EXAMPLES, OTHER_KINDS } from './rules/values.js';

/** Shannon entropy, in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** How many of the four kinds occur: lower case, upper case, digits, other characters. */
function countKinds(text: string): number {
  return [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length;
}

const kindOf = (code: number): number => {
  if (code >= 48 && code <= 57) return 0;
  if (code >= 97 && code <= 122) return 1;
  return code >= 65 && code <= 90 ? 2 : 3;
};

/**
 * The share of neighboring characters of different kinds: about a half in random base 62, nearly none in words and
 * identifiers. A capital at the start of a word and signs between words do not count.
 */
export function mixtureOf(text: string): number {
  let changes = 0;
  for (let i = 1; i < text.length; i += 1) {
    const before = kindOf(text.charCodeAt(i - 1));
    const here = kindOf(text.charCodeAt(i));
    const isCapitalised = before === 2 && here === 1;
    if (before !== here && before !== 3 && here !== 3 && !isCapitalised) changes += 1;
  }
  return changes / Math.max(1, text.length - 1);
}

/** Longer words first, so that "token" is not read as "to". */
const makeWords = (): RegExp =>
  new RegExp(
    EXAMPLES.split(' ')
      .sort((a, b) => b.length - a.length)
      .join('|'),
    'gi',
  );
let words: RegExp | undefined;

const SEQUENCES = ['0123456789', '1234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', '9876543210'];

/** Seven characters in the order of the alphabet, the digits or the keyboard, or six equal ones. */
export function hasSequence(text: string): boolean {
  if (/(.)\1{5}/.test(text)) return true;
  const lower = text.toLowerCase();
  for (let i = 0; i + 7 <= lower.length; i += 1) {
    const piece = lower.slice(i, i + 7);
    if (SEQUENCES.some((sequence) => sequence.includes(piece))) return true;
  }
  return false;
}

const SAYS_SO = /example|placeholder|redacted|your[_-]|\*{3}|\.{3}|…|changeme|dummy|foobar/i;
/** A name in a program: each capital starts a word. */
const WORDS = /^[a-z]*(?:[A-Z][a-z]{2,}){2,}\d{0,2}$/;
const CROSSED_OUT = /x{4,}/gi;

/**
 * Whether a random generator could have made a token's body, unlike the samples in documentation. `xxxx` also occurs by
 * chance, so a longer body may contain it.
 */
export function looksRandom(body: string): boolean {
  const rest = body.replace(CROSSED_OUT, '');
  if (body.length - rest.length > (rest.length >= 12 ? 4 : 0)) return false;
  if (SAYS_SO.test(body) || hasSequence(body) || WORDS.test(body)) return false;
  const least = body.length >= 32 ? 3 : body.length >= 16 ? 2.5 : 1.9;
  return entropyOf(body) >= Math.min(least, Math.log2(body.length) * 0.7);
}

/** References to a value: `${VAR}`, `<password>`, `%(pw)s`, `{{ token }}`, `$PASSWORD`. */
const REFERENCE =
  /^[$%@&][A-Za-z_][\w.-]*[%;]?$|[$#]\{[^{}]{1,100}\}|\$\([^()]{1,100}\)|\{\{[^{}]{1,100}\}\}|%\(\w{1,60}\)|^[<[{(][^\s<>[\](){}]*[>\]})]|^<|^\*+$|<%|^-+$|^_+$/;

/** Whether a value only represents a password or token: a reference, a name, or words from a lesson. */
export function isPlaceholder(value: string): boolean {
  if (REFERENCE.test(value) || SAYS_SO.test(value) || /x{4}/i.test(value) || hasSequence(value)) return true;
  words ??= makeWords();
  const left = value.replace(words, '').replace(/[^A-Za-z]/g, '');
  return left.length < 3 && /[A-Za-z]{3}/.test(value) && !isMixed(value);
}

/** Mixed letters, digits and signs, as in `s3cr3tP@ss`: a chosen password, whatever it spells. */
const isMixed = (value: string): boolean =>
  (value.match(/[A-Za-z][^A-Za-z]{1,8}(?=[A-Za-z])/g) ?? []).filter((piece) => !/^.[_\-. ]+$/.test(piece))
    .length >= 2;

/** Base64 contains slashes too. */
const isPath = (value: string): boolean =>
  /^(?:@?[\w.-]{1,80}\/){1,12}[\w.-]{1,80}$/.test(value) && mixtureOf(value) < 0.25;

const isOther = (value: string): boolean => isPath(value) || OTHER_KINDS.some((kind) => kind.test(value));

/** Names of public values: a key's id, a digest, a URL. */
const PUBLIC_NAME =
  /hash|digest|checksum|public|token[_-]?(?:type|id|url|endpoint|name|limit|count)|(?:key|auth|credentials?)[_-]?id$/i;
/** Words before a public token or key: a list position, a CSRF check. */
const PUBLIC_BEFORE =
  /(?:public|page|next|continuation|cursor|csrf|xsrf|sync|pub)[ _-]?(?:key[ _-]?|page[ _-]?)?$/i;

const isPublic = ({ index, input, groups }: RegExpExecArray): boolean =>
  PUBLIC_NAME.test(groups?.['name'] ?? '') || PUBLIC_BEFORE.test(input.slice(Math.max(0, index - 20), index));

/** Words before `key` that make it a secret. */
const OWNER =
  /(?:api|access|auth|private|secret|signing|encryption|master|account|storage|shared|session|service|webhook|client|admin|root|license|consumer|crypt|cipher|jwt|hmac|app|deploy|subscription|security|publish|sas)[ _.-]?$/i;

/** Whether the name of an assignment means a secret. A password always does, a key by the word before it. */
export const isOwned = ({ index, input, groups }: RegExpExecArray): boolean =>
  !/^(?:keys?|creds?)(?!\w*ential)/i.test(groups?.['name'] ?? '') ||
  OWNER.test(input.slice(Math.max(0, index - 16), index));

/** Enough kinds of characters for the length. */
function looksChosen(value: string): boolean {
  if (!/[A-Za-z]/.test(value) || entropyOf(value) < 2.5) return false;
  if (value.length >= 20 && /^[0-9a-f]+$/i.test(value)) return entropyOf(value) >= 3;
  return /\d/.test(value) || countKinds(value) >= 3 || (value.length >= 20 && entropyOf(value) >= 3.8);
}

/** Passwords are shorter than generated tokens. */
const leastOf = (match?: RegExpExecArray): number => (/^p/i.test(match?.groups?.['name'] ?? '') ? 6 : 8);

/** Whether a person or a generator could have made up a quoted value. */
export function isSecretValue(value: string, match?: RegExpExecArray): boolean {
  if (match !== undefined && (isPublic(match) || value.length < leastOf(match))) return false;
  return looksChosen(value) && !isOther(value) && !isPlaceholder(value);
}

/** Words in a name have few capitals and never five consonants in a row. Random base 62 does. */
const isRandomName = (value: string): boolean =>
  (value.length >= 12 && mixtureOf(value) >= 0.25) ||
  (value.length >= 10 && mixtureOf(value) >= 0.4) ||
  (value.length >= 16 && /\d.*\d/.test(value) && /[bcdfghjkmpqrstvwxz]{5}/i.test(value)) ||
  (value.length >= 20 &&
    mixtureOf(value) >= 0.15 &&
    value.replace(/[^A-Z]/g, '').length >= value.length * 0.3);

/** A random value that cannot be the key of a record: not a digest, UUID or words. */
export const isRandomKey = (value: string): boolean =>
  value.length >= 20 &&
  /\d/.test(value) &&
  !/^[0-9a-f-]+$/i.test(value) &&
  looksRandom(value) &&
  isRandomName(value);

/** An unquoted value may be a name in a program, so it has to be one that nobody would use as a name. */
export function isSecretWord(found: string, match?: RegExpExecArray): boolean {
  const value = found.replace(/[.!?:]+$/, '');
  if (!isSecretValue(value, match)) return false;
  if (/^[A-Za-z_$][\w$]*$/.test(value)) return isRandomName(value);
  const isExpression = /[=|+*/?][A-Za-z_$.]*[.(=]/.test(value);
  if (isExpression) return false;
  // Password rules ask for a sign inside a word.
  if (/\w[!@#%^~*$]\w/.test(value) && countKinds(value) >= 3) return true;
  return mixtureOf(value) >= (/\d/.test(value) ? 0.1 : 0.25);
}
