/** Ranges of cards, accounts and addresses. */

const upTo19 = (first: number): number[] => Array.from({ length: 20 - first }, (_, i) => first + i);

/** Issuer ranges (ISO/IEC 7812). If two overlap, the lengths of both are valid. */
export const ISSUERS: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]], // Mastercard
  [/^3[47]/, [15]], // American Express
  [/^(?:6011|64[4-9]|65)/, upTo19(16)], // Discover
  [/^3(?:0[0-5]|095|6|[89])/, upTo19(14)], // Diners Club
  [/^35(?:2[89]|[3-8])/, upTo19(16)], // JCB
  [/^(?:2131|1800)/, [15]], // JCB
  [/^(?:62|81)/, upTo19(16)], // UnionPay
  [/^(?:50|5[6-8]|63|67|0604)/, upTo19(12)], // Maestro
  [/^220[0-4]/, upTo19(16)], // Mir
  [/^(?:60|8[12]|508)/, [16]], // RuPay
  [/^(?:9792|50609|606282)/, upTo19(16)], // Troy, Verve, Hipercard
];

export const CARD_WORDS =
  'card|credit|debit|creditcard|pan|cc|visa|mastercard|amex|american express|maestro|unionpay|discover|diners|jcb|' +
  'kreditkarte|karte|carte|tarjeta|carta|cartão|cartao|kaart|kort|kart|karta|карта|信用卡|银行卡|カード|카드';
/** The first four digits of any issuer, so that a row number or a year before a card is not its first group. */
export const FIRST_FOUR = String.raw`(?:4\d{3}|5[0-8]\d\d|2(?:131|2\d\d|[3-6]\d\d|7[012]\d)|1800|0604|3[04-9]\d\d|6\d{3}|8[12]\d\d|9792)`;
const JOINT = '[ .\\-\u00a0\u2009\u202f\u2010-\u2013]{1,3}';

/** The digits after the first four. One rule per grouping, so that a security code is not a fifth group. */
export const CARDS: readonly (readonly [id: string, groups: string])[] = [
  ['card-number', String.raw`\d{8,15}`],
  ['card-number-grouped', `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}`],
  ['card-number-short', `(${JOINT})\\d{4}\\1\\d{4}(?:\\1\\d{1,3})?(?!\\1\\d{4}(?!\\d))`],
  ['card-number-amex', `(${JOINT})\\d{6}\\1\\d{4,5}`],
  ['card-number-long', `(${JOINT})\\d{4}\\1\\d{4}\\1\\d{4}\\1\\d{1,3}`],
  ['card-number-two', `\\d{2}${JOINT}\\d{13}`],
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

/**
 * Addresses of no host: IANA's special registry, multicast, reserved. For documentation, benchmarks and overlay identifiers
 * (RFC 3849, RFC 9637, RFC 5180, RFC 7343). Public resolvers.
 */
export const NO_HOSTS =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 ' +
  '2001:db8::/32 3fff::/20 2001:2::/48 2001:10::/28 2001:20::/28 ' +
  '2001:4860:4860::8888/128 2001:4860:4860::8844/128 2606:4700:4700::1111/128 2606:4700:4700::1001/128 ' +
  '2620:fe::fe/128 2620:fe::9/128';
