import { describe, expect, it } from 'vitest';
import type { Field } from '../../src/guard/document.js';
import { guardRules, scanFields } from '../../src/guard/document.js';
import type { Rule } from '../../src/guard/rule.js';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { crcBody, run, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const random = seeded(5);
const PAT = `ghp_${crcBody(random)}`;
const scan = (text: string) => scanText(text, SECRET_RULES);

const rule = (id: string, keywords: string[], pattern: RegExp, more: Partial<Rule> = {}): Rule => ({
  id,
  class: 'secret',
  what: id,
  source: 'https://example.org/',
  keywords,
  pattern,
  ...more,
});

describe('scanText', () => {
  it('names a value by its vendor rather than its variable, once', () => {
    for (const text of [
      `GITHUB_TOKEN=${PAT}`,
      `"password": "${PAT}"`,
      `Authorization: Bearer ${PAT}`,
      `https://${PAT}@github.com/a/b`,
    ]) {
      expect(
        scan(text).map((hit) => hit.rule),
        text,
      ).toEqual(['github-pat']);
    }
  });

  it('LTM-13 finds the token of a vendor with a wrong checksum', () => {
    const wrong = `ghp_${run(random, 'alnum', 36)}`;
    expect(scan(`see ${wrong} here`).map((hit) => hit.rule)).toEqual(['github-pat']);
    for (const none of [`ghp_${'x'.repeat(36)}`, `ghp_${'EXAMPLE'.repeat(5)}1`, `ghp_${'a1'.repeat(18)}`])
      expect(scan(`see ${none} here`), none).toEqual([]);
  });

  it('does not join words of two lines for context rules', () => {
    expect(scan('The password\nABcd1234EFgh5678 is not one.\npassw\nord: x')).toEqual([]);
  });
});

describe('scanFields', () => {
  const scanned = (...fields: Field[]) => scanFields(fields, SECRET_RULES);

  it('returns the field and the line in it', () => {
    const found = scanned({ path: 'title', text: 'none' }, { path: 'note', text: `a\nx ${PAT}` });
    expect(found).toMatchObject([{ field: 'note', line: 2, rule: 'github-pat', value: PAT }]);
  });

  it('B-106 finds a secret split over two fields, in the first one', () => {
    const found = scanned(
      { path: 'title', text: `see ${PAT.slice(0, 14)}` },
      { path: 'note', text: `${PAT.slice(14)} there` },
    );
    expect(found).toMatchObject([{ field: 'title', line: 1, rule: 'github-pat' }]);
  });

  it('recognizes a secret by its key', () => {
    const text = ['xK9#mQ2', '$vL7pW4!'].join('');
    expect(scanned({ path: 'signals.db_password', text })).toMatchObject([{ field: 'signals.db_password' }]);
    expect(scanned({ path: 'signals.colour', text })).toEqual([]);
  });
});

describe('a text of many megabytes', () => {
  it('B-105 is read in windows: a secret at a border is found once', () => {
    for (const at of [262_144 - 10, 245_760 - 10, 500_000]) {
      const text = `${'word '.repeat(101_000).slice(0, at)} ${PAT} ${'word '.repeat(50_000)}`;
      expect(scanText(text, SECRET_RULES)).toMatchObject([{ rule: 'github-pat', start: at + 1 }]);
    }
  });
});

describe('a rejected match', () => {
  it('B-105 outside the basic plane is skipped: the flag of England', () => {
    const flag = `\u{1f3f4}${[...'gbeng'].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')}\u{e007f}`;
    expect(scanText(`${flag} won ${flag}${flag}`, guardRules())).toEqual([]);
    // Counted, so that it fails where it would go on for ever.
    let seen = 0;
    const refused = rule('flag', [], /(?<secret>\u{1f3f4})/gu, {
      anchor: /\u{1f3f4}/gu,
      reach: [0, 2],
      accept: () => {
        if (++seen > 10) throw new Error('the same match again');
        return false;
      },
    });
    expect(scanText(`${flag} won ${flag}`, [refused])).toEqual([]);
    expect(seen).toBeGreaterThan(1);
  });
});
