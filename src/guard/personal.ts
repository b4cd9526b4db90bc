import { BlockList, isIPv4, isIPv6 } from 'node:net';
import {
  after,
  BEGIN,
  bare,
  before,
  END,
  inTable,
  keywordsOf,
  LONG_NUMBER,
  luhn,
  mentions,
  mod97,
} from './numbers.js';
import { lazyRule, type Rule } from './rule.js';
import {
  CONTACTS,
  COUNTRY,
  FICTIONAL,
  FILE_ENDING,
  LABEL,
  NO_PERSON,
  NOBODY,
  PHONE_WORDS,
  RESERVED,
  VERSION_BEFORE,
  WELL_KNOWN,
} from './rules/contacts.js';
import { CARD_WORDS, CARDS, COUNTRIES, FIRST_FOUR, ISSUERS, NO_HOSTS } from './rules/numbers.js';

const cardWords = CARD_WORDS.split('|');
const isCalledCard = mentions(cardWords);

/** Whether digits are a card number. Ungrouped digits also need a word: one number in ten has a valid check digit. */
function isCard(text: string, match: RegExpExecArray): boolean {
  const digits = bare(text);
  const issuer = ISSUERS.find(([prefix, lengths]) => prefix.test(digits) && lengths.includes(digits.length));
  // Six equal digits are a test card.
  if (!issuer || !luhn(digits) || /(\d)\1{5}/.test(digits)) return false;
  return /^\d{4,6}\D/.test(text) ? !inTable(match) : isCalledCard(match);
}

const NEAR_WORD: Partial<Rule> = { keywords: keywordsOf(cardWords), reach: [50, 140] };
const GROUPED: Partial<Rule> = { keywords: [], anchor: LONG_NUMBER, reach: [4, 80] };
const ISO_7812 = 'https://www.iso.org/standard/70484.html';

export const cardRules = (): readonly Rule[] =>
  CARDS.map(([id, groups]) => {
    const where = groups.startsWith('(') ? GROUPED : NEAR_WORD;
    const [name, what] = ['card' as const, 'payment card number'];
    const rule = { id, class: name, what, source: ISO_7812, keywords: [], ...where, accept: isCard };
    return lazyRule(rule, () => new RegExp(`${BEGIN}${FIRST_FOUR}${groups}${END}`, 'g'));
  });

const IBAN_JOINT = '[ \\-\u00a0\u202f]?';

/** Exact groups by country, so that capitals or digits after an IBAN are not part of it. */
function shape(length: number, codes: string): string {
  const groups = `(?:${IBAN_JOINT}[A-Z0-9]{4}){${Math.floor((length - 4) / 4)}}`;
  const rest = length % 4 === 0 ? '' : `${IBAN_JOINT}[A-Z0-9]{${length % 4}}`;
  return `(?:${codes.replaceAll(' ', '|')})\\d\\d${groups}${rest}`;
}

const anyCountry = (): string =>
  Object.entries(COUNTRIES)
    .map(([length, codes]) => shape(Number(length), codes))
    .join('|');

const calledIban = mentions(['iban', 'account', 'konto', 'compte', 'cuenta', 'conto', 'rekening']);

function isIban(text: string, match: RegExpExecArray): boolean {
  const iban = bare(text);
  // In lower case without a space it may be a hash or part of a UUID.
  if (/^[a-z0-9-]+$/.test(text) && !calledIban(match)) return false;
  // Computed check digits are 02 to 98. 00, 01 and 99 can only fit by chance.
  if (/^..(?:0[01]|99)/.test(iban)) return false;
  return mod97(iban.slice(4) + iban.slice(0, 4)) === 1;
}

export const ibanRules = (): readonly Rule[] => [
  lazyRule(
    {
      id: 'iban',
      class: 'iban',
      what: 'international bank account number',
      source: 'https://www.swift.com/standards/data-standards/iban-international-bank-account-number',
      keywords: [],
      // The shortest IBAN has 15 characters. Flag `i` would make this ten times slower.
      anchor: /(?<!(?<!\\)[0-9A-Za-z])[A-Za-z]{2}\d\d(?:[ \-\u00a0\u202f]?[A-Za-z0-9]){11}/g,
      accept: isIban,
    },
    () => new RegExp(`(?<!(?<!\\\\)[0-9A-Za-z])(?:${anyCountry()})(?![0-9A-Za-z])`, 'iy'),
  ),
];

const URL_USER = /:\/\/[^\s/@'"<>]{0,80}$/;
const REMOTE_PATH = /^:(?:~|\/|(?:[\w.-]{1,60}\/){2}|[\w.-]{1,60}\.git)/;

function isPersonal(address: string, match: RegExpExecArray): boolean {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at).toLowerCase(), address.slice(at + 1).toLowerCase()];
  if (NOBODY.test(local) || LABEL.test(local) || local.endsWith('.') || local.includes('..')) return false;
  if (RESERVED.test(domain) || NO_PERSON.test(domain) || FILE_ENDING.test(domain)) return false;
  // `pkg@1.2.3-rc.one` is a version, `a@b.multiply(c)` an expression.
  if (/^v?\d{1,8}\.\d/.test(domain) || /(?:^|\.)-|-\./.test(domain)) return false;
  const next = after(match, 64);
  return !(next.startsWith('(') || REMOTE_PATH.test(next) || URL_USER.test(before(match, 100)));
}

