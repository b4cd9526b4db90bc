import { luhnDigit, type Random } from './personal.js';

/** The first of `tails` that makes the number one: check digits found by trying the published condition. */
function complete(body: string, tails: readonly string[], holds: (id: string) => boolean): string | null {
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
const tried = (
  r: Random,
  body: (r: Random) => string,
  tails: readonly string[],
  holds: (id: string) => boolean,
) => until(() => complete(body(r), tails, holds));

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
export const NATIONAL: Readonly<Record<string, { make: (r: Random) => string; word?: string }>> = {
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
    make: (r) =>
      tried(
        r,
        () => `G${r.pick(['A', 'O'])}RC${yymmdd(r)}HDFRRL0`,
        TEN,
        // Ñ follows N, so letters after it count one more than in base 36.
        (id) => {
          const value = (c: string): number => Number.parseInt(c, 36) + (c >= 'O' ? 1 : 0);
          return (
            ([...id].slice(0, 17).reduce((t, c, i) => t + value(c) * (18 - i), 0) + Number(id[17])) % 10 === 0
          );
        },
      ),
  },
  'br-cpf': {
    make: (r) =>
      tried(
        r,
        () => r.digits(9),
        HUNDRED,
        (id) => {
          const check = (n: number): number => {
            const rest =
              (sum(
                id,
                Array.from({ length: n }, (_, i) => n + 1 - i),
              ) *
                10) %
              11;
            return rest === 10 ? 0 : rest;
          };
          return check(9) === Number(id[9]) && check(10) === Number(id[10]);
        },
      ).replace(/^(...)(...)(...)/, '$1.$2.$3-'),
  },
  'cl-rut': {
    make: (r) =>
      tried(
        r,
        () => `${r.int(10, 26)}${r.digits(6)}`,
        [...TEN, 'K'],
        (id) => {
          const check = id[8] === 'K' ? 10 : Number(id[8]);
          return (sum(id.slice(0, 8), [3, 2, 7, 6, 5, 4, 3, 2]) + check) % 11 === 0;
        },
      ).replace(/^(..)(...)(...)/, '$1.$2.$3-'),
  },
  'ar-cuil': {
    make: (r) =>
      tried(
        r,
        () => `20${r.digits(8)}`,
        TEN,
        (id) => sum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
      ).replace(/^(..)(.{8})/, '$1-$2-'),
  },
  'uk-nino': {
    make: (r) =>
      `${r.pick(['AB', 'JM', 'PX'])} ${two(r.int(0, 99))} ${r.digits(2)} ${r.digits(2)} ${r.pick(['A', 'D'])}`,
  },
  'uk-nhs': {
    make: (r) =>
      tried(
        r,
        () => r.digits(9),
        TEN,
        (id) => sum(id, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
      ),
    word: 'NHS number',
  },
  'de-steuer-id': { make: (r) => tried(r, digitTable, TEN, mod1110), word: 'Steuer-ID' },
  'fr-nir': {
    make: (r) =>
      tried(
        r,
        () => `${r.int(1, 2)}${r.digits(2)}${two(r.int(1, 12))}${r.int(10, 95)}${r.digits(6)}`,
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
    make: (r) =>
      tried(
        r,
        () => `RSSMRA${two(r.int(30, 99))}T${two(r.int(1, 28))}H${r.digits(3)}`,
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
    make: (r) =>
      tried(
        r,
        () => `${r.int(1, 9)}${r.digits(7)}`,
        TEN,
        (id) => sum(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
      ),
    word: 'BSN',
  },
  'be-national-number': {
    make: (r) =>
      tried(
        r,
        () => yymmdd(r) + r.digits(3),
        HUNDRED,
        (id) =>
          Number(id.slice(9)) > 0 &&
          (Number(id.slice(0, 9)) + Number(id.slice(9))) % 97 === 0 &&
          Number(id.slice(9)) < 98,
      ).replace(/^(..)(..)(..)(...)/, '$1.$2.$3-$4.'),
  },
  'pt-nif': {
    make: (r) =>
      tried(
        r,
        () => `2${r.digits(7)}`,
        TEN,
        (id) => sum(id, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
      ),
    word: 'NIF:',
  },
  'ch-ahv': {
    make: (r) =>
      tried(
        r,
        () => `756${r.digits(9)}`,
        TEN,
        (id) => sum(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
      ).replace(/^(...)(....)(....)/, '$1.$2.$3.'),
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
    make: (r) =>
      tried(
        r,
        () => r.digits(7),
        [...'ABCDEFGHIJKLMNOPQRSTUVW'],
        (id) => sum(id, [8, 7, 6, 5, 4, 3, 2]) % 23 === 'WABCDEFGHIJKLMNOPQRSTUV'.indexOf(id[7] as string),
      ),
    word: 'PPSN',
  },
  'ru-snils': {
    make: (r) =>
      tried(
        r,
        () => `1${r.digits(8)}`,
        HUNDRED,
        (id) => {
          const rest = sum(id, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101;
          return (rest === 100 ? 0 : rest) === Number(id.slice(9));
        },
      ).replace(/^(...)(...)(...)/, '$1-$2-$3 '),
  },
  'tr-tckn': {
    make: (r) =>
      tried(
        r,
        () => `${r.int(1, 9)}${r.digits(8)}`,
        HUNDRED,
        (id) => {
          const d = [...id].map(Number) as [
            number,
            number,
            number,
            number,
            number,
            number,
            number,
            number,
            number,
            number,
            number,
          ];
          const tenth =
            ((((d[0] + d[2] + d[4] + d[6] + d[8]) * 7 - (d[1] + d[3] + d[5] + d[7])) % 10) + 10) % 10;
          return d[9] === tenth && d.slice(0, 10).reduce((a, b) => a + b, 0) % 10 === d[10];
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
    make: (r) =>
      tried(
        r,
        () => ddmmyy(r) + r.digits(3),
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
    make: (r) =>
      tried(
        r,
        () => yymmdd(r) + r.digits(4),
        TEN,
        (id) => sum(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
      ),
    word: 'PESEL',
  },
  'in-pan': { make: (r) => `ABCP${r.letters(1)}${r.int(1000, 9999)}${r.letters(1)}`, word: 'PAN' },
  'cn-resident-id': {
    make: (r) =>
      tried(
        r,
        () => `110101${r.int(1950, 1999)}${two(r.int(1, 12))}${two(r.int(1, 28))}${r.digits(3)}`,
        [...TEN, 'X'],
        (id) => {
          const total = [...id].reduce(
            (t, c, i) => t + (c === 'X' ? 10 : Number(c)) * (2 ** (17 - i) % 11),
            0,
          );
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
    make: (r) =>
      tried(
        r,
        () => `${yymmdd(r)}${r.int(1, 2)}${r.digits(5)}`,
        TEN,
        (id) => (11 - (sum(id, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === Number(id[12]),
      ).replace(/^(.{6})/, '$1-'),
  },
  'tw-id': {
    make: (r) =>
      tried(
        r,
        () => `A${r.int(1, 2)}${r.digits(7)}`,
        TEN,
        (id) => (1 + sum(id.slice(1), [8, 7, 6, 5, 4, 3, 2, 1, 1])) % 10 === 0,
      ),
    word: '身分證',
  },
  'hk-id': {
    make: (r) =>
      tried(
        r,
        () => r.letters(1) + r.digits(6),
        [...TEN, 'A'],
        (id) => (36 * 9 + sum(id, [8, 7, 6, 5, 4, 3, 2, 1])) % 11 === 0,
      ).replace(/(.)$/, '($1)'),
  },
  'sg-nric': {
    make: (r) => {
      const body = r.digits(7);
      return `S${body}${'JZIHGFEDCBA'[sum(body, [2, 7, 6, 5, 4, 3, 2]) % 11]}`;
    },
    word: 'NRIC',
  },
  'au-tfn': {
    make: (r) =>
      tried(
        r,
        () => r.digits(8),
        TEN,
        (id) => sum(id, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
      ),
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
