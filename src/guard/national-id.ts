import { template } from '../core/templates.js';
import { BEGIN, bare, END, inTable, keywordsOf, luhn, mentions, mod97, NUMBER } from './numbers.js';
import { lazyRule, type Rule, readTable } from './rule.js';

/** `id` is in upper case, without spaces, dots and dashes. */
type Valid = (id: string, match: RegExpExecArray) => boolean;

const digitsOf = (text: string): number[] => [...text].map(Number);

const sumOf = (values: readonly number[], weights: string): number =>
  weights.split(' ').reduce((sum, weight, i) => sum + Number(weight) * (values[i] as number), 0);

/**
 * Whether the character after the weighted ones is the check character: the weighted sum modulo the number of `checks`
 * selects it. `-` means that no valid number has this remainder.
 */
function weighs(id: string, weights: string, checks: string, values = digitsOf(id)): boolean {
  const rest = sumOf(values, weights) % checks.length;
  return checks.at(rest) === id[weights.split(' ').length];
}

const DIGITS = '0123456789';
/** Eleven and ten minus the remainder. */
const ELEVEN = '0-987654321';
const TEN = '0987654321';

/** Whether two digits of month and two of day can be a date in any year. */
function isDay(month: string, day: string | number): boolean {
  const last = { '02': 29, '04': 30, '06': 30, '09': 30, '11': 30 }[month] ?? 31;
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= last;
}

const isRepeated = (id: string): boolean => /^(\d)\1+$/.test(id);

const CURP = '0123456789ABCDEFGHIJKLMN?OPQRSTUVWXYZ';

/** One of the first ten digits occurs two or three times; ISO/IEC 7064 MOD 11,10. */
function isSteuerId(id: string): boolean {
  const times = [...DIGITS].map((digit) => id.slice(0, 10).split(digit).length - 1);
  let product = 10;
  for (const digit of digitsOf(id.slice(0, -1))) product = (((digit + product) % 10 || 10) * 2) % 11;
  const fits = (11 - product) % 10 === Number(id.at(-1));
  return fits && Math.max(...times) <= 3 && times.filter((n) => n > 1).length === 1;
}

function isPps(id: string): boolean {
  const second = id[8] && id[8] !== 'W' ? (id.charCodeAt(8) - 64) * 9 : 0;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[(sumOf(digitsOf(id), '8 7 6 5 4 3 2') + second) % 23] === id[7];
}

/** The T of a compact timestamp (20240131T…) is not a check letter. */
function isDni(id: string): boolean {
  const number = id.replace(/^[XYZ]/, (char) => String('XYZ'.indexOf(char)));
  const letter = 'TRWAGMYFPDXBNJZSQVHLCKE'[Number.parseInt(number, 10) % 23];
  return !/^(?:19|20)\d{6}[TZ]$/.test(id) && letter === id.at(-1);
}

/** The values of characters at odd places. A digit counts like the letter with its number. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isCodiceFiscale(id: string): boolean {
  const sum = [...id.slice(0, 15)].reduce((total, char, i) => {
    const value = Number.parseInt(char, 36);
    const place = value > 9 ? value - 10 : value;
    return total + (i % 2 === 0 ? (ODD[place] as number) : place);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === id[15];
}

/** A coordination number adds 60 to the day. */
const isPersonnummer = (id: string): boolean => {
  const short = id.slice(-10);
  return isDay(short.slice(2, 4), Number(short.slice(4, 6)) % 60) && luhn(short);
};

function isHetu(id: string): boolean {
  const digits = id.replace(/^(\d{6})\D?(\d{3}).$/, '$1$2');
  const serial = Number(digits.slice(6));
  const known = serial >= 2 && serial < 900 && isDay(digits.slice(2, 4), digits.slice(0, 2));
  return known && '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(digits) % 31] === id.at(-1);
}

const TAIWAN = 'ABCDEFGHJKLMNPQRSTUVXYWZIO';

function isTaiwanese(id: string): boolean {
  const place = TAIWAN.indexOf(id[0] as string) + 10;
  const second = /\d/.test(id[1] as string) ? id[1] : String((TAIWAN.indexOf(id[1] as string) + 10) % 10);
  const sum = sumOf(digitsOf(second + id.slice(2)), '8 7 6 5 4 3 2 1 1');
  return (Math.floor(place / 10) + (place % 10) * 9 + sum) % 10 === 0;
}

