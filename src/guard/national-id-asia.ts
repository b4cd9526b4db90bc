import { isDay, luhn, mod11Of2, verhoeff, weightedSum } from './checksum.js';
import type { NationalId } from './national-id-spec.js';
import { inTable } from './surroundings.js';

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

export const asianIds = (): readonly NationalId[] => [
  {
    id: 'in-aadhaar',
    what: 'Indian Aadhaar number',
    source: 'https://uidai.gov.in/en/my-aadhaar/about-your-aadhaar.html',
    // Four groups are a card, years in a row are years.
    shape: String.raw`(?<!\d[ -])(?!(?:(?:19|20)\d\d ?){3})[2-9]\d{3}([ -]?)\d{4}\1\d{4}(?![ -]\d)`,
    words: ['aadhaar', 'aadhar', 'uidai', 'uid', 'आधार'],
    valid: (id, match) => verhoeff(id) && !/0{6}$/.test(id) && !inTable(match),
  },
  {
    id: 'in-pan',
    what: 'Indian permanent account number of a person',
    source: 'https://incometaxindia.gov.in/Pages/tax-services/pan.aspx',
    shape: String.raw`[A-Z]{3}P[A-Z]\d{4}[A-Z]`,
    words: ['pan', 'permanent account', 'income tax'],
    valid: (id) => !id.includes('0000'),
  },
  {
    id: 'cn-resident-id',
    what: 'Chinese resident identity number',
    source: 'https://openstd.samr.gov.cn/bzgk/gb/newGbInfo?hcno=080D6FBF2BB468F9007657F26D60013E',
    shape: String.raw`(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\d{4}(?:18|19|20)\d{2}[01]\d[0-3]\d{4}[\dXx]`,
    valid: (id) => isDay(id.slice(10, 12), id.slice(12, 14)) && mod11Of2(id),
  },
  {
    id: 'jp-my-number',
    what: 'Japanese individual number',
    source: 'https://www.digital.go.jp/policies/mynumber',
    shape: String.raw`\d{4}([ -]?)\d{4}\1\d{4}`,
    words: ['マイナンバー', '個人番号', 'my number', 'mynumber', 'individual number'],
    valid: isMyNumber,
  },
  {
    id: 'kr-rrn',
    what: 'South Korean resident registration number',
    source: 'https://www.mois.go.kr',
    shape: String.raw`\d{2}[01]\d[0-3]\d-[1-8]\d{6}`,
    valid: isRrn,
  },
  {
    id: 'tw-id',
    what: 'Taiwanese identity or resident number',
    source: 'https://www.ris.gov.tw',
    shape: String.raw`[A-Z][1289A-D]\d{8}`,
    words: ['身分證', '身份證', '統一編號', '統一證號', 'taiwan', 'national id', 'id', 'identity', 'arc'],
    valid: isTaiwanese,
  },
  {
    id: 'hk-id',
    what: 'Hong Kong identity card number',
    source: 'https://www.immd.gov.hk/eng/services/hkid/general_info.html',
    shape: String.raw`[A-Z]{1,2}\d{6}(?:\([\dA]\)|[\dA])`,
    words: ['hkid', 'hong kong', 'identity card', '身份證', '身分證'],
    formatted: /\)$/,
    valid: isHkid,
  },
  {
    id: 'sg-nric',
    what: 'Singapore NRIC or FIN',
    source: 'https://www.ica.gov.sg',
    shape: String.raw`[STFGM]\d{7}[A-Z]`,
    valid: isNric,
  },
  {
    id: 'au-tfn',
    what: 'Australian tax file number',
    source: 'https://www.ato.gov.au/individuals-and-families/tax-file-number',
    shape: String.raw`\d{3}([ -]?)\d{3}\1\d{2,3}`,
    words: ['tfn', 'tax file'],
    valid: isTfn,
  },
  {
    id: 'au-medicare',
    what: 'Australian Medicare card number',
    source: 'https://www.servicesaustralia.gov.au/medicare-card',
    shape: String.raw`[2-6]\d{3}([ -]?)\d{5}\1\d(?:[ /-]?\d)?`,
    words: ['medicare'],
    valid: isMedicare,
  },
  {
    id: 'il-id',
    what: 'Israeli identity number',
    source: 'https://www.gov.il/en/departments/population_and_immigration_authority',
    shape: String.raw`\d{8}-?\d`,
    words: ['תעודת זהות', 'ת"ז', 'ת.ז', 'teudat zehut', 'israeli id', 'israel id', 'zehut'],
    valid: (id) => luhn(id) && !/^0{5}/.test(id),
  },
];
