import {
  digitsOf,
  ean13,
  elevenMinus,
  isDay,
  luhn,
  mod11And10,
  mod11Of2,
  mod97,
  verhoeff,
  weightedSum,
} from './checksum.js';
import { lazyRule, type Rule } from './rule.js';
import { NATIONAL_IDS, type NationalId } from './rules/national-ids.js';
import { BEGIN, bare, END, inTable, keywordsOf, mentions, NUMBER } from './surroundings.js';

/** Takes the number in upper case without spaces, dots and dashes. */
type Valid = (id: string, match: RegExpExecArray) => boolean;

// Printed on sample cards and declared void, or used in every example.
const VOID_SSN = ['078051120', '219099999', '123456789'];

const isSsn = (id: string): boolean =>
  /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(id) && !VOID_SSN.includes(id) && !/^(\d)\1+$/.test(id);

const CURP = '0123456789ABCDEFGHIJKLMN?OPQRSTUVWXYZ';

function isCurp(id: string): boolean {
  const sum = [...id.slice(0, 17)].reduce((total, char, i) => total + CURP.indexOf(char) * (18 - i), 0);
  return (10 - (sum % 10)) % 10 === Number(id[17]);
}

function isCpf(id: string): boolean {
  const first = weightedSum(id, [10, 9, 8, 7, 6, 5, 4, 3, 2]);
  const second = weightedSum(id, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  return !/^(\d)\1+$/.test(id) && id.slice(9) === elevenMinus(first, '0') + elevenMinus(second, '0');
}

function isRut(id: string): boolean {
  const body = id.slice(0, -1).padStart(8, '0');
  // From fifty million on they are companies.
  return (
    Number(body) < 50_000_000 && id.at(-1) === elevenMinus(weightedSum(body, [3, 2, 7, 6, 5, 4, 3, 2]), 'K')
  );
}

const isCuil = (id: string): boolean =>
  elevenMinus(weightedSum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]), '9') === id[10];

const NO_NINO = /^(?:BG|GB|KN|NK|NT|TN|ZZ)/;

function isNhs(id: string): boolean {
  return elevenMinus(weightedSum(id, [10, 9, 8, 7, 6, 5, 4, 3, 2])) === id[9] && !/^(\d)\1+$/.test(id);
}

// Of the first ten digits one stands twice or three times.
function isSteuerId(id: string): boolean {
  const times = digitsOf('0123456789').map((digit) => id.slice(0, 10).split(String(digit)).length - 1);
  return Math.max(...times) <= 3 && times.filter((n) => n > 1).length === 1 && mod11And10(id);
}

// Corsica's departments count as 19 and 18.
function isNir(id: string): boolean {
  const number = id.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return 97 - mod97(number) === Number(id.slice(13));
}

