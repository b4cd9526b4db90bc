import { describe, expect, it } from 'vitest';
import type { Field } from '../../src/guard/document.js';
import { guardRules, scanFields } from '../../src/guard/document.js';
import type { Rule } from '../../src/guard/rule.js';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { crcBody, fill, run, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const random = seeded(5);
const PAT = `ghp_${crcBody(random)}`;
const AWS = fill('AKIA{base32:16}', random);
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
  it('returns findings in order with their places', () => {
    const text = `first ${AWS}, then "${PAT}".`;
    expect(scan(text).map((hit) => [hit.rule, text.slice(hit.start, hit.end)])).toEqual([
      ['aws-access-key-id', AWS],
      ['github-pat', PAT],
    ]);
  });

  it('finds a secret at the start, at the end and alone', () => {
    for (const text of [PAT, `${PAT} x`, `x ${PAT}`, `${PAT}.`, `<${PAT}>`, `token:${PAT}`]) {
      const [hit] = scan(text);
      expect([hit?.rule, text.slice(hit?.start, hit?.end)], text).toEqual(['github-pat', PAT]);
    }
  });

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

  it('returns the secret without its name', () => {
    const value = run(random, 'alnum', 32);
    const text = `DD_API_KEY: ${value}`;
    expect(scan(text).map((hit) => text.slice(hit.start, hit.end))).toEqual([value]);
  });

  it('ignores pragmas of other scanners', () => {
    for (const pragma of ['gitleaks:allow', 'secretlint-disable', 'nosec', 'pragma: allowlist secret']) {
      expect(scan(`${PAT} # ${pragma}`).map((hit) => hit.rule)).toEqual(['github-pat']);
    }
  });

  it('continues after a rejected match', () => {
    const value = run(random, 'alnum', 24);
    const text = `password = token = "${value}"`;
    expect(scan(text).map((hit) => text.slice(hit.start, hit.end))).toEqual([value]);
  });

  it('LTM-13 finds the token of a vendor with a wrong checksum', () => {
    const wrong = `ghp_${run(random, 'alnum', 36)}`;
    expect(scan(`see ${wrong} here`).map((hit) => hit.rule)).toEqual(['github-pat']);
    for (const none of [`ghp_${'x'.repeat(36)}`, `ghp_${'EXAMPLE'.repeat(5)}1`, `ghp_${'a1'.repeat(18)}`])
      expect(scan(`see ${none} here`), none).toEqual([]);
  });

  it('returns the same result each time', () => {
    const text = `${PAT} ${AWS} `.repeat(50);
    expect(scan(text)).toHaveLength(100);
    expect(scan(text)).toEqual(scan(text));
  });

  it('supports rules without keywords, with short ones and with non-ASCII ones', () => {
    const rules = [
      rule('always', ['zz'], /\bzz\d{1,3}/g, { class: 'phone', reach: [0, 5] }),
      rule('short', [], /\w{1,9}@\w{1,9}/g, { class: 'email', anchor: /@/g, reach: [9, 10] }),
      rule('wide', ['geheimnisträger'], /GEHEIMNISTRÄGER/g, { class: 'proprietary', reach: [0, 15] }),
    ];
    const hits = scanText('zz12, a@b and GEHEIMNISTRÄGER', rules);
    expect(hits.map((hit) => hit.rule)).toEqual(['always', 'short', 'wide']);
  });

  it('does not report an address inside a credential', () => {
    const email = rule('email', [], /[\w.]{1,40}@[\w.]{1,40}/g, {
      class: 'email',
      anchor: /@/g,
      reach: [40, 41],
    });
    const text = `postgres://shop:${run(random, 'alnum', 14)}@db.internal/shop`;
    const classes = scanText(text, [...SECRET_RULES, email]).map((hit) => hit.class);
    expect(classes).toContain('secret');
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

  it('finds nothing at the border of harmless fields', () => {
    expect(scanned({ path: 'a', text: 'token' }, { path: 'b', text: 'is x' })).toEqual([]);
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
