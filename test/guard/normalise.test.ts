import { describe, expect, it } from 'vitest';
import { isJoined, rangesOf, touchesChange, type View } from '../../src/guard/readings.js';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { base64, DISGUISES } from '../support/disguises.js';
import { crcBody, fill, samples, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const random = seeded(3);
const PAT = `ghp_${crcBody(random)}`;
const AWS = fill('AKIA{base32:16}', random);
const KEY = samples.get('pem-rsa-key')?.[0]?.(random) ?? '';

describe.each([
  ['a token', 'github-pat', PAT],
  ['a key id', 'aws-access-key-id', AWS],
])('%s', (_name, id, secret) => {
  it.each(Object.entries(DISGUISES))('is found despite %s, with its place', (_disguise, disguise) => {
    const [text, part] = disguise(secret);
    const [hit, ...rest] = scanText(text, SECRET_RULES);
    expect(rest).toEqual([]);
    expect(hit?.rule).toBe(id);
    expect(text.slice(hit?.start, hit?.end)).toBe(part);
  });
});

describe('a private key', () => {
  const wrapped = base64(KEY).replace(/.{76}/g, '$&\n');

  it.each([
    ['base64 in one line', base64(KEY)],
    ['base64 wrapped at 76 columns', wrapped],
    ['base64 wrapped in a string', `"${wrapped.replaceAll('\n', '\\n')}"`],
    ['base64 wrapped in YAML', `data:\n  key: |\n    ${wrapped.replaceAll('\n', '\n    ')}`],
    [
      'literals line by line',
      KEY.split('\n')
        .map((line) => `"${line}\\n"`)
        .join(' +\n  '),
    ],
    ['an environment variable', `KEY="${KEY.replaceAll('\n', '\\n')}"`],
  ])('is found as %s', (_form, text) => {
    expect(scanText(text, SECRET_RULES).map((hit) => hit.rule)).toEqual(['pem-rsa-key']);
  });
});

describe('a value', () => {
  const value = ['Kq7#Zw4M', 'vPr9'].join('');
  const slashes = fill('{alnum:20}/{alnum:19}', random);

  it.each([
    ['entities for its quotes', `password = &quot;${value}&quot;`, value],
    ['entities in capitals', `password = &QUOT;${value}&QUOT;`, value],
    [
      'escaped slashes',
      `"aws_secret_access_key": "${slashes.replace('/', '\\/')}"`,
      slashes.replace('/', '\\/'),
    ],
    ['one escape', `password = "${value.replace('Z', '\\u005a')}"`, value.replace('Z', '\\u005a')],
  ])('LTM-13 is found despite %s', (_, text, part) => {
    expect(scanText(text, SECRET_RULES).map(({ start, end }) => text.slice(start, end))).toEqual([part]);
  });

  it('B-105 of no character at all is read as any other text', () => {
    expect(scanText('\\u{ffffff} &#9999999; &#x110000; &#1114112;', SECRET_RULES)).toEqual([]);
  });
});

describe('a decoded part', () => {
  const view = (length: number, ...changes: [start: number, end: number][]): View => ({
    text: 'x'.repeat(length),
    from: new Int32Array(length),
    to: new Int32Array(length),
    changes: changes.map(([start, end]) => ({ start, end })),
  });

  it('B-105 is scanned with its surroundings, and overlapping ones once', () => {
    expect(rangesOf(view(5000, [300, 310], [500, 500], [1900, 1900], [4990, 5000]))).toEqual([
      [44, 756],
      [1644, 2156],
      [4734, 5000],
    ]);
    expect(rangesOf(view(400, [100, 110]))).toEqual([[0, 366]]);
    expect(rangesOf(view(900, [100, 110], [622, 630]))).toEqual([[0, 886]]);
    expect(rangesOf(view(700, [100, 110], [600, 610]))).toEqual([[0, 700]]);
    expect(rangesOf(view(10))).toEqual([]);
  });

  it('LTM-13 concerns what it is in or next to; a joined line only what it is in', () => {
    const at = (start: number, end: number): View => view(50, [1, 2], [start, end], [40, 41]);
    const span = { start: 10, end: 20 };
    const touches = (
      [
        [3, 9],
        [5, 10],
        [12, 15],
        [20, 22],
        [21, 22],
      ] as const
    ).map(([start, end]) => touchesChange(at(start, end), span));
    expect(touches).toEqual([false, true, true, true, false]);
    const joins = [9, 10, 11, 19, 20].map((start) => isJoined(at(start, start), span));
    expect(joins).toEqual([false, false, true, true, false]);
  });
});
