import { describe, expect, it } from 'vitest';
import { guardRules } from '../../src/guard/document.js';
import type { Rule } from '../../src/guard/rule.js';
import { scanText } from '../../src/guard/scan.js';
import { crcBody, run, seeded } from '../support/secrets.js';

const RULES = guardRules();
const random = seeded(11);
const PAT = `ghp_${crcBody(random)}`;

/** The rule and the text of each finding. */
const found = (text: string, rules: readonly Rule[] = RULES): string[][] =>
  scanText(text, rules).map(({ rule, start, end }) => [rule, text.slice(start, end)]);

const rule = (id: string, pattern: RegExp, more: Partial<Rule> = {}): Rule => ({
  ...{ id, class: 'secret', what: id, source: 'https://example.org/', keywords: [], pattern },
  ...more,
});
const near = (
  id: string,
  pattern: RegExp,
  anchor: RegExp,
  reach: [number, number],
  more: Partial<Rule> = {},
): Rule => rule(id, pattern, { anchor, reach, ...more });

describe('a sample from public documentation', () => {
  /** `DE`, with the check digits of ISO 13616. */
  const iban = (account: string): string =>
    `DE${String(98n - (BigInt(`${account}131400`) % 97n)).padStart(2, '0')}${account}`;
  const jwt = (signature: string[]): string =>
    [
      'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9',
      'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ',
      signature.join(''),
    ].join('.');
  const basic = (pair: string): string => `Authorization: Basic ${Buffer.from(pair).toString('base64')}`;

  it.each<[string, string, string]>([
    ['a test card', 'card 4242 4242 4242 4242', ['card 4539 1488', '0343 6467'].join(' ')],
    ['a test card for a country', '4000 0027 6000 3184', ['5399 8383 8383', '8381'].join(' ')],
    ['an IBAN of the registry', 'IBAN DE89 3704 0044 0532 0130 00', `IBAN ${iban('100208900987654321')}`],
    [
      'the token of RFC 7519',
      jwt(['dBjftJeZ4CVP-mB92K27', 'uhbUJU1p1r_wW1gFWFOEjXk']),
      jwt(['kXjEOFWFg1Ww_r1p1UJU', 'bhu72K29Bm-PVC4ZeJtfjBd']),
    ],
    ['the credentials of RFC 7617', basic('Aladdin:open sesame'), basic(['Berta:open', 'door7'].join(' '))],
  ])('LTM-13 is not reported: %s', (_, sample, other) => {
    expect(found(sample)).toEqual([]);
    expect(found(`It says ${sample}, so I tried it.`)).toEqual([]);
    expect(found(other)).toHaveLength(1);
  });
});