/** A single letter has a blank before it, with the value 36. */
const isHkid = (id: string): boolean =>
  sumOf(
    [...id.padStart(9, ' ')].map((char) => (char === ' ' ? 36 : Number.parseInt(char, 36))),
    '9 8 7 6 5 4 3 2 1',
  ) %
    11 ===
  0;

/** The check letters of each kind, from remainder zero. */
const NRIC: Readonly<Record<string, string>> = {
  ...{ S: 'JZIHGFEDCBA', T: 'GFEDCBAJZIH', F: 'XWUTRQPNMLK', G: 'RQPNMLKXWUT', M: 'TRQPNJLKXWU' },
};

const PERMUTATION = digitsOf('1576283094');

/** The product in the dihedral group D5, the base of the Verhoeff scheme. */
function dihedral(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5;
  return b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5;
}

/** Verhoeff's check (1969), which the Aadhaar number uses. */
export function verhoeff(text: string): boolean {
  let check = 0;
  for (const [i, digit] of digitsOf(text).reverse().entries()) {
    let turned = digit;
    for (let times = i % 8; times > 0; times--) turned = PERMUTATION[turned] as number;
    check = dihedral(check, turned);
  }
  return check === 0;
}

const VALID: Readonly<Record<string, Valid>> = {
  // The last three are void sample numbers or used in every example.
  'us-ssn': (id) =>
    /^(?!000|666|9|078051120|219099999|123456789)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(id) && !isRepeated(id),
  // 987-65-4320 to 987-65-4329 are for advertisements.
  'us-itin': (id) => /^(?!98765432)9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}$/.test(id),
  'ca-sin': (id) => luhn(id) && !/(?:000){2}$/.test(id) && !isRepeated(id),
  'mx-curp': (id) => {
    const values = [...id].map((char) => CURP.indexOf(char));
    return weighs(id, '18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2', TEN, values);
  },
  'br-cpf': (id) =>
    weighs(id, '10 9 8 7 6 5 4 3 2', '00987654321') &&
    weighs(id, '11 10 9 8 7 6 5 4 3 2', '00987654321') &&
    !isRepeated(id),
  // From 50 million on, numbers belong to companies.
  'cl-rut': (id) =>
    weighs(id.padStart(9, '0'), '3 2 7 6 5 4 3 2', '0K987654321') && Number(id.slice(0, -1)) < 50_000_000,
  'ar-cuil': (id) => weighs(id, '5 4 3 2 7 6 5 4 3 2', '09987654321'),
  'uk-nino': (id) => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(id),
  'uk-nhs': (id) => weighs(id, '10 9 8 7 6 5 4 3 2', ELEVEN) && !isRepeated(id),
  'de-steuer-id': isSteuerId,
  // Corsica's departments 2A and 2B count as 19 and 18.
  'fr-nir': (id) =>
    97 - mod97(id.slice(0, 13).replace('2A', '19').replace('2B', '18')) === Number(id.slice(13)),
  'nl-bsn': (id) => weighs(id.padStart(9, '0'), '9 8 7 6 5 4 3 2', `${DIGITS}-`) && Number(id) > 9_999_999,
  // For births from 2000 on, a 2 precedes the checked number.
  'be-national-number': (id) =>
    [id.slice(0, 9), `2${id.slice(0, 9)}`].some((number) => 97 - mod97(number) === Number(id.slice(9))),
  'ch-ahv': (id) => weighs(id, '1 3 1 3 1 3 1 3 1 3 1 3', TEN),
  'at-svnr': (id) =>
    sumOf(digitsOf(id), '3 7 9 0 5 8 4 2 1 6') % 11 === Number(id[3]) &&
    isDay(id.slice(6, 8), id.slice(4, 6)),
  'ie-pps': isPps,
  'es-dni': isDni,
  'it-codice-fiscale': isCodiceFiscale,
  'pt-nif': (id) => weighs(id, '9 8 7 6 5 4 3 2', '00987654321'),
  'ru-snils': (id) => (sumOf(digitsOf(id), '9 8 7 6 5 4 3 2 1') % 101) % 100 === Number(id.slice(9)),
  'tr-tckn': (id) => weighs(id, '7 -1 7 -1 7 -1 7 -1 7', DIGITS) && weighs(id, '1 1 1 1 1 1 1 1 1 1', DIGITS),
  'za-id': (id) => luhn(id) && isDay(id.slice(2, 4), id.slice(4, 6)),
  'se-personnummer': isPersonnummer,
  'no-fodselsnummer': (id) =>
    isDay(id.slice(2, 4), Number(id.slice(0, 2)) % 40) &&
    weighs(id, '3 7 6 1 8 9 4 5 2', ELEVEN) &&
    weighs(id, '5 4 3 2 7 6 5 4 3 2', ELEVEN),
  'dk-cpr': (id) => isDay(id.slice(2, 4), id.slice(0, 2)),
  'fi-hetu': isHetu,
  // The month contains the century: 80, 0, 20, 40 or 60 is added.
  'pl-pesel': (id) =>
    weighs(id, '1 3 7 9 1 3 7 9 1 3', TEN) &&
    isDay(String(Number(id.slice(2, 4)) % 20).padStart(2, '0'), id.slice(4, 6)),
  'in-aadhaar': (id, match) => verhoeff(id) && !/0{6}$/.test(id) && !inTable(match),
  'in-pan': (id) => !id.includes('0000'),
  'cn-resident-id': (id) =>
    isDay(id.slice(10, 12), id.slice(12, 14)) &&
    weighs(id, '7 9 10 5 8 4 2 1 6 3 7 9 10 5 8 4 2', '10X98765432'),
  'jp-my-number': (id) => weighs(id, '6 5 4 3 2 7 6 5 4 3 2', '00987654321'),
  // Foreigners (5 to 8 after the dash) use check digits moved by two.
  'kr-rrn': (id) =>
    isDay(id.slice(2, 4), id.slice(4, 6)) &&
    weighs(id, '2 3 4 5 6 7 8 9 2 3 4 5', /^.{6}[5-8]/.test(id) ? '32109876543' : '10987654321'),
  'tw-id': isTaiwanese,
  'hk-id': isHkid,
  'sg-nric': (id) => weighs(id.slice(1), '2 7 6 5 4 3 2', NRIC[id[0] as string] as string),
  'au-tfn': (id) =>
    id.length === 9 ? weighs(id, '1 4 3 7 5 8 6 9', `${DIGITS}-`) : weighs(id, '10 7 8 4 6 3 5', ELEVEN),
  'au-medicare': (id) => weighs(id, '1 3 7 9 1 3 7 9', DIGITS) && id[9] !== '0',
  'il-id': (id) => luhn(id) && !/^0{5}/.test(id),
  passport: (id) =>
    id.replace(/\D/g, '').length >= 5 && !/^(?:19|20)\d\d[01]\d[0-3]\d$/.test(id) && !isRepeated(id),
};

