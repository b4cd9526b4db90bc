import { elevenMinus, isDay, luhn, weightedSum } from './checksum.js';
import type { NationalId } from './national-id-spec.js';

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

export const northernIds = (): readonly NationalId[] => [
  {
    id: 'se-personnummer',
    what: 'Swedish personal number',
    source: 'https://www.skatteverket.se/privat/folkbokforing/personnummer',
    shape: String.raw`(?:18|19|20)?\d{4}[0-9]\d[-+]?\d{4}`,
    words: ['personnummer', 'personnr', 'pnr', 'personal identity', 'samordningsnummer'],
    // A date of these years with four digits behind is a stamp or a serial rather than a child.
    formatted: /^(?:(?:19|200)\d{5,7}|(?!2|3[0-5])\d{6})[-+]\d{4}$/,
    valid: isPersonnummer,
  },
  {
    id: 'no-fodselsnummer',
    what: 'Norwegian national identity number',
    source: 'https://www.skatteetaten.no/en/person/national-registry/identitetsnummer/',
    shape: String.raw`[0-7]\d{5}[ ]?\d{5}`,
    words: [
      'fødselsnummer',
      'fodselsnummer',
      'fnr',
      'personnummer',
      'd-nummer',
      'national id',
      'national identity',
    ],
    valid: isFodselsnummer,
  },
  {
    id: 'dk-cpr',
    what: 'Danish CPR number',
    source: 'https://cpr.dk/cpr-systemet/opbygning-af-cpr-nummeret',
    shape: String.raw`[0-3]\d[01]\d{3}-?\d{4}`,
    words: ['cpr', 'personnummer', 'cprnr'],
    valid: (id) => isDay(id.slice(2, 4), id.slice(0, 2)),
  },
  {
    id: 'fi-hetu',
    what: 'Finnish personal identity code',
    source: 'https://dvv.fi/en/personal-identity-code',
    shape: String.raw`[0-3]\d[01]\d{3}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]`,
    words: ['hetu', 'henkilötunnus', 'personbeteckning', 'personal identity', 'finnish id'],
    // So may be 260131-1234: with a letter, or a first pair that is no year of now, it is clear.
    formatted: /[A-Y]$|^(?!2|3)/,
    valid: isHetu,
  },
  {
    id: 'pl-pesel',
    what: 'Polish PESEL',
    source: 'https://www.gov.pl/web/gov/czym-jest-numer-pesel',
    shape: String.raw`\d{11}`,
    words: ['pesel'],
    valid: isPesel,
  },
];