const NANP = /^1?[2-9](?!11)\d{2}[2-9](?!11)\d{6}$/;
/** Between two groups. A minus or a slash between spaces is arithmetic. */
const PHONE_JOINT = /^(?:[ .\-/\u00a0\u2009\u202f\u2010-\u2013]|\)|\(| \(|\) |\)-|-\(| - )$/;

const AMERICAN_GROUPS = /^\+1\D{0,2}\d{3}\D{0,2}\d{3}\D?\d{4}/;

const grouping = (text: string): string[] => text.split(/\d+/).filter((joint) => joint !== '');

function isInternational(text: string): boolean {
  const digits = bare(text.slice(1));
  const code = COUNTRY.exec(digits)?.[0];
  if (!code || FICTIONAL.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  if (code === '1') return NANP.test(digits.slice(0, 11)) && AMERICAN_GROUPS.test(text);
  return (
    digits.length - code.length >= 7 && grouping(text.slice(1)).every((joint) => PHONE_JOINT.test(joint))
  );
}

const isAmerican = (text: string): boolean => {
  const digits = bare(text);
  return NANP.test(digits) && !FICTIONAL.test(digits);
};

const CALLED = new RegExp(
  `(?<!(?<!\\\\)[a-z])(?:${PHONE_WORDS})(?:[ _-]?(?:no|nr|num|number|nummer))?(?![a-z])[^\\d\\n]{0,20}$`,
  'i',
);
/** Words that programs use too: an ungrouped number after one may be an address or a count. */
const CALLED_LOOSELY = /\b(?:call|cell|dial|handy|portable)\W{0,20}$/i;
const NO_PHONE =
  /^\d{4}[-./]\d\d?[-./]\d\d?|^\d\d?[-./]\d\d?[-./]\d{4}|^\d{1,3}(?:\.\d{1,3}){3}$|^\d{1,3}(?:[ .]\d{3}){2,3}$|^\d{1,9}\.\d{1,9}$|^1[5-9]\d{8}$|^1234567890?$|^(?:19|20)\d{6}$/;

/** Called a phone number, and starts with a zero, is grouped, or is as long as a mobile number. */
function isNamed(text: string, match: RegExpExecArray): boolean {
  const digits = bare(text);
  if (NO_PHONE.test(text) || FICTIONAL.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  if (digits.length < 7 || digits.length > 13 || !CALLED.test(before(match, 44))) return false;
  if (digits.startsWith('0') || grouping(text).length > 0) return true;
  return digits.length >= 9 && !CALLED_LOOSELY.test(before(match, 24));
}

const isHost = mentions('ip ipv4 host addr address server client remote peer ping from'.split(' '));

let reserved: BlockList | undefined;

/** The addresses that are not those of hosts, and public resolvers. */
function notHosts(): BlockList {
  if (reserved) return reserved;
  reserved = new BlockList();
  for (const block of NO_HOSTS.split(' ')) {
    const [network = '', bits] = block.split('/');
    reserved.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return reserved;
}

function isPublicV4(ip: string, match: RegExpExecArray): boolean {
  // `4.0.0.0` and `12.5.0.0` are versions or networks, not hosts.
  if (!isIPv4(ip) || WELL_KNOWN.test(ip) || ip.endsWith('.0.0') || VERSION_BEFORE.test(before(match, 48)))
    return false;
  // Sections and versions have four low numbers. Addresses of machines hardly ever do.
  if (/^(?:[12]?\d\.?){4}$/.test(ip) && !isHost(match)) return false;
  return !notHosts().check(ip);
}

/** The pattern of the rule matches public addresses only. `2a02::` is a network. */
const isPublicV6 = (ip: string): boolean =>
  isIPv6(ip) && !/^\w+::$/.test(ip) && !notHosts().check(ip, 'ipv6');

const ACCEPT: Readonly<Record<string, NonNullable<Rule['accept']>>> = {
  email: isPersonal,
  'phone-international': isInternational,
  'phone-north-american': isAmerican,
  'phone-named': (text, match) => isNamed(text, match) && !after(match, 3).startsWith('ms'),
  'ip-v4': isPublicV4,
  'ip-v6': isPublicV6,
};

/** E-mail addresses, phone numbers and IP addresses. */
export const contactRules = (): readonly Rule[] =>
  CONTACTS.map((rule) => ({ ...rule, accept: ACCEPT[rule.id] as NonNullable<Rule['accept']> }));
