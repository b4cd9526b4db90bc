import { luhnDigit, type Random } from './personal.js';

/** The first of `tails` that makes the number one: check digits found by trying the published condition. */
function complete(body: string, tails: readonly string[], holds: Holds): string | null {
  const tail = tails.find((candidate) => holds(body + candidate));
  return tail === undefined ? null : body + tail;
}

/** Some bodies have no check digit (it would be ten); another one is drawn then. */
function until(make: () => string | null): string {
  for (let i = 0; i < 200; i++) {
    const id = make();
    if (id !== null) return id;
  }
  throw new Error('no valid number found');
}

const TEN = [...'0123456789'];
const HUNDRED = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'));
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const sum = (id: string, weights: readonly number[]): number =>
  weights.reduce((total, weight, i) => total + weight * Number.parseInt(id[i] as string, 36), 0);

const two = (n: number): string => String(n).padStart(2, '0');
const yymmdd = (r: Random): string => two(r.int(40, 99)) + two(r.int(1, 12)) + two(r.int(1, 28));
const ddmmyy = (r: Random): string => two(r.int(1, 28)) + two(r.int(1, 12)) + two(r.int(40, 99));
type Make = (r: Random) => string;
type Holds = (id: string) => boolean;
const tried =
  (body: Make, tails: readonly string[], holds: Holds, parts = /^/, printed = ''): Make =>
  (r) =>
    until(() => complete(body(r), tails, holds)).replace(parts, printed);
const divides =
  (modulus: number, weights: readonly number[]): Holds =>
  (id) =>
    sum(id, weights) % modulus === 0;

function digitTable(r: Random): string {
  // Ten digits of which exactly one stands twice.
  const digits = [...TEN].sort(() => r.int(0, 1) - 0.5);
  const twice = r.pick(digits.slice(1));
  const body = digits.map((d, i) => (i === 9 ? twice : d)).join('');
  return body.startsWith('0') || new Set(body).size !== 9 ? digitTable(r) : body;
}

function mod1110(id: string): boolean {
  let p = 10;
  for (const d of id.slice(0, 10)) {
    const s = (Number(d) + p) % 10;
    p = (2 * (s === 0 ? 10 : s)) % 11;
  }
  return (p + Number(id[10])) % 10 === 1;
}