const isBsn = (id: string): boolean =>
  Number(id) > 9_999_999 && weightedSum(id.padStart(9, '0'), [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;

// Those born from 2000 on have a 2 before the number when it is checked.
const isBelgian = (id: string): boolean =>
  [id.slice(0, 9), `2${id.slice(0, 9)}`].some((number) => 97 - mod97(number) === Number(id.slice(9)));

const isSvnr = (id: string): boolean =>
  weightedSum(id, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(id[3]) &&
  isDay(id.slice(6, 8), id.slice(4, 6));

function isPps(id: string): boolean {
  const second = id[8] && id[8] !== 'W' ? (id.charCodeAt(8) - 64) * 9 : 0;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[(weightedSum(id, [8, 7, 6, 5, 4, 3, 2]) + second) % 23] === id[7];
}

const DNI = 'TRWAGMYFPDXBNJZSQVHLCKE';

// Of a compact timestamp (20240131T…) the T is not a check letter.
function isDni(id: string): boolean {
  const number = id.replace(/^[XYZ]/, (char) => String('XYZ'.indexOf(char)));
  return !/^(?:19|20)\d{6}[TZ]$/.test(id) && DNI[Number.parseInt(number, 10) % 23] === id.at(-1);
}

// What a character at an odd place counts: a digit as much as the letter with its number.
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function isCodiceFiscale(id: string): boolean {
  const values = [...id.slice(0, 15)].map((char) => {
    const value = Number.parseInt(char, 36);
    return value > 9 ? value - 10 : value;
  });
  const sum = values.reduce((total, value, i) => total + (i % 2 === 0 ? (ODD[value] as number) : value), 0);
  return String.fromCharCode(65 + (sum % 26)) === id[15];
}

const isNif = (id: string): boolean => elevenMinus(weightedSum(id, [9, 8, 7, 6, 5, 4, 3, 2]), '0') === id[8];

const isSnils = (id: string): boolean =>
  (weightedSum(id, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101) % 100 === Number(id.slice(9));

function isTckn(id: string): boolean {
  const tenth = weightedSum(id, [7, -1, 7, -1, 7, -1, 7, -1, 7]) % 10;
  const eleventh = weightedSum(id, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) % 10;
  return (tenth + 10) % 10 === Number(id[9]) && eleventh === Number(id[10]);
}

const HETU = '0123456789ABCDEFHJKLMNPRSTUVWXY';

// Sixty is added to the day in a coordination number.
const isPersonnummer = (id: string): boolean => {
  const short = id.slice(-10);
  const day = Number(short.slice(4, 6));
  return isDay(short.slice(2, 4), String(day > 60 ? day - 60 : day).padStart(2, '0')) && luhn(short);
};

function isFodselsnummer(id: string): boolean {
  const day = Number(id.slice(0, 2)) % 40;
  const first = elevenMinus(weightedSum(id, [3, 7, 6, 1, 8, 9, 4, 5, 2]));
  const second = elevenMinus(weightedSum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]));
  return isDay(id.slice(2, 4), String(day)) && id.slice(9) === first + second;
}

function isHetu(id: string): boolean {
  const digits = id.replace(/^(\d{6})\D?(\d{3}).$/, '$1$2');
  const serial = Number(digits.slice(6));
  const known = serial >= 2 && serial < 900 && isDay(digits.slice(2, 4), digits.slice(0, 2));
  return known && HETU[Number(digits) % 31] === id.at(-1);
}

// The century is added to the month: 80, 0, 20, 40, 60.
function isPesel(id: string): boolean {
  const month = String(Number(id.slice(2, 4)) % 20).padStart(2, '0');
  return weightedSum(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0 && isDay(month, id.slice(4, 6));
}

// The check digit weighs the digits from the right 2 to 7, and then from 2 on again.
function isMyNumber(id: string): boolean {
  const rest = weightedSum(id, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return (rest <= 1 ? 0 : 11 - rest) === Number(id[11]);
}

// Foreigners (5 to 8 after the dash) have theirs moved by two.
function isRrn(id: string): boolean {
  const rest = weightedSum(id, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11;
  const check = (('5678'.includes(id[6] as string) ? 13 : 11) - rest) % 10;
  return isDay(id.slice(2, 4), id.slice(4, 6)) && check === Number(id[12]);
}

const TAIWAN = 'ABCDEFGHJKLMNPQRSTUVXYWZIO';

function isTaiwanese(id: string): boolean {
  const place = TAIWAN.indexOf(id[0] as string) + 10;
  const second = /\d/.test(id[1] as string) ? id[1] : String((TAIWAN.indexOf(id[1] as string) + 10) % 10);
  const sum = weightedSum(second + id.slice(2), [8, 7, 6, 5, 4, 3, 2, 1, 1]);
  return (Math.floor(place / 10) + (place % 10) * 9 + sum) % 10 === 0;
}

// A single letter has a blank before it, which counts 36.
function isHkid(id: string): boolean {
  const values = [...id.padStart(9, ' ')].map((char) => (char === ' ' ? 36 : Number.parseInt(char, 36)));
  return values.reduce((sum, value, i) => sum + value * (9 - i), 0) % 11 === 0;
}

const NRIC: Readonly<Record<string, readonly [shift: number, letters: string]>> = {
  S: [0, 'JZIHGFEDCBA'],
  T: [4, 'JZIHGFEDCBA'],
  F: [0, 'XWUTRQPNMLK'],
  G: [4, 'XWUTRQPNMLK'],
  M: [3, 'XWUTRQPNJLK'],
};

function isNric(id: string): boolean {
  const [shift, letters] = NRIC[id[0] as string] as readonly [number, string];
  return letters[(shift + weightedSum(id.slice(1), [2, 7, 6, 5, 4, 3, 2])) % 11] === id.at(-1);
}

const isTfn = (id: string): boolean =>
  weightedSum(id, id.length === 9 ? [1, 4, 3, 7, 5, 8, 6, 9, 10] : [10, 7, 8, 4, 6, 3, 5, 1]) % 11 === 0;

const isMedicare = (id: string): boolean =>
  weightedSum(id, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(id[8]) && id[9] !== '0';

const isPassport = (id: string): boolean =>
  id.replace(/\D/g, '').length >= 5 && !/^(?:19|20)\d\d[01]\d[0-3]\d$/.test(id) && !/^(\d)\1+$/.test(id);

const VALID: Readonly<Record<string, Valid>> = {
  'us-ssn': isSsn,
  // 987-65-4320 to 4329 are for advertisements.
  'us-itin': (id) => /^(?!98765432)9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}$/.test(id),
  'ca-sin': (id) => luhn(id) && !/(?:000){2}$|^(\d)\1+$/.test(id),
  'mx-curp': isCurp,
  'br-cpf': isCpf,
  'cl-rut': isRut,
  'ar-cuil': isCuil,
  'uk-nino': (id) => !NO_NINO.test(id),
  'uk-nhs': isNhs,
  'de-steuer-id': isSteuerId,
  'fr-nir': isNir,
  'nl-bsn': isBsn,
  'be-national-number': isBelgian,
  'ch-ahv': ean13,
  'at-svnr': isSvnr,
  'ie-pps': isPps,
  'es-dni': isDni,
  'it-codice-fiscale': isCodiceFiscale,
  'pt-nif': isNif,
  'ru-snils': isSnils,
  'tr-tckn': isTckn,
  'za-id': (id) => luhn(id) && isDay(id.slice(2, 4), id.slice(4, 6)),
  'se-personnummer': isPersonnummer,
  'no-fodselsnummer': isFodselsnummer,
  'dk-cpr': (id) => isDay(id.slice(2, 4), id.slice(0, 2)),
  'fi-hetu': isHetu,
  'pl-pesel': isPesel,
  'in-aadhaar': (id, match) => verhoeff(id) && !/0{6}$/.test(id) && !inTable(match),
  'in-pan': (id) => !id.includes('0000'),
  'cn-resident-id': (id) => isDay(id.slice(10, 12), id.slice(12, 14)) && mod11Of2(id),
  'jp-my-number': isMyNumber,
  'kr-rrn': isRrn,
  'tw-id': isTaiwanese,
  'hk-id': isHkid,
  'sg-nric': isNric,
  'au-tfn': isTfn,
  'au-medicare': isMedicare,
  'il-id': (id) => luhn(id) && !/^0{5}/.test(id),
  passport: isPassport,
};

/**
 * What each number has that may hold a letter: six digits behind a letter or before one or a sign; or 13 digits. The
 * dates and counts in nearly every text have none of it.
 */
const LETTERED = /[A-Z][ -]?\d\d([ -]?)\d\d\1\d\d|\d(?:[ .]?\d){5}(?:(?: ?\d){7}|[-+]\d|[ -]?[A-Z])/g;
/** Letters may stand for the digits of a codice fiscale. */
const CODICE = /[A-Z]{3} ?[A-Z]{3} ?[\dLMNP-V]{2}[A-EHLMPRST]/g;
const SHORT = /\d(?:\.?\d){6}-?[\dk]/gi;

const ANCHORS: Readonly<Record<string, RegExp>> = { 'it-codice-fiscale': CODICE, 'cl-rut': SHORT };

function nationalIdRule({ id, what, source, shape, words, formatted }: NationalId): Rule {
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

/** Numbers that need a word beside them, unless they are grouped as their authority groups them. */
export const nationalIdRules = (): readonly Rule[] => NATIONAL_IDS.map(nationalIdRule);
