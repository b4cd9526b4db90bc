import { elevenMinus, isDay, luhn, weightedSum } from './checksum.js';
import type { NationalId } from './national-id-spec.js';

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

const SLOT = '[\\dLMNP-V]';

export const southernIds = (): readonly NationalId[] => [
  {
    id: 'es-dni',
    what: 'Spanish DNI or NIE',
    source: 'https://www.interior.gob.es/opencms/es/servicios-al-ciudadano/tramites-y-gestiones/dni',
    shape: String.raw`(?:\d{2}\.?\d{3}\.?\d{3}|[XYZ]-?\d{7})[ -]?[A-HJ-NP-TV-Z]`,
    valid: isDni,
  },
  {
    id: 'it-codice-fiscale',
    hasLetters: true,
    what: 'Italian codice fiscale',
    source: 'https://www.agenziaentrate.gov.it/portale/web/guest/schede/istanze/richiesta-ts_cf',
    shape: `(?:[A-Z]{6}${SLOT}{2}[A-EHLMPRST]${SLOT}{2}[A-Z]${SLOT}{3}[A-Z]|[A-Z]{3} [A-Z]{3} ${SLOT}{2}[A-EHLMPRST]${SLOT}{2} [A-Z]${SLOT}{3}[A-Z])`,
    valid: isCodiceFiscale,
  },
  {
    id: 'pt-nif',
    what: 'Portuguese NIF of a person',
    source: 'https://www.portaldasfinancas.gov.pt',
    shape: String.raw`(?:[1-3]\d{2}|45\d)( ?)\d{3}\1\d{3}`,
    words: ['nif', 'contribuinte', 'número fiscal', 'numero fiscal'],
    valid: isNif,
  },
  {
    id: 'ru-snils',
    what: 'Russian SNILS',
    source: 'https://sfr.gov.ru/grazhdanam/snils/',
    shape: String.raw`\d{3}-\d{3}-\d{3}[ -]\d{2}`,
    valid: isSnils,
  },
  {
    id: 'tr-tckn',
    what: 'Turkish identity number',
    source: 'https://www.nvi.gov.tr',
    shape: String.raw`[1-9]\d{10}`,
    words: ['tckn', 'kimlik', 't.c.', 'tc', 'turkish id'],
    valid: isTckn,
  },
  {
    id: 'za-id',
    what: 'South African identity number',
    source: 'https://www.dha.gov.za',
    shape: String.raw`\d{6}[ ]?\d{4}[ ]?[0-2]\d{2}`,
    words: [
      'identity',
      'south african id',
      'sa id',
      'rsa id',
      'id number',
      'identiteitsnommer',
      'national id',
      'id no',
    ],
    valid: (id) => luhn(id) && isDay(id.slice(2, 4), id.slice(4, 6)),
  },
];