/** By rule id: how a valid number looks, and the word it needs before it (none: it stands for itself). */
export const NATIONAL: Readonly<Record<string, { make: Make; word?: string }>> = {
  'us-ssn': { make: (r) => `${r.int(101, 665)}-${r.int(10, 99)}-${r.int(1000, 9999)}` },
  'us-itin': {
    make: (r) => `9${r.digits(2)}-${r.pick(['50', '65', '70', '88', '92', '94'])}-${r.digits(4)}`,
  },
  'ca-sin': {
    make: (r) => {
      const body = `${r.int(1, 7)}${r.digits(7)}`;
      return `${body}${luhnDigit(body)}`.replace(/^(...)(...)/, '$1-$2-');
    },
    word: 'SIN',
  },
  'mx-curp': {
    make: tried(
      (r) => `G${r.pick(['A', 'O'])}RC${yymmdd(r)}HDFRRL0`,
      TEN,
      // Ñ follows N, so letters after it count one more than in base 36.
      (id) => {
        const value = (c: string): number => Number.parseInt(c, 36) + (c >= 'O' ? 1 : 0);
        return [...id].reduce((t, c, i) => t + value(c) * (18 - i), 0) % 10 === 0;
      },
    ),
  },
  'br-cpf': {
    make: tried(
      (r) => r.digits(9),
      HUNDRED,
      (id) => {
        const check = (n: number): number => {
          const rest = (10 * sum(id, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].slice(10 - n))) % 11;
          return rest === 10 ? 0 : rest;
        };
        return check(9) === Number(id[9]) && check(10) === Number(id[10]);
      },
      /^(...)(...)(...)/,
      '$1.$2.$3-',
    ),
  },
  'cl-rut': {
    make: tried(
      (r) => `${r.int(10, 26)}${r.digits(6)}`,
      [...TEN, 'K'],
      (id) => {
        const check = id[8] === 'K' ? 10 : Number(id[8]);
        return (sum(id.slice(0, 8), [3, 2, 7, 6, 5, 4, 3, 2]) + check) % 11 === 0;
      },
      /^(..)(...)(...)/,
      '$1.$2.$3-',
    ),
  },
  'ar-cuil': {
    make: tried(
      (r) => `20${r.digits(8)}`,
      TEN,
      divides(11, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]),
      /^(..)(.{8})/,
      '$1-$2-',
    ),
  },
  'uk-nino': {
    make: (r) =>
      `${r.pick(['AB', 'JM', 'PX'])} ${two(r.int(0, 99))} ${r.digits(2)} ${r.digits(2)} ${r.pick(['A', 'D'])}`,
  },
  'uk-nhs': {
    make: tried((r) => r.digits(9), TEN, divides(11, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])),
    word: 'NHS number',
  },
  'de-steuer-id': { make: tried(digitTable, TEN, mod1110), word: 'Steuer-ID' },
  'fr-nir': {
    make: tried(
      (r) => `${r.int(1, 2)}${r.digits(2)}${two(r.int(1, 12))}${r.int(10, 95)}${r.digits(6)}`,
      HUNDRED,
      (id) =>
        Number((BigInt(id.slice(0, 13)) + BigInt(id.slice(13))) % 97n) === 0 &&
        Number(id.slice(13)) > 0 &&
        Number(id.slice(13)) < 98,
    ),
    word: 'sécurité sociale',
  },
  'es-dni': {
    make: (r) => {
      const body = r.digits(8);
      return body + 'TRWAGMYFPDXBNJZSQVHLCKE'.charAt(Number(body) % 23);
    },
    word: 'DNI',
  },
  'it-codice-fiscale': {
    make: tried(
      (r) => `RSSMRA${two(r.int(30, 99))}T${two(r.int(1, 28))}H${r.digits(3)}`,
      LETTERS,
      (id) => {
        const odd = 'BAKPLCQDREVOSFTGUHMINJWZYX';
        const value = (c: string): number => (/\d/.test(c) ? Number(c) : LETTERS.indexOf(c));
        const total = [...id.slice(0, 15)].reduce(
          (t, c, i) => t + (i % 2 === 1 ? value(c) : odd.indexOf(LETTERS[value(c)] as string)),
          0,
        );
        return LETTERS[total % 26] === id[15];
      },
    ),
  },
  'nl-bsn': {
    make: tried((r) => `${r.int(1, 9)}${r.digits(7)}`, TEN, divides(11, [9, 8, 7, 6, 5, 4, 3, 2, -1])),
    word: 'BSN',
  },
  'be-national-number': {
    make: tried(
      (r) => yymmdd(r) + r.digits(3),
      HUNDRED,
      (id) =>
        Number(id.slice(9)) > 0 &&
        (Number(id.slice(0, 9)) + Number(id.slice(9))) % 97 === 0 &&
        Number(id.slice(9)) < 98,
      /^(..)(..)(..)(...)/,
      '$1.$2.$3-$4.',
    ),
  },
  'pt-nif': {
    make: tried((r) => `2${r.digits(7)}`, TEN, divides(11, [9, 8, 7, 6, 5, 4, 3, 2, 1])),
    word: 'NIF:',
  },
  'ch-ahv': {
    make: tried(
      (r) => `756${r.digits(9)}`,
      TEN,
      divides(10, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]),
      /^(...)(....)(....)/,
      '$1.$2.$3.',
    ),
  },
  'at-svnr': {
    make: (r) =>
      until(() => {
        const [serial, birth] = [`${r.int(1, 9)}${r.digits(2)}`, ddmmyy(r)];
        const check = sum(serial + birth, [3, 7, 9, 5, 8, 4, 2, 1, 6]) % 11;
        return check === 10 ? null : `${serial}${check} ${birth}`;
      }),
    word: 'SVNR',
  },
  'ie-pps': {
    make: tried(
      (r) => r.digits(7),
      [...'ABCDEFGHIJKLMNOPQRSTUVW'],
      (id) => sum(id, [8, 7, 6, 5, 4, 3, 2]) % 23 === 'WABCDEFGHIJKLMNOPQRSTUV'.indexOf(id[7] as string),
    ),
    word: 'PPSN',
  },
  'ru-snils': {
    make: tried(
      (r) => `1${r.digits(8)}`,
      HUNDRED,
      (id) => {
        const rest = sum(id, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101;
        return (rest === 100 ? 0 : rest) === Number(id.slice(9));
      },
      /^(...)(...)(...)/,
      '$1-$2-$3 ',
    ),
  },
  'tr-tckn': {
    make: tried(
      (r) => `${r.int(1, 9)}${r.digits(8)}`,
      HUNDRED,
      (id) => {
        // The published 7 * odd - even, with 9 for -1: the same remainder modulo 10.
        const tenth = sum(id, [7, 9, 7, 9, 7, 9, 7, 9, 7]) % 10;
        return Number(id[9]) === tenth && sum(id, Array(10).fill(1)) % 10 === Number(id[10]);
      },
    ),
    word: 'TC Kimlik No',
  },
  'za-id': {
    make: (r) => {
      const body = `${yymmdd(r)}${r.digits(4)}08`;
      return body + luhnDigit(body);
    },
    word: 'ID number',
  },
  'se-personnummer': {
    make: (r) => {
      const body = yymmdd(r) + r.digits(3);
      return `${body.slice(0, 6)}-${body.slice(6)}${luhnDigit(body)}`;
    },
  },
  'no-fodselsnummer': {
    make: tried(
      (r) => ddmmyy(r) + r.digits(3),
      HUNDRED,
      (id) =>
        sum(id, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
        sum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
    ),
    word: 'fødselsnummer',
  },
  'dk-cpr': { make: (r) => `${ddmmyy(r)}-${r.digits(4)}`, word: 'CPR' },
  'fi-hetu': {
    make: (r) => {
      const [birth, serial] = [ddmmyy(r).replace(/^2/, '1'), r.int(100, 899)];
      return `${birth}-${serial}${'0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(`${birth}${serial}`) % 31]}`;
    },
  },
  'pl-pesel': {
    make: tried((r) => yymmdd(r) + r.digits(4), TEN, divides(10, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1])),
    word: 'PESEL',
  },
  'in-pan': { make: (r) => `ABCP${r.letters(1)}${r.int(1000, 9999)}${r.letters(1)}`, word: 'PAN' },
  'cn-resident-id': {
    make: tried(
      (r) => `110101${r.int(1950, 1999)}${two(r.int(1, 12))}${two(r.int(1, 28))}${r.digits(3)}`,
      [...TEN, 'X'],
      (id) => {
        const total = [...id].reduce((t, c, i) => t + (c === 'X' ? 10 : Number(c)) * (2 ** (17 - i) % 11), 0);
        return total % 11 === 1;
      },
    ),
    word: '身份证',
  },
  'jp-my-number': {
    make: (r) =>
      until(() => {
        const body = r.digits(11);
        const rest = [...body].reverse().reduce((t, c, i) => t + Number(c) * (i < 6 ? i + 2 : i - 4), 0) % 11;
        return body + (rest <= 1 ? 0 : 11 - rest);
      }),
    word: 'マイナンバー',
  },
  'kr-rrn': {
    make: tried(
      (r) => `${yymmdd(r)}${r.int(1, 2)}${r.digits(5)}`,
      TEN,
      (id) => (11 - (sum(id, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(id[12]),
      /^(.{6})/,
      '$1-',
    ),
  },
  'tw-id': {
    make: tried(
      (r) => `A${r.int(1, 2)}${r.digits(7)}`,
      TEN,
      (id) => (1 + sum(id.slice(1), [8, 7, 6, 5, 4, 3, 2, 1, 1])) % 10 === 0,
    ),
    word: '身分證',
  },
  'hk-id': {
    make: tried(
      (r) => r.letters(1) + r.digits(6),
      [...TEN, 'A'],
      (id) => (36 * 9 + sum(id, [8, 7, 6, 5, 4, 3, 2, 1])) % 11 === 0,
      /(.)$/,
      '($1)',
    ),
  },
  'sg-nric': {
    make: (r) => {
      const body = r.digits(7);
      return `S${body}${'JZIHGFEDCBA'[sum(body, [2, 7, 6, 5, 4, 3, 2]) % 11]}`;
    },
    word: 'NRIC',
  },
  'au-tfn': {
    make: tried((r) => r.digits(8), TEN, divides(11, [1, 4, 3, 7, 5, 8, 6, 9, 10])),
    word: 'TFN',
  },
  'au-medicare': {
    make: (r) => {
      const body = `${r.int(2, 6)}${r.digits(7)}`;
      return `${body.slice(0, 4)} ${body.slice(4)}${sum(body, [1, 3, 7, 9, 1, 3, 7, 9]) % 10} 1`;
    },
    word: 'Medicare',
  },
  'il-id': {
    make: (r) => {
      const body = `${r.int(1, 3)}${r.digits(7)}`;
      return body + luhnDigit(body);
    },
    word: 'תעודת זהות',
  },
  passport: {
    make: (r) =>
      r.pick([
        `C0${r.digits(1)}X${r.digits(2)}T4${r.digits(1)}`,
        `${r.int(1, 9)}${r.digits(8)}`,
        `12AB${r.digits(5)}`,
      ]),
    word: 'passport no.',
  },
};
