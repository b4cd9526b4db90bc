import { luhn } from './checksum.js';
import { lazyRule, TWELVE_DIGITS } from './lazy-rule.js';
import type { Rule } from './rule.js';
import { BEGIN, bare, END, inTable, mentions } from './surroundings.js';

interface Issuer {
  name: string;
  prefix: RegExp;
  lengths: readonly number[];
}

const upTo19 = (first: number): number[] => Array.from({ length: 20 - first }, (_, i) => first + i);

/** Issuer ranges (ISO/IEC 7812); where two overlap, either length will do. */
const ISSUERS: readonly Issuer[] = [
  { name: 'Visa', prefix: /^4/, lengths: [13, 16, 19] },
  { name: 'Mastercard', prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { name: 'American Express', prefix: /^3[47]/, lengths: [15] },
  { name: 'Discover', prefix: /^(?:6011|64[4-9]|65)/, lengths: upTo19(16) },
  { name: 'Diners Club', prefix: /^3(?:0[0-5]|095|6|[89])/, lengths: upTo19(14) },
  { name: 'JCB', prefix: /^35(?:2[89]|[3-8])/, lengths: upTo19(16) },
  { name: 'JCB', prefix: /^(?:2131|1800)/, lengths: [15] },
  { name: 'UnionPay', prefix: /^(?:62|81)/, lengths: upTo19(16) },
  { name: 'Maestro', prefix: /^(?:50|5[6-8]|63|67|0604)/, lengths: upTo19(12) },
  { name: 'Mir', prefix: /^220[0-4]/, lengths: upTo19(16) },
  { name: 'RuPay', prefix: /^(?:60|8[12]|508)/, lengths: [16] },
  { name: 'Troy, Verve, Hipercard', prefix: /^(?:9792|50609|606282)/, lengths: upTo19(16) },
];

const aboutCards = mentions([
  'card',
  'credit',
  'debit',
  'pan',
  'cc',
  'visa',
  'maestro',
  'unionpay',
  'discover',
  'diners',
  'jcb',
  'kreditkarte',
  'carte',
  'tarjeta',
  'carta',
]);

// Of their check digits one in ten passes for a card's.
const aboutOthers = mentions([
  'ean',
  'ean 13',
  'gtin',
  'isbn',
  'upc',
  'barcode',
  'arn',
  'aws account',
  'snowflake',
  'timestamp',
]);

// Snowflakes and 64-bit keys have 17 to 19 digits as well. Of these lengths the ones that are in wide use are taken
// bare, the others with a word beside them or in groups.
const COMMON_LONG = /^(?:4\d{18}|62\d{14,17})$/;

/** The name of who issues such a number, without regard to its check digit. */
function cardIssuer(digits: string): string | null {
  const issuer = ISSUERS.find(
    ({ prefix, lengths }) => prefix.test(digits) && lengths.includes(digits.length),
  );
  return issuer?.name ?? null;
}

function isCard(text: string, match: RegExpExecArray): boolean {
  const digits = bare(text);
  if (!cardIssuer(digits) || !luhn(digits) || /^(\d)\1+$/.test(digits)) return false;
  if (digits !== text) return !inTable(match);
  if (aboutOthers(match)) return false;
  return digits.length <= 16 || COMMON_LONG.test(digits) || aboutCards(match);
}

// The first four digits of any issuer: a row number or a year before a card must not be taken for its first group.
const FIRST = String.raw`(?:4\d{3}|5[0-8]\d\d|2(?:131|2\d\d|[3-6]\d\d|7[012]\d)|1800|0604|3[04-9]\d\d|6\d{3}|8[12]\d\d|9792)`;
const JOINT = '[ .\\-\u00a0\u2009\u202f\u2010-\u2013]{1,3}';

const card = (id: string, what: string, groups: string): Rule =>
  lazyRule(
    {
      id,
      class: 'card',
      what,
      source: 'https://www.iso.org/standard/70484.html',
      keywords: [],
      requires: TWELVE_DIGITS,
      accept: isCard,
    },
    () => new RegExp(`${BEGIN}${FIRST}${groups}${END}`, 'g'),
  );

/** One rule for each grouping: the security code after a card of four groups must not make it one of five. */
export const cardRules = (): readonly Rule[] => [
  card('card-number', 'payment card number', String.raw`\d{8,15}`),
  card('card-number-grouped', 'payment card number in groups', `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}`),
  card(
    'card-number-short',
    'payment card number in groups',
    `(${JOINT})\\d{4}\\1\\d{4}(?:\\1\\d{1,3})?(?!\\1\\d{4}(?!\\d))`,
  ),
  card('card-number-amex', 'American Express or Diners card number in groups', `(${JOINT})\\d{6}\\1\\d{4,5}`),
  card('card-number-long', 'payment card number in groups', `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}`),
  card('card-number-two', 'payment card number in two groups', `\\d{2}${JOINT}\\d{13}`),
];
