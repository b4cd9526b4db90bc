import { describe, expect, it } from 'vitest';
import { guardRules } from '../../src/guard/document.js';
import { cardRules, contactRules, ibanRules } from '../../src/guard/personal.js';
import type { Rule } from '../../src/guard/rule.js';
import { COUNTRIES } from '../../src/guard/rules/numbers.js';
import { scanText } from '../../src/guard/scan.js';
import {
  CARDS,
  CONTEXTS,
  email,
  findAll,
  groupCard,
  grouped,
  iban,
  ipv4,
  ipv6,
  PHONES,
  random,
} from '../support/personal.js';

const CARD_RULES = cardRules();
const CONTACT_RULES = contactRules();
const EMAIL_RULES = CONTACT_RULES.filter((rule) => rule.class === 'email');
const IBAN_LENGTHS = Object.entries(COUNTRIES).flatMap(([length, codes]) =>
  codes.split(' ').map((code) => [code, Number(length)] as const),
);
const IBAN_RULES = ibanRules();
const NETWORK_RULES = CONTACT_RULES.filter((rule) => rule.class === 'ip');
const PHONE_RULES = CONTACT_RULES.filter((rule) => rule.class === 'phone');
const PERSONAL_RULES = guardRules().filter(({ class: name }) =>
  ['card', 'iban', 'national-id', 'email', 'phone', 'ip'].includes(name),
);

/** The samples that are not found, of `count` in every context. */
function missed(rules: readonly Rule[], sample: (n: number) => string, count = 60): string[] {
  const texts = Array.from({ length: count }, (_, n) => sample(n)).flatMap((s) =>
    CONTEXTS.map((context) => context(s)),
  );
  return texts.filter((text) => findAll(rules, text).length === 0);
}

const found = (text: string): string[] => [...new Set(findAll(PERSONAL_RULES, text).map((hit) => hit.class))];

describe('payment cards', () => {
  it.each(Object.keys(CARDS))('LTM-13 finds cards of %s, plain and in groups', (issuer) => {
    const r = random(1);
    const card = (): string => CARDS[issuer]?.(r) as string;
    for (const joint of ['', ' ', '-', '.', '\u00a0'])
      expect(
        missed(CARD_RULES, () => `${joint === '' ? 'card ' : ''}${groupCard(card(), joint)}`),
        `joint ${joint}`,
      ).toEqual([]);
  });

  it('LTM-13 finds ungrouped numbers only near a word in the language of the country', () => {
    const card = CARDS.visa?.(random(12)) as string;
    for (const text of [
      `Kreditkarte: ${card}`,
      `card_number=${card}`,
      `tarjeta ${card}`,
      `信用卡 ${card}`,
      `${card} (Visa)`,
    ])
      expect(found(text), text).toEqual(['card']);
    for (const text of [card, `order ${card}`, `id=${card}`, `17,${card},paid`])
      expect(found(text), text).toEqual([]);
  });

  it('LTM-13 finds a card before its date and code and after a row number', () => {
    const card = groupCard(CARDS.visa?.(random(2)) as string, ' ');
    for (const text of [
      `${card} 12/27`,
      `${card} 123`,
      `7 ${card}`,
      `2024 ${card}`,
      `Visa:${card}`,
      `Card No.${card}`,
    ])
      expect(found(text), text).toContain('card');
  });

  it('LTM-13 finds none inside other values', () => {
    const card = CARDS.visa?.(random(4)) as string;
    for (const text of [
      `0.${card}`,
      `${card}.5`,
      `a${card}`,
      `${card}n`,
      `1${card}7`,
      `550e8400-e29b-41d4-a716-${CARDS.maestro?.(random(9)).slice(0, 12)}`,
      `https://x.org/status/${card}`,
      `id_${card}`,
      `arn:aws:iam::${CARDS.maestro?.(random(9)).slice(0, 12)}:role/x`,
      `EAN-13 ${CARDS.visa13?.(random(9))}`,
      '4'.repeat(16),
      `${'0'.repeat(15)}0`,
    ])
      expect(found(text).includes('card'), text).toBe(false);
  });

  it('LTM-13 finds none in timestamps, and hardly any in snowflake ids', () => {
    const r = random(5);
    const numbers = Array.from({ length: 2000 }, () => [
      `1${r.digits(12)}`,
      `1${r.digits(15)}`,
      `1${r.digits(18)}`,
      r.int(1, 9) + r.digits(17),
    ]);
    const hits = numbers.flat().filter((text) => found(text).includes('card'));
    expect(hits.filter((text) => text.length !== 18)).toEqual([]);
    expect(hits.length).toBeLessThan(20);
  });

  it('LTM-13 finds none with a wrong check digit', () => {
    const r = random(6);
    const card = CARDS.visa?.(r) as string;
    const wrong = [...'0123456789']
      .filter((digit) => digit !== card.at(-1))
      .map((digit) => card.slice(0, -1) + digit);
    expect(wrong.filter((text) => found(text).includes('card'))).toEqual([]);
  });
});

