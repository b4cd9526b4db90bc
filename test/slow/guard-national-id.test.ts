import { describe, expect, it } from 'vitest';
import { nationalIdRules, verhoeff } from '../../src/guard/national-id.js';
import { NATIONAL } from '../support/national-id.js';
import { CONTEXTS, findAll, random } from '../support/personal.js';

const NATIONAL_ID_RULES = nationalIdRules();

const ids = (text: string): string[] => findAll(NATIONAL_ID_RULES, text).map((hit) => hit.rule);

/** As many other last characters as change the check. */
const spoilt = (id: string): string[] =>
  [...(/\d\)?$/.test(id) ? '0123456789' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')]
    .map((char) => id.replace(/[\dA-Z](\)?)$/, `${char}$1`))
    .filter((other) => other !== id);

describe('national ids', () => {
  it.each(Object.entries(NATIONAL))('LTM-13 finds %s in every context', (id, { make, word }) => {
    const r = random(7);
    const texts = Array.from({ length: 20 }, () => (word ? `${word} ${make(r)}` : make(r))).flatMap(
      (sample) => CONTEXTS.map((context) => context(sample)),
    );
    expect(texts.filter((text) => !ids(text).includes(id))).toEqual([]);
  });

  it.each(Object.entries(NATIONAL).filter(([, { word }]) => word))(
    'LTM-13 does not take %s for one without its word',
    (id, { make }) => {
      const r = random(8);
      expect(
        Array.from({ length: 50 }, () => make(r)).filter((number) => ids(`n ${number}`).includes(id)),
      ).toEqual([]);
    },
  );

  // Those have none: what stands in them is structure alone.
  const UNCHECKED = ['us-ssn', 'us-itin', 'uk-nino', 'dk-cpr', 'in-pan', 'passport', 'au-medicare'];
  it.each(Object.entries(NATIONAL).filter(([id]) => !UNCHECKED.includes(id)))(
    'LTM-13 does not take another check digit for %s',
    (id, { make, word = '' }) => {
      const r = random(9);
      const hits = Array.from({ length: 20 }, () => spoilt(make(r)))
        .flat()
        .filter((number) => ids(`${word} ${number}`).includes(id));
      expect(hits).toEqual([]);
    },
  );

  it('LTM-13 finds Aadhaar numbers in groups, but not years and rows of numbers', () => {
    const r = random(3);
    const body = `${r.int(3, 9)}${r.digits(10)}`;
    const id = [...'0123456789'].map((digit) => body + digit).find(verhoeff) as string;
    const groups = id.replace(/(.{4})(?=.)/g, '$1 ');
    expect(ids(`Aadhaar no. ${groups}.`)).toEqual(['in-aadhaar']);
    // One number in ten of that many digits is one by its check digit: a word has to say so.
    expect(ids(`seen ${groups}.`)).toEqual([]);
    expect(ids(`aadhaar: ${id}`)).toEqual(['in-aadhaar']);
    expect(ids(`seen ${id}; 1 ${groups}; ${groups} 5512; 52BE ${groups}`)).toEqual([]);
    expect(Array.from({ length: 80 }, (_, i) => ids(`${1930 + i} ${1931 + i} ${1932 + i}`)).flat()).toEqual(
      [],
    );
  });

  it('LTM-13 does not take current timestamps for Swedish or Finnish numbers', () => {
    const r = random(5);
    const stamps = Array.from(
      { length: 300 },
      () => `26${r.pick(['01', '07', '12'])}${r.int(10, 28)}-${r.digits(4)}`,
    );
    expect(stamps.flatMap((stamp) => [...ids(stamp), ...ids(`20${stamp}`)])).toEqual([]);
  });

  it.each([
    ['de-steuer-id', ['Steueridentifikationsnummer', 'tax id']],
    ['es-dni', ['documento nacional de identidad', 'DNI', 'national id']],
    ['fr-nir', ['numéro de sécurité sociale', 'social security number']],
    ['cn-resident-id', ['公民身份号码', 'resident identity number']],
    ['sg-nric', ['NRIC', 'identity card no.']],
    ['ru-snils', ['СНИЛС', 'SNILS']],
    ['kr-rrn', ['주민등록번호', 'resident registration number']],
  ])('LTM-13 finds %s with a word of the country or in English, before it or behind', (id, words) => {
    const r = random(11);
    for (const word of words)
      for (const number of Array.from({ length: 20 }, () => NATIONAL[id]?.make(r) ?? ''))
        for (const text of [`${word}: ${number}`, `${number} (${word})`, `| ${word} | ${number} |`])
          expect(ids(text), text).toContain(id);
  });

  it('LTM-13 finds numbers in the grouping of their country without a word', () => {
    const r = random(12);
    const dni = NATIONAL['es-dni']?.make(r).replace(/(..)(...)(...)(.)/, '$1.$2.$3-$4') as string;
    expect(ids(`seen ${dni}`)).toEqual(['es-dni']);
    expect(ids(`seen ${NATIONAL['us-ssn']?.make(r)}`)).toEqual(['us-ssn']);
  });

  it('LTM-13 ignores example numbers', () => {
    for (const number of ['123-45-6789', '078-05-1120', '987-65-4321', '219-09-9999'])
      expect(ids(`SSN ${number}`), number).toEqual([]);
  });

  it('LTM-13 finds a US number without dashes only near its word', () => {
    const ssn = NATIONAL['us-ssn']?.make(random(4)).replaceAll('-', '') as string;
    expect(ids(`SSN: ${ssn}`)).toContain('us-ssn');
    expect(ids(`social_security_number=${ssn}`)).toContain('us-ssn');
    expect(ids(`count: ${ssn}`)).toEqual([]);
  });

  it.each([
    [
      'times and dates',
      '2025-04-14T07:23:25.484198Z 2026-11-21 07:09:10 1763708950123 1763708950 20261121T070910Z 20261121-0709 2026.11.21',
    ],
    ['ids', '550e8400-e29b-41d4-a716-446655440000 1234567890123456789 0xdeadbeef 4611686018427387904'],
    [
      'hashes',
      '235e0e08f1d4 356a192b7913b04c54574d18c28d46e6395428ab da39a3ee5e6b4b0d3255bfef95601890afd80709',
    ],
    ['versions and counts', '1.2.3 10.20.30-40 100 000 000 299 792 458 3.14159265358979 120/120 64-32-1024'],
    ['SSNs that cannot be', '000-12-3456 666-12-3456 123-00-4567 123-45-0000 987-00-1234'],
    [
      'code',
      'Math.sin(123456789) git log -n 20 --since=20240101 passport.use(new Strategy()) passport@0.7.0',
    ],
  ])('LTM-13 finds none in %s', (_what, text) => {
    expect(ids(text)).toEqual([]);
  });
});
