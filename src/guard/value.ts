import { countKinds, entropyOf, isPlaceholder, looksRandom, mixtureOf } from './random.js';
import { OTHER_KINDS } from './rules/other-values.js';

/** Base64 has slashes too. */
const isPath = (value: string): boolean =>
  /^(?:@?[\w.-]{1,80}\/){1,12}[\w.-]{1,80}$/.test(value) && mixtureOf(value) < 0.25;

const isOther = (value: string): boolean => isPath(value) || OTHER_KINDS.some((kind) => kind.test(value));

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Names of what is public beside a secret: a key's id, a digest, a place. */
const PUBLIC_NAME =
  /hash|digest|checksum|public|token[_-]?(?:type|id|url|endpoint|name|limit|count)|(?:key|auth|credentials?)[_-]?id$/i;
/** Words that mark a public token or key: a list position, a form, a check against forgery. */
const PUBLIC_BEFORE =
  /(?:public|page|next|continuation|cursor|csrf|xsrf|sync|pub)[ _-]?(?:key[ _-]?|page[ _-]?)?$/i;

const isPublic = ({ index, input, groups }: RegExpExecArray): boolean =>
  PUBLIC_NAME.test(groups?.['name'] ?? '') || PUBLIC_BEFORE.test(input.slice(Math.max(0, index - 20), index));

/** What makes a key the key to something. */
const OWNER =
  /(?:api|access|auth|private|secret|signing|encryption|master|account|storage|shared|session|service|webhook|client|admin|root|license|consumer|crypt|cipher|jwt|hmac|app|deploy|subscription|security|publish|sas)[ _.-]?$/i;

/** Whether the name of an assignment says what it opens. A password always does, a key by the word before it. */
export const isOwned = ({ index, input, groups }: RegExpExecArray): boolean =>
  !/^(?:keys?|creds?)(?!\w*ential)/i.test(groups?.['name'] ?? '') ||
  OWNER.test(input.slice(Math.max(0, index - 16), index));

/** Enough kinds of characters, through each other, for the length. */
function looksChosen(value: string): boolean {
  const kinds = countKinds(value);
  const hasLetters = /[A-Za-z]/.test(value);
  if (!hasLetters || entropyOf(value) < 2.5) return false;
  if (value.length >= 20 && /^[0-9a-f]+$/i.test(value)) return entropyOf(value) >= 3;
  if (UUID.test(value)) return true;
  return kinds >= 3 || (kinds === 2 && /\d/.test(value)) || (value.length >= 20 && entropyOf(value) >= 3.8);
}

/** Passwords are shorter than what a generator makes. */
const leastOf = (match?: RegExpExecArray): number => (/^p/i.test(match?.groups?.['name'] ?? '') ? 6 : 8);

/** A quoted value: what a person or a generator would have made up. */
export function isSecretValue(value: string, match?: RegExpExecArray): boolean {
  if (match !== undefined && (isPublic(match) || value.length < leastOf(match))) return false;
  return looksChosen(value) && !isOther(value) && !isPlaceholder(value);
}

/** Words that a name is made of have few capitals; in base 62 nearly a half are. Nor do words have five consonants. */
const isRandomName = (value: string): boolean =>
  (value.length >= 12 && mixtureOf(value) >= 0.25) ||
  (value.length >= 10 && mixtureOf(value) >= 0.4) ||
  (value.length >= 16 && /\d.*\d/.test(value) && /[bcdfghjkmpqrstvwxz]{5}/i.test(value)) ||
  (value.length >= 20 &&
    mixtureOf(value) >= 0.15 &&
    value.replace(/[^A-Z]/g, '').length >= value.length * 0.3);

/** A value that nobody would take for the key of a record: no digest, no UUID, no words. */
export const isRandomKey = (value: string): boolean =>
  value.length >= 20 &&
  /\d/.test(value) &&
  !/^[0-9a-f-]+$/i.test(value) &&
  looksRandom(value) &&
  isRandomName(value);

/** Without quotes a value could be a name in a program: only what no one would call anything passes. */
export function isSecretWord(found: string, match?: RegExpExecArray): boolean {
  const value = found.replace(/[.!?:]+$/, '');
  if (!isSecretValue(value, match)) return false;
  if (/^[A-Za-z_$][\w$]*$/.test(value)) return isRandomName(value);
  const isExpression = /[=|+*/?][A-Za-z_$.]*[.(=]/.test(value);
  if (isExpression) return false;
  // A sign inside of a word is what password rules ask for.
  if (/\w[!@#%^~*$]\w/.test(value) && countKinds(value) >= 3) return true;
  return mixtureOf(value) >= (/\d/.test(value) ? 0.1 : 0.25);
}
