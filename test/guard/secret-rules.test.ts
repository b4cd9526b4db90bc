import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';
import { lookAlikes } from '../support/look-alikes.js';
import { fill, samples, seeded } from '../support/secrets.js';

const SECRET_RULES = secretRules();
const random = seeded(13);

/** The rules that find something; braces are filled at random. */
const found = (template: string, rules = SECRET_RULES): string[] =>
  scanText(fill(template, random), rules).map((hit) => hit.rule);

describe('the table of secret rules, read anew', () => {
  it('LTM-13 finds each documented form by its own rule, by context or by form, and no look-alike', () => {
    // Made here, so that a fault in a line of the table fails this test and not the import.
    const rules = secretRules();
    for (const [id, makers] of samples)
      for (const make of makers) {
        const text = make(random);
        const hits = scanText(text, rules);
        expect([id, hits.map((hit) => hit.rule)]).toEqual([id, expect.arrayContaining([id])]);
        expect(hits.find((hit) => hit.rule === id)?.class).toBe('secret');
      }
    for (let round = 0; round < 40; round++)
      for (const text of lookAlikes(random)) expect([text, scanText(text, rules)]).toEqual([text, []]);
    expect(scanText(`GITHUB_TOKEN=${fill('ghp_{crc}', random)}`, rules)).toMatchObject([{ isCertain: true }]);
    // The vendor of the token, not the one named before it.
    expect(found('paypal key lin_api_{alnum:40}', rules)).toEqual(['linear-key']);
    for (const loose of [
      ...['DD_API_KEY: {hex:32}', 'bearer {alnum:30}', 'sshpass -p {alnum:12} ssh'],
      ...['token: "{alnum:20}"', 'senha = {alnum:16}'],
    ])
      expect(scanText(fill(loose, random), rules)).toMatchObject([{ isCertain: false }]);
  });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64url');
const jwt = (header: string, payload: string): string => `${base64(header)}.${base64(payload)}.{url:43}`;
const pem = (body: string): string =>
  ['-----BEGIN ', 'PRIVATE KEY-----', body, '-----END ', 'PRIVATE KEY-----'].join('');
const slack = (end: string): string => `${['xo', 'xb'].join('')}-123456789012-${end}`;

describe('a form', () => {
  it.each<[string, string, string]>([
    ['credentials with a name', `basic ${base64('deploy:k7Qm2zW9')}`, `basic ${base64('deployk7Qm2zW9')}`],
    ['credentials with four characters', `basic ${base64('deploy:k7Q2')}`, `basic ${base64('deploy:k7Q')}`],
    [
      'credentials that were chosen',
      `basic ${base64('deploy:k7Qm2zW9')}`,
      `basic ${base64('deploy:changeme')}`,
    ],
    ['credentials as text', `basic ${base64('deploy:k7Qm2zW9')}`, `basic ${base64('de\u0001ploy:k7Qm2zW9')}`],
    ['credentials of a user', `basic ${base64('d:k7Qm2zW9')}`, `basic ${base64(':k7Qm2zW9')}`],
    ['credentials in one line', `basic ${base64('deploy:k7Qm2zW9')}`, `basic ${base64('deploy:k7Qm2zW9\n')}`],
    [
      'a token with an algorithm',
      jwt('{"alg":"HS256"}', '{"sub":"77"}'),
      jwt('{"typ":"JWT4"}', '{"sub":"77"}'),
    ],
    ['a token with a header', jwt('{"alg":"HS256"}', '{"sub":"77"}'), jwt('{"alg":"HS256"', '{"sub":"77"}')],
    [
      'a token of a person',
      jwt('{"alg":"HS256"}', '{"sub":"77"}'),
      jwt('{"alg":"HS256"}', '{"sub":"1234567890"}'),
    ],
    ['a key', pem('\n{std:64}\n{std:64}\n'), pem('\nis the header of a key, and here the prose goes on.\n')],
    [
      'a key in a string',
      pem('\\n{std:64}\\n{std:64}\\n'),
      pem('\\nabcabcabcabcabcabcabcabcabcabcabcabcabcabc\\n'),
    ],
    [
      'a key of 24 characters',
      pem('\nk7Qm2zW9tR4bXn5fPq8vL3dS\n123456789012345'),
      pem('\nk7Qm2zW9tR4bXn5fPq8vL3d\n123456789012345'),
    ],
    [
      'a key behind its headers',
      pem('\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{HEX:32}\n\n{std:64}\n'),
      pem('\nProc-Type: 4,ENCRYPTED\n\nnot here, but in the file beside it.\n'),
    ],
    [
      'a key without a run',
      pem('\n{std:64}\n{std:64}\n'),
      pem('\nk7Qm2zW9tR4bXn5fPqAAAAAAAAAAAAAAAAAA8vL3dS\n'),
    ],
    ['the last part of a token', slack('{alnum:24}'), slack('a1a1a1a1a1a1a1a1a1a1a1a1')],
    [
      'what follows the number of a bot',
      '{digits:9}:AA{url:33}',
      `628193745:AA${'bqzkwm'.repeat(6).slice(0, 33)}`,
    ],
    ['a key with capitals', 'aws: {std:40}', 'aws: {small:40}'],
    [
      'a random value',
      'paypal secret {alnum:48}',
      'paypal secret abcdefghijabcdefghijabcdefghijabcdefghijabcdefgh',
    ],
    ['a bot with a number', '{snowflake}.{url:6}.{url:38}', 'MTIzNDU2Nzg5MDEyMzQ1Njc4aaaa.{url:6}.{url:38}'],
    ['a key in its alphabet', 'AGE-SECRET-KEY-1{bech32:58}', `AGE-SECRET-KEY-1${'QPZ'.repeat(20)}`],
    ['a password in a URL', 'db://shop:{alnum:12}@host/', 'db://shop-k7Qm2z:shop-k7Qm2z@host/'],
    ['a password in a URL without brackets', 'db://shop:k7Q[m2zW9@host/', 'db://shop:[k7Qm2z@host/'],
    ['a password in a URL without braces', 'db://shop:k7Q}m2zW9@host/', 'db://shop:k7Qm2z}@host/'],
    ['credentials of a registry', `"auth": "${base64('deploy:k7Qm2zW9')}"`, '"auth": "deploymentkey"'],
    [
      'a token of a registry',
      '"identitytoken": "{alnum:40}"',
      '"identitytoken": "abcdefghijklmnopqrstuvwxyz0123456789abcd"',
    ],
    ['a value with a digit', 'bearer {alnum:30}', 'bearer kQmzWtRbXnfPqvJdHsLcGyTw'],
    ['an option', 'deploy --token {alnum:20}', 'deploy --token {hex:40}'],
    ['an option with other hex digits', 'deploy --token {hex:41}', 'deploy --token {hex:40}'],
    ['letters and digits', 'atlassian: {alnum:24}', 'atlassian: {lower:24}'],
    ['six characters', 'kennwort: k7Q#m2', 'kennwort: k7Q#m'],
  ])('LTM-13 is found only as documented: %s', (_, form, other) => {
    expect(found(form), form).toHaveLength(1);
    expect(found(other), other).toEqual([]);
  });
});

describe('a value near the name of a vendor', () => {
  it.each([
    'GITEA_TOKEN={hex:40}',
    'gitea token: {hex:40}',
    'gitea: "{hex:40}"',
    'gitea token is {hex:40}',
    'gitea, with a token that ends today: {hex:40}',
    ...['gitea = {hex:40}', 'gitea token is  {hex:40}', 'gitea token is "{hex:40}"'],
    ...['discord key {hex:64}', 'datadog:{hex:32}', 'datadog {hex:32}', 'datadog is {hex:32}'],
    ...['datadog: `{hex:32}`', 'datadog => {hex:32}', '"datadog": "{hex:32}"'],
    ...['datadog has a key that ends today, {hex:32}', 'datadog api {hex:32}'],
  ])('LTM-13 is assigned to it: %s', (template) => {
    expect(found(template)).toHaveLength(1);
  });

  it.each([
    ...['gitea {hex:40}', 'gitea token at {hex:40}', 'gitea: token of release {hex:40}'],
    ...['gitea commit: {hex:40}', 'gitea, sha256: {hex:40}', 'datadog digest {hex:32}'],
    ...['datadog checksum: {hex:32}', 'datadog revision {hex:32}'],
    ...['datadog was built from {hex:32}', 'datadog moved to {hex:32}'],
  ])('LTM-13 is another value: %s', (template) => {
    expect(found(template)).toEqual([]);
  });
});
