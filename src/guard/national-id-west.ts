import { digitsOf, ean13, elevenMinus, isDay, mod11And10, mod97, weightedSum } from './checksum.js';
import type { NationalId } from './national-id-spec.js';

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

export const westernIds = (): readonly NationalId[] => [
  {
    id: 'uk-nino',
    what: 'UK national insurance number',
    source: 'https://www.gov.uk/hmrc-internal-manuals/national-insurance-manual/nim39110',
    shape: String.raw`[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?)\d{2}\1\d{2}\1\d{2}\1[A-D]`,
    valid: (id) => !NO_NINO.test(id),
  },
  {
    id: 'uk-nhs',
    what: 'NHS number',
    source: 'https://www.datadictionary.nhs.uk/attributes/nhs_number.html',
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{4}`,
    words: ['nhs'],
    valid: isNhs,
  },
  {
    id: 'de-steuer-id',
    what: 'German tax id of a person',
    source:
      'https://www.bzst.de/DE/Privatpersonen/SteuerlicheIdentifikationsnummer/steuerlicheidentifikationsnummer_node.html',
    shape: String.raw`[1-9]\d( ?)\d{3}\1\d{3}\1\d{3}`,
    words: ['steuer', 'steuerid', 'steuerliche', 'identifikationsnummer', 'idnr', 'tin', 'tax id', 'tax'],
    valid: isSteuerId,
  },
  {
    id: 'fr-nir',
    what: 'French social security number',
    source: 'https://www.insee.fr/fr/metadonnees/definition/c1409',
    shape: String.raw`[12]( ?)\d{2}\1(?:0[1-9]|1[0-2]|20)\1(?:\d{2}|2[AB])\1\d{3}\1\d{3}[ ]?\d{2}`,
    valid: isNir,
  },
  {
    id: 'nl-bsn',
    what: 'Dutch BSN',
    source: 'https://www.rvig.nl/burgerservicenummer',
    shape: String.raw`\d{4}[ .]?\d{2}[ .]?\d{2,3}`,
    words: ['bsn', 'burgerservicenummer', 'sofinummer', 'sofi'],
    valid: isBsn,
  },
  {
    id: 'be-national-number',
    what: 'Belgian national number',
    source: 'https://www.ibz.rrn.fgov.be/fr/registre-national/',
    shape: String.raw`(?:\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|\d{11})`,
    words: [
      'rijksregister',
      'registre national',
      'rijksregisternummer',
      'insz',
      'niss',
      'national number',
      'rrn',
    ],
    formatted: /-/,
    valid: isBelgian,
  },
  {
    id: 'ch-ahv',
    what: 'Swiss AHV number',
    source: 'https://www.zas.admin.ch/de/aufbau-der-ahv-nummer',
    shape: String.raw`756([. ]?)\d{4}\1\d{4}\1\d{2}`,
    valid: ean13,
  },
  {
    id: 'at-svnr',
    what: 'Austrian social insurance number',
    source: 'https://www.sozialversicherung.at',
    shape: String.raw`[1-9]\d{3}[ -]?\d{6}`,
    words: [
      'svnr',
      'sozialversicherung',
      'sozialversicherungsnummer',
      'sv nummer',
      'sv nr',
      'versicherungsnummer',
    ],
    valid: isSvnr,
  },
  {
    id: 'ie-pps',
    what: 'Irish PPS number',
    source: 'https://www.gov.ie/en/service/12e6de-get-a-personal-public-service-pps-number/',
    shape: String.raw`\d{7}[A-W][A-IW]?`,
    words: ['pps', 'ppsn', 'personal public service'],
    valid: isPps,
  },
];
