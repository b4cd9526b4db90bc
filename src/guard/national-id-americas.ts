import { elevenMinus, luhn, weightedSum } from './checksum.js';
import type { NationalId } from './national-id-spec.js';

const WORDS_US = ['ssn', 'social security', 'itin', 'taxpayer', 'tax id', 'socialsecurity'];
const NINE = String.raw`\d{3}([ -]?)\d{2}\1\d{4}`;
const DASHED = /^\d{3}-\d{2}-\d{4}$/;

// Printed on sample cards; the authority declared them void.
const VOID_SSN = ['078051120', '219099999'];

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

export const americanIds = (): readonly NationalId[] => [
  {
    id: 'us-ssn',
    what: 'US social security number',
    source: 'https://www.ssa.gov/employer/randomization.html',
    shape: NINE,
    words: WORDS_US,
    formatted: DASHED,
    valid: isSsn,
  },
  {
    id: 'us-itin',
    what: 'US individual taxpayer number',
    source: 'https://www.irs.gov/individuals/individual-taxpayer-identification-number',
    shape: NINE,
    words: WORDS_US,
    formatted: DASHED,
    valid: (id) => /^9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}$/.test(id),
  },
  {
    id: 'ca-sin',
    what: 'Canadian social insurance number',
    source: 'https://www.canada.ca/en/employment-social-development/services/sin.html',
    // A phone number's groups and numbers in a row are grouped so too.
    shape: String.raw`(?<!\d[ ]|[+]\d{1,3}[ -])[1-79]\d{2}([ -]?)\d{3}\1\d{3}(?! \d)`,
    words: ['social insurance', 'sin', 'assurance sociale'],
    valid: (id) => luhn(id) && !/(?:000){2}$|^(\d)\1+$/.test(id),
  },
  {
    id: 'mx-curp',
    what: 'Mexican CURP',
    source: 'https://www.gob.mx/curp',
    shape: String.raw`[A-Z][AEIOUX][A-Z]{2}\d{2}[01]\d[0-3]\d[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z\d]\d`,
    valid: isCurp,
  },
  {
    id: 'br-cpf',
    what: 'Brazilian CPF',
    source: 'https://www.gov.br/receitafederal/pt-br/assuntos/meu-cpf',
    shape: String.raw`\d{3}(\.?)\d{3}\1\d{3}-?\d{2}`,
    words: ['cpf', 'contribuinte'],
    formatted: /^\d{3}\.\d{3}\.\d{3}-\d{2}$/,
    valid: isCpf,
  },
  {
    id: 'cl-rut',
    what: 'Chilean RUT',
    source: 'https://www.registrocivil.cl',
    shape: String.raw`\d{1,2}(\.?)\d{3}\1\d{3}-?[\dKk]`,
    words: ['rut', 'rol unico', 'cedula'],
    formatted: /^\d{1,2}\.\d{3}\.\d{3}-[\dKk]$/,
    requires: /\d(?:\.?\d){6}-?[\dk]/i,
    valid: isRut,
  },
  {
    id: 'ar-cuil',
    what: 'Argentine CUIL or CUIT of a person',
    source: 'https://www.anses.gob.ar',
    shape: String.raw`2[03-7](-?)\d{8}\1\d`,
    words: ['cuit', 'cuil'],
    formatted: /-/,
    valid: isCuil,
  },
];
