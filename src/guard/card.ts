import { luhn, mod97 } from './checksum.js';
import { lazyRule, type Rule } from './rule.js';
import { CARD_WORDS, COUNTRIES, ISSUERS } from './rules/numbers.js';
import { BEGIN, bare, END, inTable, keywordsOf, LONG_NUMBER, mentions } from './surroundings.js';

const isNamed = mentions(CARD_WORDS);

/** Whether the digits are a card's. In groups they need no word; bare they do: one number in ten passes the check digit. */
function isCard(text: string, match: RegExpExecArray): boolean {
  const digits = bare(text);
  const issuer = ISSUERS.find(
    ({ prefix, lengths }) => prefix.test(digits) && lengths.includes(digits.length),
  );
  // Six times the same digit is a test card.
  if (!issuer || !luhn(digits) || /(\d)\1{5}/.test(digits)) return false;
  return /^\d{4,6}\D/.test(text) ? !inTable(match) : isNamed(match);
}

// The first four digits of any issuer: a row number or a year before a card must not be taken for its first group.
const FIRST = String.raw`(?:4\d{3}|5[0-8]\d\d|2(?:131|2\d\d|[3-6]\d\d|7[012]\d)|1800|0604|3[04-9]\d\d|6\d{3}|8[12]\d\d|9792)`;
const JOINT = '[ .\\-\u00a0\u2009\u202f\u2010-\u2013]{1,3}';

const card = (id: string, what: string, groups: string, where: Partial<Rule>): Rule =>
  lazyRule(
    {
      id,
      class: 'card',
      what,
      source: 'https://www.iso.org/standard/70484.html',
      keywords: [],
      ...where,
      accept: isCard,
    },
    () => new RegExp(`${BEGIN}${FIRST}${groups}${END}`, 'g'),
  );

const NEAR_WORD: Partial<Rule> = { keywords: keywordsOf(CARD_WORDS), reach: [50, 140] };
const GROUPED: Partial<Rule> = { anchor: LONG_NUMBER, reach: [4, 80] };

/** One rule for each grouping: the security code after a card of four groups must not make it one of five. */
export const cardRules = (): readonly Rule[] => [
  card('card-number', 'payment card number', String.raw`\d{8,15}`, NEAR_WORD),
  card('card-number-grouped', 'payment card number in groups', `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}`, GROUPED),
  card(
    'card-number-short',
    'payment card number in groups',
    `(${JOINT})\\d{4}\\1\\d{4}(?:\\1\\d{1,3})?(?!\\1\\d{4}(?!\\d))`,
    GROUPED,
  ),
  card(
    'card-number-amex',
    'American Express or Diners card number in groups',
    `(${JOINT})\\d{6}\\1\\d{4,5}`,
    GROUPED,
  ),
  card(
    'card-number-long',
    'payment card number in groups',
    `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}`,
    GROUPED,
  ),
  card('card-number-two', 'payment card number in two groups', `\\d{2}${JOINT}\\d{13}`, NEAR_WORD),
];

/** All countries with the length their IBAN has. */
export const ibanLengths = (): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(COUNTRIES).flatMap(([length, codes]) =>
      codes.split(' ').map((code) => [code, Number(length)] as const),
    ),
  );

const IBAN_JOINT = '[ \\-\u00a0\u202f]?';

// Exact groups by country, so that a word in capitals or a number after an IBAN is not drawn into it.
function shape(length: number, codes: string): string {
  const groups = `(?:${IBAN_JOINT}[A-Z0-9]{4}){${Math.floor((length - 4) / 4)}}`;
  const rest = length % 4 === 0 ? '' : `${IBAN_JOINT}[A-Z0-9]{${length % 4}}`;
  return `(?:${codes.replaceAll(' ', '|')})\\d\\d${groups}${rest}`;
}

const anyCountry = (): string =>
  Object.entries(COUNTRIES)
    .map(([length, codes]) => shape(Number(length), codes))
    .join('|');

const calledIban = mentions(['iban', 'account', 'konto', 'compte', 'cuenta', 'conto', 'rekening']);

function isIban(text: string, match: RegExpExecArray): boolean {
  const iban = bare(text);
  // In small letters without a space it may be a hash or a part of a uuid that begins like a country.
  if (/^[a-z0-9-]+$/.test(text) && !calledIban(match)) return false;
  // Check digits are 02 to 98; where 00, 01 or 99 fit as well, nobody computed them.
  if (/^..(?:0[01]|99)/.test(iban)) return false;
  return mod97(iban.slice(4) + iban.slice(0, 4)) === 1;
}

export const ibanRules = (): readonly Rule[] => [
  lazyRule(
    {
      id: 'iban',
      class: 'iban',
      what: 'international bank account number',
      source: 'https://www.swift.com/standards/data-standards/iban-international-bank-account-number',
      keywords: [],
      // The shortest has 15 characters. Without flag `i`, which makes it ten times slower.
      anchor: /(?<!(?<!\\)[0-9A-Za-z])[A-Za-z]{2}\d\d(?:[ \-\u00a0\u202f]?[A-Za-z0-9]){11}/g,
      accept: isIban,
    },
    () => new RegExp(`(?<!(?<!\\\\)[0-9A-Za-z])(?:${anyCountry()})(?![0-9A-Za-z])`, 'iy'),
  ),
];