describe('IBANs', () => {
  it.each(IBAN_LENGTHS)('LTM-13 finds IBANs of %s with %i characters', (country, length) => {
    const r = random(length);
    expect(missed(IBAN_RULES, () => iban(r, country, length), 5)).toEqual([]);
    expect(missed(IBAN_RULES, () => iban(r, country, length).replace(/.{4}(?=.)/g, '$& '), 5)).toEqual([]);
  });

  it('LTM-13 finds them in lower case near the word or in groups, without the words that follow', () => {
    const number = iban(random(1), 'AT', 20);
    const spaced = number.replace(/.{4}(?=.)/g, '$& ');
    expect(found(`"iban":"${number.toLowerCase()}"`)).toContain('iban');
    expect(found(spaced.toLowerCase())).toContain('iban');
    const [hit] = findAll(IBAN_RULES, `${spaced} PAID 12`);
    expect(hit?.end).toBe(spaced.length);
  });

  it('LTM-13 finds none inside longer words, of another length or with wrong check digits', () => {
    const number = iban(random(2), 'DE', 22);
    const other = `DE${String((Number(number.slice(2, 4)) + 1) % 97).padStart(2, '0')}${number.slice(4)}`;
    for (const text of [
      `x${number}`,
      `${number}1`,
      number.slice(0, -1),
      other,
      number.toLowerCase(),
      `ZZ${number.slice(2)}`,
      `12345678-${number.toLowerCase().replace(/.{4}(?=.)/g, '$&-')}`,
    ])
      expect(found(text).includes('iban'), text).toBe(false);
  });
});

describe('e-mail addresses', () => {
  it('LTM-13 finds them in every context', () => {
    const r = random(1);
    expect(missed(EMAIL_RULES, () => email(r), 200)).toEqual([]);
    for (const text of [
      `<${email(r)}>`,
      `mailto:${email(r)}`,
      `Bob ${email(r)}: hello`,
      `_${email(r)}_`,
      `**${email(r)}**`,
      `${email(r)}:pass/word`,
      ['jürgen', 'müller-söhne.de'].join('@'),
    ])
      expect(found(text), text).toEqual(['email']);
  });

  it.each([
    [
      'addresses that nobody reads',
      'noreply@anthropic.com 12+bob@users.noreply.github.com no-reply@x.io bot@ci.io x+noreply@y.org',
    ],
    [
      'reserved domains',
      'a@example.com b@mail.example.org c@x.test d@y.invalid e@z.localhost f@foo.example g@example.co.uk',
    ],
    [
      'remotes',
      'git@github.com:me/x.git git@host.corp.net:team/app deploy@build.corp.net:/srv/x ssh://jo@host.corp.net/x https://jo:pw@host.corp.net/x',
    ],
    [
      'packages and versions',
      'pkg@1.2.3 @scope/x@2.0.0-rc.one npm i left-pad@^1.3.0 actions/checkout@v4.1.x',
    ],
    ['pictures and files', 'icon@2x.png logo@3x.svg a@b.ts notes@home.md getty@tty1.service'],
    ['code', '@Injectable() this@Main.getString() a@b.multiply(c) user@host root@localhost return@forEach.x'],
  ])('LTM-13 finds none in %s', (_what, text) => {
    expect(findAll(EMAIL_RULES, text)).toEqual([]);
  });
});