/**
 * Part of every number with a letter: six digits after a letter, or before a letter or a sign; or 13 digits. Ordinary
 * dates and counts do not match.
 */
const LETTERED = /[A-Z][ -]?\d\d([ -]?)\d\d\1\d\d|\d(?:[ .]?\d){5}(?:(?: ?\d){7}|[-+]\d|[ -]?[A-Z])/g;
/** Letters may replace the digits of a codice fiscale. */
const CODICE = /[A-Z]{3} ?[A-Z]{3} ?[\dLMNP-V]{2}[A-EHLMPRST]/g;
const SHORT = /\d(?:\.?\d){6}-?[\dk]/gi;

const ANCHORS: Readonly<Record<string, RegExp>> = { 'it-codice-fiscale': CODICE, 'cl-rut': SHORT };

function nationalIdRule(
  source: string,
  [id = '', list = '', form = '', shape = '', what = '']: string[],
): Rule {
  const words = list.split(',');
  const formatted = form === '-' ? undefined : new RegExp(form.slice(1, -1));
  const isNamed = mentions(words);
  const valid = VALID[id] as Valid;
  const anchor = ANCHORS[id] ?? (/[A-Z]/.test(shape) ? LETTERED : NUMBER);
  return lazyRule(
    {
      id,
      class: 'national-id',
      what,
      source,
      keywords: keywordsOf(words),
      ...(formatted ? { anchor } : {}),
      reach: [70, 140],
      accept: (secret, match) => (formatted?.test(secret) || isNamed(match)) && valid(bare(secret), match),
    },
    () => new RegExp(`${BEGIN}${shape}${END}`, 'g'),
  );
}

/** A number needs a word near it, unless it is grouped as its authority groups it. */
export const nationalIdRules = (): readonly Rule[] =>
  readTable(template('guard', 'national-ids.txt'), nationalIdRule);
