/** Ranges of cards, accounts and addresses. */

interface Issuer {
  name: string;
  prefix: RegExp;
  lengths: readonly number[];
}

const upTo19 = (first: number): number[] => Array.from({ length: 20 - first }, (_, i) => first + i);

/** Issuer ranges (ISO/IEC 7812). If two overlap, the lengths of both are valid. */
export const ISSUERS: readonly Issuer[] = [
  { name: 'Visa', prefix: /^4/, lengths: [13, 16, 19] },
  { name: 'Mastercard', prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { name: 'American Express', prefix: /^3[47]/, lengths: [15] },
  { name: 'Discover', prefix: /^(?:6011|64[4-9]|65)/, lengths: upTo19(16) },
  { name: 'Diners Club', prefix: /^3(?:0[0-5]|095|6|[89])/, lengths: upTo19(14) },
  { name: 'JCB', prefix: /^35(?:2[89]|[3-8])/, lengths: upTo19(16) },
  { name: 'JCB', prefix: /^(?:2131|1800)/, lengths: [15] },
  { name: 'UnionPay', prefix: /^(?:62|81)/, lengths: upTo19(16) },
  { name: 'Maestro', prefix: /^(?:50|5[6-8]|63|67|0604)/, lengths: upTo19(12) },
  { name: 'Mir', prefix: /^220[0-4]/, lengths: upTo19(16) },
  { name: 'RuPay', prefix: /^(?:60|8[12]|508)/, lengths: [16] },
  { name: 'Troy, Verve, Hipercard', prefix: /^(?:9792|50609|606282)/, lengths: upTo19(16) },
];

export const CARD_WORDS = [
  ...['card', 'credit', 'debit', 'creditcard', 'pan', 'cc', 'visa', 'mastercard', 'amex', 'american express'],
  ...[
    'maestro',
    'unionpay',
    'discover',
    'diners',
    'jcb',
    'kreditkarte',
    'karte',
    'carte',
    'tarjeta',
    'carta',
  ],
  ...['cartão', 'cartao', 'kaart', 'kort', 'kart', 'karta', 'карта', '信用卡', '银行卡', 'カード', '카드'],
];
/** The first four digits of any issuer, so that a row number or a year before a card is not its first group. */
export const FIRST_FOUR = String.raw`(?:4\d{3}|5[0-8]\d\d|2(?:131|2\d\d|[3-6]\d\d|7[012]\d)|1800|0604|3[04-9]\d\d|6\d{3}|8[12]\d\d|9792)`;
const JOINT = '[ .\\-\u00a0\u2009\u202f\u2010-\u2013]{1,3}';
const IN_GROUPS = 'payment card number in groups';

/** The digits after the first four. One rule per grouping, so that a security code is not a fifth group. */
export const CARDS = [
  { id: 'card-number', what: 'payment card number', groups: String.raw`\d{8,15}` },
  { id: 'card-number-grouped', what: IN_GROUPS, groups: `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}` },
  {
    id: 'card-number-short',
    what: IN_GROUPS,
    groups: `(${JOINT})\\d{4}\\1\\d{4}(?:\\1\\d{1,3})?(?!\\1\\d{4}(?!\\d))`,
  },
  {
    id: 'card-number-amex',
    what: 'American Express or Diners card number in groups',
    groups: `(${JOINT})\\d{6}\\1\\d{4,5}`,
  },
  { id: 'card-number-long', what: IN_GROUPS, groups: `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}` },
  { id: 'card-number-two', what: 'payment card number in two groups', groups: `\\d{2}${JOINT}\\d{13}` },
];

/** Countries by the length of their IBAN (SWIFT registry, release 99, and countries that use the format without it). */
export const COUNTRIES: Readonly<Record<number, string>> = {
  15: 'NO',
  16: 'BE',
  18: 'DK FI FK FO GL NL SD',
  19: 'MK SI',
  20: 'AT BA EE KZ LT LU MN XK',
  21: 'CH HR LI LV',
  22: 'BG BH CR DE GB GE IE ME RS VA',
  23: 'AE GI IL IQ OM SO TL',
  24: 'AD CZ ES MD PK RO SA SE SK TN VG',
  25: 'AO CV GW LY MZ PT ST',
  26: 'DZ IR IS TR',
  27: 'BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD',
  28: 'AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG',
  29: 'BR EG PS QA UA YE',
  30: 'JO KW MU',
  31: 'MT SC',
  32: 'LC',
  33: 'RU',
};

/** Addresses of no host: IANA's special registry, multicast, reserved. First and last address of each block. */
export const NOT_GLOBAL: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
];

/** For documentation, benchmarks and overlay identifiers (RFC 3849, RFC 9637, RFC 5180, RFC 7343). */
export const RESERVED_V6: readonly (readonly [network: string, bits: number])[] = [
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['2001:2::', 48],
  ['2001:10::', 28],
  ['2001:20::', 28],
];

export const RESOLVERS_V6 = [
  '2001:4860:4860::8888',
  '2001:4860:4860::8844',
  '2606:4700:4700::1111',
  '2606:4700:4700::1001',
  '2620:fe::fe',
  '2620:fe::9',
];
