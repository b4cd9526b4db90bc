import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';

const SECRET_RULES = secretRules();

/** Each value is written in two parts, so that no scanner of a host takes this file for a leak. */
type Parts = readonly [why: string, first: string, second: string];

const VALUES = parse(readFileSync('test/fixtures/secret-values.toml', 'utf8'));
const values = (name: string) => VALUES[name] as unknown as Parts[];

const found = (text: string): string[] =>
  scanText(text, SECRET_RULES).map((hit) => text.slice(hit.start, hit.end));

const QUOTED: Record<string, (value: string) => string> = {
  password: (value) => `db_password = "${value}"`,
  token: (value) => `token: '${value}'`,
};

describe('a quoted value after a name that means a secret', () => {
  it.each(values('quoted, a secret'))('LTM-13 is found: %s', (_, first, second) => {
    for (const write of Object.values(QUOTED)) expect(found(write(first + second))).toEqual([first + second]);
  });

  it.each(values('quoted, no secret'))('LTM-13 is no secret: %s', (_, first, second) => {
    for (const write of Object.values(QUOTED)) expect(found(write(first + second))).toEqual([]);
  });

  it('LTM-13 a password has at least six characters, a token eight', () => {
    const six = ['k7Q', 'm!z'].join('');
    expect([found(`password = "${six}"`), found(`token = "${six}"`)]).toEqual([[six], []]);
    expect(found(`password = "${six.slice(1)}"`)).toEqual([]);
    expect(found(`token_prod = "${six}"`)).toEqual([]);
    expect([found(`token = "${six}w"`), found(`token = "${six}w3"`)]).toEqual([[], [`${six}w3`]]);
  });
});

describe('a name beside a value', () => {
  const value = ['Kq7#Zw4M', 'vPr9'].join('');

  it.each([
    ...'password db_pwd clientSecret authToken passphrase credential credentials api_key apiKey access-key private.key encryption_key secret_key'.split(
      ' ',
    ),
    ...['api key', 'signing key', 'master key'],
  ])('LTM-13 means a secret: %s', (name) => {
    expect(found(`${name} = "${value}"`)).toEqual([value]);
  });

  it.each([
    ...'key sort_key primaryKey public_key public_token token_type tokenUrl token_id key_id credentials-id password_hash'.split(
      ' ',
    ),
    ...'secret_digest next_page_token csrf_token xsrf-token cursor_token continuation_token keys creds cred'.split(
      ' ',
    ),
    ...['partition key', 'sync token'],
  ])('LTM-13 means none: %s', (name) => {
    expect(found(`${name} = "${value}"`)).toEqual([]);
  });
});

describe('a value without quotes', () => {
  it.each(values('without quotes, a secret'))('LTM-13 is found: %s', (_, first, second) => {
    expect(found(`PASSWORD=${first}${second}`)).toEqual([first + second]);
    expect(found(`PASSWORD=${first}${second}.`)).toHaveLength(1);
  });

  it.each(values('without quotes, no secret'))('LTM-13 is no secret: %s', (_, first, second) => {
    expect(found(`token=${first}${second}`)).toEqual([]);
  });
});

describe('the body of a token', () => {
  const token = (body: string): string => `${['glp', 'at'].join('')}-${body}`;

  it.each<Parts>([
    ['random', 'n5f2w7dhak', 'rjcq9m3rpe'],
    ['four x in a long one', 'n5f2w7dhak', 'rjcxxxxrpe'],
    ['capitals', 'N5fW7dHakR', 'jcQ9mZrPe4'],
    ['six characters that repeat', 'n5f2w7n5f2', 'w7n5f2w7n5'],
  ])('LTM-13 is random: %s', (_, first, second) => {
    expect(found(token(first + second))).toEqual([token(first + second)]);
  });

  it.each<Parts>([
    ['few different characters', 'aabbccaabb', 'ccaabbccaa'],
    ['five characters that repeat', 'n5f2wn5f2w', 'n5f2wn5f2w'],
    ['the alphabet', 'n5fabcdefg', 'hak9m3rpeq'],
    ['one character', 'n5f2w7dhak', 'qqqqqqq3rp'],
    ['words with capitals', 'GitlabDeploy', 'erName12'],
    ['says that it is a sample', 'n5f2w7exam', 'ple9m3rpeq'],
    ['crossed out twice', 'xxxx-xxxx-', 'n5f2w7dhak'],
  ])('LTM-13 is not: %s', (_, first, second) => {
    expect(found(token(first + second))).toEqual([]);
  });

  it('LTM-13 of 32 characters has at least eight different ones', () => {
    const bitbucket = (part: string): string => ['AT', 'BB', part.repeat(32).slice(0, 32)].join('');
    expect(found(bitbucket('n5f2w7dh'))).toHaveLength(1);
    expect(found(bitbucket('n5f2w7'))).toEqual([]);
  });
});

describe('the value of a key that names no owner', () => {
  const key = (value: string): string[] => found(`key = "${value}"`);

  it('LTM-13 is found if it is random and has twenty characters', () => {
    for (const end of ['8v', '8a'])
      for (const start of ['k7', 'a7']) {
        const value = `${start}Qm2zW9tR4bXn5fPq${end}`;
        expect(key(value)).toEqual([value]);
        expect(key(value.slice(1))).toEqual([]);
      }
  });

  it('LTM-13 finds no key without a digit, or in what reads as words', () => {
    expect(key(['kQmzWtRbXnfP', 'qvJdHsLcGyTw'].join(''))).toEqual([]);
    expect(key(['Homework7Kitchen', '2Door#home'].join(''))).toEqual([]);
  });
});
