import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { crcBody, fill, samples, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();

const random = seeded(3);
const PAT = `ghp_${crcBody(random)}`;
const AWS = fill('AKIA{base32:16}', random);
const KEY = samples.get('pem-rsa-key')?.[0]?.(random) ?? '';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const each = (text: string, make: (char: string) => string): string => [...text].map(make).join('');
const code = (char: string): string => char.charCodeAt(0).toString(16);

/** What is written, and which part of it holds the secret. */
const hidden = (part: string): [string, string] => [`before ${part} after`, part];

const DISGUISES: Record<string, (secret: string) => [string, string]> = {
  'zero-width characters': (secret) => hidden(each(secret, (char) => `${char}\u200b`).slice(0, -1)),
  'soft hyphens': (secret) => hidden(`${secret.slice(0, 9)}\u00ad${secret.slice(9)}`),
  'variation selectors': (secret) => hidden(`${secret.slice(0, 9)}\ufe0f${secret.slice(9)}`),
  'tag characters': (secret) => hidden(`${secret.slice(0, 9)}\u{e0041}${secret.slice(9)}`),
  'bidi controls': (secret) => hidden(`${secret.slice(0, 9)}\u202e\u2066${secret.slice(9)}`),
  'full width': (secret) => hidden(each(secret, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))),
  base64: (secret) => hidden(base64(secret)),
  'base64 with text about it': (secret) => hidden(base64(`the token is ${secret}, keep it`)),
  'base64 for URLs': (secret) => hidden(Buffer.from(`??>>${secret}`).toString('base64url')),
  'base64 behind a path': (secret) => [`a/bc/${base64(secret)}`, base64(secret)],
  'base64 of UTF-16': (secret) => hidden(Buffer.from(secret, 'utf16le').toString('base64')),
  hex: (secret) => hidden(hex(secret)),
  'percent-encoding': (secret) => hidden(each(secret, (char) => `%${code(char)}`)),
  '\\u escapes': (secret) => hidden(each(secret, (char) => `\\u00${code(char)}`)),
  '\\x escapes': (secret) => hidden(each(secret, (char) => `\\x${code(char)}`)),
  'a continued line': (secret) => hidden(`${secret.slice(0, 9)}\\\n${secret.slice(9)}`),
  'a wrapped line': (secret) => hidden(`${secret.slice(0, 9)}\n    ${secret.slice(9)}`),
  'a wrapped comment': (secret) => hidden(`${secret.slice(0, 9)}\r\n  // ${secret.slice(9)}`),
  'a sum of strings': (secret) => [
    `x = "${secret.slice(0, 9)}" + "${secret.slice(9)}"`,
    `${secret.slice(0, 9)}" + "${secret.slice(9)}`,
  ],
  'a sum over lines': (secret) => [
    `x = '${secret.slice(0, 9)}' +\n  '${secret.slice(9)}'`,
    `${secret.slice(0, 9)}' +\n  '${secret.slice(9)}`,
  ],
  "PHP's sum": (secret) => [
    `x = '${secret.slice(0, 9)}' . '${secret.slice(9)}'`,
    `${secret.slice(0, 9)}' . '${secret.slice(9)}`,
  ],
  'strings side by side': (secret) => [
    `x = ("${secret.slice(0, 9)}" "${secret.slice(9)}")`,
    `${secret.slice(0, 9)}" "${secret.slice(9)}`,
  ],
};

describe.each([
  ['a token', 'github-pat', PAT],
  ['a key id', 'aws-access-key-id', AWS],
])('%s', (_name, id, secret) => {
  it.each(Object.entries(DISGUISES))('is found in spite of %s, and where', (_disguise, disguise) => {
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
