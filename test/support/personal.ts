import type { Hit, Rule } from '../../src/guard/rule.js';
import { scanText } from '../../src/guard/scan.js';
import { seeded } from './secrets.js';

// Samples are made when a test runs: none that is valid stands in the repository. The check digits are computed
// here in another way than in src/, from the descriptions, so that one mistake is not made twice.

export interface Random {
  int(from: number, to: number): number;
  pick<T>(values: readonly T[]): T;
  digits(count: number): string;
  letters(count: number, from?: string): string;
}

/** The same samples in every run. */
export function random(seed: number): Random {
  const next = seeded(seed);
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  const pick = <T>(values: readonly T[]): T => values[int(0, values.length - 1)] as T;
  const many = (count: number, from: string): string =>
    Array.from({ length: count }, () => pick([...from])).join('');
  return {
    int,
    pick,
    digits: (count) => many(count, '0123456789'),
    letters: (count, from = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') => many(count, from),
  };
}

/** What the rules find in a text, each rule by itself: one does not take a hit from another. */
export const findAll = (rules: readonly Rule[], text: string): Hit[] =>
  rules.flatMap((rule) => scanText(text, listOf(rule)));

const lists = new WeakMap<Rule, readonly Rule[]>();

/** The engine keeps what it knows of a list of rules by the list. */
function listOf(rule: Rule): readonly Rule[] {
  const list = lists.get(rule) ?? [rule];
  lists.set(rule, list);
  return list;
}

/** A number as people write it down: in sentences, tables, data, logs, letters. */
export const CONTEXTS: readonly ((sample: string) => string)[] = [
  (s) => s,
  (s) => `He paid with ${s} on Monday.`,
  (s) => `It is ${s}.`,
  (s) => `value: ${s}`,
  (s) => `Value:${s}\n`,
  (s) => `{"name":"x","value":"${s}","n":1}`,
  (s) => `17,${s},2027-01,paid`,
  (s) => `a;"${s}";b`,
  (s) => `'${s}'`,
  (s) => `(${s})`,
  (s) => `- ${s}\n- other`,
  (s) => `| 3 | ${s} | x |`,
  (s) => `value=${s}&next=1`,
  (s) => `<td>${s}</td>`,
  (s) => `first line\n${s}\nlast line`,
  (s) => `got ${s}, then nothing; why?`,
  (s) => `"${s}"`,
  (s) => `\`${s}\``,
  (s) => JSON.stringify(`first line\n${s}\nlast line`),
  (s) => `const value = '${s}';`,
  (s) => `[12:30:01] INFO charged ${s} ok`,
];

export const grouped = (text: string, sizes: readonly number[], joint: string): string => {
  const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  return sizes.map((size, i) => text.slice(starts[i], (starts[i] ?? 0) + size)).join(joint);
};

/** The digit that makes `body` + digit pass Luhn, found by trying. */
export function luhnDigit(body: string): string {
  const passes = (digits: string): boolean =>
    [...digits].reverse().reduce((sum, digit, i) => {
      const twice = String(Number(digit) * (i % 2 === 0 ? 1 : 2));
      return sum + [...twice].reduce((total, part) => total + Number(part), 0);
    }, 0) %
      10 ===
    0;
  return [...'0123456789'].find((digit) => passes(body + digit)) as string;
}

const withLuhn = (r: Random, prefix: string, length: number): string => {
  const body = prefix + r.digits(length - 1 - prefix.length);
  return body + luhnDigit(body);
};

/** Prefixes and lengths by issuer, and how each is printed. */
export const CARDS: Readonly<Record<string, (r: Random) => string>> = {
  visa: (r) => withLuhn(r, '4', 16),
  visa13: (r) => withLuhn(r, '4', 13),
  visa19: (r) => withLuhn(r, '4', 19),
  mastercard: (r) => withLuhn(r, r.pick(['51', '52', '53', '54', '55', '2221', '23', '26', '2720']), 16),
  amex: (r) => withLuhn(r, r.pick(['34', '37']), 15),
  discover: (r) => withLuhn(r, r.pick(['6011', '644', '649', '65']), 16),
  diners: (r) => withLuhn(r, r.pick(['300', '305', '36', '38']), 14),
  jcb: (r) => withLuhn(r, r.pick(['3528', '3550', '3589']), 16),
  unionpay: (r) => withLuhn(r, '62', 16),
  maestro: (r) => withLuhn(r, r.pick(['5018', '56', '58', '6304', '6759']), r.pick([12, 16])),
  mir: (r) => withLuhn(r, r.pick(['2200', '2204']), 16),
  rupay: (r) => withLuhn(r, r.pick(['60', '81', '82', '508']), 16),
};

export function groupCard(card: string, joint: string): string {
  const sizes: Record<number, number[]> = {
    12: [4, 4, 4],
    13: [4, 4, 4, 1],
    14: [4, 6, 4],
    15: [4, 6, 5],
    19: [4, 4, 4, 4, 3],
  };
  return grouped(card, sizes[card.length] ?? [4, 4, 4, 4], joint);
}

/** Check digits by the rule of ISO 13616, with whole integers. */
export function iban(r: Random, country: string, length: number): string {
  const account = r.letters(4) + r.digits(length - 8);
  const asDigits = [...`${account}${country}00`].map((char) => Number.parseInt(char, 36)).join('');
  return `${country}${String(98n - (BigInt(asDigits) % 97n)).padStart(2, '0')}${account}`;
}

const LOCAL = [
  ...['anna', 'b.keller', 'j_doe', 'tom+news', 'x1', 'maria-jose', "o'neill", 'first.last'],
  ...['4711', 'dev%ops'],
];
const HOSTS = 'gmail firma mail.corp uni-bonn a1 my-company.mail posteo hotmail sub.of.sub'.split(' ');
const TOPS = ['com', 'de', 'org', 'co.uk', 'io', 'museum', 'online', 'fr', 'com.br', 'rs'];

export const email = (r: Random): string => `${r.pick(LOCAL)}@${r.pick(HOSTS)}.${r.pick(TOPS)}`;

const nanp = (r: Random): [string, string, string] => [
  `${r.int(2, 9)}${r.int(0, 8)}${r.int(2, 9)}`,
  `${r.int(2, 9)}${r.int(2, 9)}${r.int(2, 9)}`,
  r.digits(4),
];

export const PHONES: Readonly<Record<string, (r: Random) => string>> = {
  e164: (r) => `+${r.pick(['49', '33', '44', '91', '55', '61', '353', '420'])}${r.int(1, 9)}${r.digits(8)}`,
  grouped: (r) => `+49 ${r.int(1, 9)}${r.digits(2)} ${r.digits(4)} ${r.digits(3)}`,
  dashed: (r) => `+44-20-${r.digits(4)}-${r.digits(4)}`,
  trunk: (r) => `+43 (0)${r.int(1, 9)} ${r.digits(3)} ${r.digits(4)}`,
  american: (r) => `+1 ${nanp(r).join('-')}`,
  brackets: (r) =>
    nanp(r).reduce(
      (text, part, i) => (i === 0 ? `(${part})` : i === 1 ? `${text} ${part}` : `${text}-${part}`),
      '',
    ),
  dashes: (r) => nanp(r).join('-'),
};

export const ipv4 = (r: Random): string =>
  `${r.pick([5, 23, 62, 81, 93, 134, 185, 217])}.${r.int(33, 250)}.${r.int(1, 254)}.${r.int(1, 254)}`;
export const ipv6 = (r: Random): string => {
  const group = (): string => r.letters(4, '0123456789abcdef').replace(/^0{1,3}/, '');
  return r.pick([
    `2a02:${group()}:${group()}::${group()}`,
    `2a01:${Array.from({ length: 7 }, group).join(':')}`,
  ]);
};
