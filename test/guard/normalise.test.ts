import { describe, expect, it } from 'vitest';
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