describe('findings of one text', () => {
  it('LTM-13 stand in the order of the text, and say whether the form alone shows them', () => {
    const text = `Copyright (c) 2024 Acme Corp. All rights reserved\nlet a = f(1);\nlet b = f(2);\nlet c = f(3);\nuser\u200bname, ${PAT}\nada@acme-corp.io\npassword = "${run(random, 'alnum', 20)}"`;
    const hits = scanText(text, RULES);
    expect(hits.map(({ class: name, isCertain }) => [name, isCertain])).toEqual([
      ['proprietary', true],
      ['invisible', true],
      ['secret', true],
      ['email', true],
      ['secret', false],
    ]);
    expect(hits.map(({ start }) => start)).toEqual(hits.map(({ start }) => start).sort((a, b) => a - b));
  });

  it('LTM-13 of one class that overlap are one, with the name of the first rule', () => {
    const [first, second] = [
      rule('first', /cdef/y, { keywords: ['cd'] }),
      rule('second', /abcd/y, { keywords: ['ab'] }),
    ];
    expect(found('abcdef', [first, second])).toEqual([['first', 'abcdef']]);
    expect(found('abcdef', [second, first])).toEqual([['second', 'abcdef']]);
    const inner = rule('inner', /bc/y, { keywords: ['bc'] });
    expect(found('abcd', [second, inner])).toEqual([['second', 'abcd']]);
    // Side by side they are two.
    expect(found('abcdcdef', [first, second])).toEqual([
      ['second', 'abcd'],
      ['first', 'cdef'],
    ]);
  });

  it('LTM-13 of a weaker class are left out inside those of a stronger one, and kept beside them', () => {
    const secret = rule('secret', /ab[cd]{2,4}/y, { keywords: ['ab'] });
    const email = (pattern: RegExp): Rule => rule('email', pattern, { keywords: ['cd'], class: 'email' });
    for (const pattern of [/cd/y, /cdcd/y])
      expect(found('abcdcd', [email(pattern), secret])).toEqual([['secret', 'abcdcd']]);
    const whole = rule('email', /abcd/y, { keywords: ['ab'], class: 'email' });
    expect(found('abcd', [whole, secret])).toEqual([['secret', 'abcd']]);
    expect(found('abccxcde', [email(/cde/y), secret])).toEqual([
      ['secret', 'abcc'],
      ['email', 'cde'],
    ]);
    const longer = rule('email', /xabcd/y, { keywords: ['xa'], class: 'email' });
    expect(found('xabcd', [longer, secret])).toHaveLength(2);
    expect(found('abcd cd abcd', [email(/cd/y), secret]).map(([id]) => id)).toEqual([
      'secret',
      'email',
      'secret',
    ]);
    // A text that a license protects may hold secrets.
    const owned = rule('owned', /abcd/y, { keywords: ['ab'], class: 'proprietary' });
    expect(found('abcd', [owned, secret])).toHaveLength(2);
  });

  it('LTM-13 begin after the one before', () => {
    const pairs = rule('pairs', /aa\w{3}/y, { keywords: ['aa'] });
    expect(found('aaaabcd', [pairs])).toEqual([['pairs', 'aaaab']]);
    expect(found('aaaabaacde', [pairs])).toEqual([
      ['pairs', 'aaaab'],
      ['pairs', 'aacde'],
    ]);
  });

  it('LTM-13 at the end of a line do not go on in the next', () => {
    const token = `${['glp', 'at'].join('')}-${run(random, 'alnum', 20)}`;
    for (const text of [`use ${token}\nnextwordofsixteenletters`, `${token}\n${token}`])
      expect(new Set(found(text).map(([, part]) => part))).toEqual(new Set([token]));
  });

  it('LTM-13 keep their place after a letter that has no lower case of one character', () => {
    expect(found(`\u0130\u0130\u0130 ${PAT} \u0130`)).toEqual([['github-pat', PAT]]);
  });
});

describe('a rule that is searched around its anchors', () => {
  it('LTM-13 finds what is within its reach', () => {
    const around = (reach: [number, number]) => near('around', /\w{1,9}@\w{1,9}/g, /@/g, reach);
    expect(found('abcdef@ghijkl', [around([3, 3])])).toEqual([['around', 'def@gh']]);
    expect(found('abcdef@ghijkl', [around([1, 2])])).toEqual([['around', 'f@g']]);
    const between = near('between', /zz/g, /@/g, [1, 2]);
    expect(found('a@b zz c@d', [between])).toEqual([]);
    expect(found('a@zz c@d zz@', [near('between', /zz/g, /@/g, [2, 3])]).map(([, part]) => part)).toEqual([
      'zz',
      'zz',
    ]);
  });

  it('LTM-13 reads anchors whose reaches meet as one text', () => {
    const joined = (pattern: RegExp): Rule => near('joined', pattern, /@/g, [1, 2]);
    expect(found('a@b@c', [joined(/\w@\w@\w/g)])).toEqual([['joined', 'a@b@c']]);
    expect(found('a@bb@c', [joined(/\w@\w\w@\w/g)])).toEqual([['joined', 'a@bb@c']]);
    expect(found('a@bbb@c', [joined(/\w@\w{3}@\w/g)])).toEqual([]);
  });

  it('LTM-13 continues inside a rejected value', () => {
    const nested = near('nested', /k=(?<secret>\S+)/g, /k=/g, [0, 20], {
      accept: (secret) => !secret.startsWith('k='),
    });
    expect(found('x k=k=good', [nested])).toEqual([['nested', 'good']]);
  });

  it('B-105 ends although its pattern can be empty, and reports no empty finding', () => {
    const empty = near('empty', /z*/g, /ab/g, [0, 2]);
    expect(found('ab zab', [empty])).toEqual([]);
    expect(found('abz ab', [near('empty', /z*/g, /ab/g, [0, 3])])).toEqual([['empty', 'z']]);
  });
});
