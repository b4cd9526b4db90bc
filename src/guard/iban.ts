import { mod97 } from './checksum.js';
import { lazyRule } from './lazy-rule.js';
import type { Rule } from './rule.js';
import { bare, mentions } from './surroundings.js';

/** Countries by the length of their IBAN (SWIFT registry, release 99, and those that use the form without it). */
const COUNTRIES: Readonly<Record<number, string>> = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'AO CV GW LY MZ PT ST',
  26: 'DZ IR IS TR',
  27: 'BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD',
  28: 'AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG',
  29: 'BR EG PS QA UA YE',
  30: 'JO KW MU',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
};

/** All countries with the length their IBAN has. */
export const ibanLengths = (): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(COUNTRIES).flatMap(([length, codes]) =>
      codes.split(' ').map((code) => [code, Number(length)] as const),
    ),
  );

const JOINT = '[ \\-\u00a0\u202f]?';

// Exact groups by country, so that a word in capitals or a number after an IBAN is not drawn into it.
function shape(length: number, codes: string): string {
  const groups = `(?:${JOINT}[A-Z0-9]{4}){${Math.floor((length - 4) / 4)}}`;
  const rest = length % 4 === 0 ? '' : `${JOINT}[A-Z0-9]{${length % 4}}`;
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
      // The shortest has 15 characters. Without flag `i`, with which to make it takes ten times as long.
      requires: /(?<!(?<!\\)[0-9A-Za-z])[A-Za-z]{2}\d\d(?:[ \-\u00a0\u202f]?[A-Za-z0-9]){11}/,
      accept: isIban,
    },
    () => new RegExp(`(?<!(?<!\\\\)[0-9A-Za-z])(?:${anyCountry()})(?![0-9A-Za-z])`, 'gi'),
  ),
];