describe('phone numbers', () => {
  it.each(Object.keys(PHONES))('LTM-13 finds %s', (form) => {
    const r = random(1);
    const phone = (): string => PHONES[form]?.(r) as string;
    // `value=+49…` and `Value:(212)…` are as good as any, a number behind a digit and a space is none.
    expect(missed(PHONE_RULES, phone, 30)).toEqual([]);
  });

  it('LTM-13 finds national forms near a word for a phone number', () => {
    const r = random(2);
    for (const text of [
      `Tel. 0${r.int(30, 99)} / ${r.digits(7)}`,
      `mobile: 06 ${grouped(r.digits(8), [2, 2, 2, 2], ' ')}`,
      `"phone":"0171${r.digits(7)}"`,
    ])
      expect(found(text), text).toEqual(['phone']);
  });

  it.each([
    ['dates and times', 'phone 2024-01-31 12:30:15.123 2024-01-31T12:30:15+02:00 +0200 call 20240131'],
    [
      'diffs and ranges',
      '+10 -3 @@ -120,7 +120,9 @@ 12 files changed, 3456 insertions(+), 7890123 deletions(-)',
    ],
    ['versions and ids', 'v1.2.3 +1.2.3 1.20.300.4000 0x+4915112345 ISBN 978-3-16-148410-0 CVE-2024-123456'],
    ['film numbers', '(212) 555-0123 +1 415 555 0199 +44 7700 900123 (555) 123-4567 555-123-4567'],
    ['numbers in code', 'system call 123456789 cell 1234567891 phone 1234567890 call 0x123456789'],
    ['sums', 'a+49151234567 = b; x = 3 +1234567890 1690000000'],
  ])('LTM-13 finds none in %s', (_what, text) => {
    expect(findAll(PHONE_RULES, text)).toEqual([]);
  });
});

describe('IP addresses', () => {
  it('LTM-13 finds public ones', () => {
    const r = random(1);
    expect(missed(NETWORK_RULES, () => ipv4(r))).toEqual([]);
    expect(missed(NETWORK_RULES, () => ipv6(r))).toEqual([]);
    for (const text of [`http://${ipv4(r)}:8080/`, `${ipv4(r)}/32`, `[${ipv6(r)}]:443`])
      expect(found(text), text).toEqual(['ip']);
  });

  it.each([
    [
      'private and reserved ones',
      '10.1.2.3 172.16.9.9 172.31.255.254 192.168.77.1 127.0.0.1 169.254.4.5 100.64.40.1 0.0.0.0 255.255.255.255 224.0.0.251',
    ],
    ['those for documents', '192.0.2.44 198.51.100.77 203.0.113.99 2001:db8::1 2001:0db8:0:0::99 3fff::1'],
    ['resolvers', '8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 2001:4860:4860::8888'],
    [
      'versions',
      'v61.42.53.64 version 61.42.53.64 V8 12.7.224.62 node: v8 12.7.224.62 61.42.53.64-beta pkg@61.42.53.64 Chrome/120.0.61.64 "version": "61.42.53.64" ^61.42.53.64',
    ],
    [
      'identifiers and sections',
      '1.2.840.113549.1.1 § 5.6.7.8 section 5.6.7.8 61.42.53.64.75 2.5.4.3 // 23.3.3.1 construct',
    ],
    ['local IPv6', '::1 fe80::1 fd00::1234 ff02::1 ::'],
    [
      'code and times',
      'std::vector<x>::y 12:34:56 2024:10:12 aa:bb:cc:dd:ee:ff a::before crate::de::be 2a02::/*',
    ],
  ])('LTM-13 finds none in %s', (_what, text) => {
    expect(findAll(NETWORK_RULES, text)).toEqual([]);
  });
});

describe('all of them', () => {
  it.each([
    ...['1', 'a@', '1.1.1.1.', '::', ' ', '4111 ', '+1 ', 'a.', 'iban ', 'DE12 ', 'phone 1', "a'"],
    ...['2a02:', 'A1', '1-', '('],
  ])('LTM-13 take time in proportion to a text of nothing but %j', (piece) => {
    // A quadratic pattern needs longer for this than a test may take.
    expect(scanText(piece.repeat(1_000_000 / piece.length), PERSONAL_RULES)).toBeInstanceOf(Array);
  });
});
