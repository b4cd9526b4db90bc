import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';

/**
 * Samples of every kind of secret, made when a test runs: none stands whole in this repository, where the hosts'
 * push protection would find it, and none was ever issued.
 */
export type Random = () => number;

/** Mulberry32: the same samples in every run. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const DIGITS = '0123456789';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();

const ALPHABETS: Record<string, string> = {
  hex: `${DIGITS}abcdef`,
  HEX: `${DIGITS}ABCDEF`,
  digits: DIGITS,
  lower: LOWER,
  letters: LOWER + UPPER,
  small: DIGITS + LOWER,
  big: DIGITS + UPPER,
  base32: `${UPPER}234567`,
  small32: `${LOWER}234567`,
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
  alnum: DIGITS + UPPER + LOWER,
  url: `${DIGITS + UPPER + LOWER}_-`,
  std: `${DIGITS + UPPER + LOWER}+/`,
};

/** A run of an alphabet; letters and digits at both ends, so that a boundary stands there. */
export function run(random: Random, alphabet: string, length: number): string {
  const all = ALPHABETS[alphabet] ?? '';
  const ends = [...all].filter((char) => /[A-Za-z0-9]/.test(char)).join('');
  return Array.from({ length }, (_, i) => {
    const from = i === 0 || i === length - 1 ? ends : all;
    return from[Math.floor(random() * from.length)];
  }).join('');
}

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const char of text) {
    crc ^= char.charCodeAt(0);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** GitHub's and npm's body: thirty characters and their CRC-32 in base 62. */
export function crcBody(random: Random): string {
  const body = run(random, 'alnum', 30);
  const alphabet = DIGITS + UPPER + LOWER;
  let rest = crc32(body);
  let suffix = '';
  for (let i = 0; i < 6; i += 1) {
    suffix = alphabet[rest % 62] + suffix;
    rest = Math.floor(rest / 62);
  }
  return body + suffix;
}

const encode = (text: string, encoding: 'base64' | 'base64url'): string =>
  Buffer.from(text).toString(encoding);

const uuid = (random: Random): string =>
  [8, 4, 4, 4, 12].map((length) => run(random, 'hex', length)).join('-');

function jwt(random: Random): string {
  const payload = JSON.stringify({ sub: run(random, 'digits', 10), iat: 1_700_000_000 });
  const header = JSON.stringify({ alg: 'HS256', typ: 'JWT' });
  return [encode(header, 'base64url'), encode(payload, 'base64url'), run(random, 'url', 43)].join('.');
}

const lines = (random: Random, count: number): string =>
  Array.from({ length: count }, () => run(random, 'std', 64)).join('\n');

/** `{hex:32}` and the like become what they name. */
const MAKERS: Record<string, (random: Random, length: number) => string> = {
  uuid,
  jwt,
  crc: crcBody,
  lines,
  password: (random) => `${run(random, 'alnum', 7)}!${run(random, 'alnum', 6)}`,
  snowflake: (random) => encode(`1${run(random, 'digits', 17)}`, 'base64url'),
  pair: (random) => encode(`deploy:${run(random, 'alnum', 14)}`, 'base64'),
  json: (random, length) => encode(`{"k":"${run(random, 'alnum', length)}"}`, 'base64url'),
};

export const fill = (template: string, random: Random): string =>
  template.replace(/\{(\w+)(?::(\d+))?\}/g, (_, name: string, length?: string) => {
    const make = MAKERS[name];
    return make === undefined ? run(random, name, Number(length)) : make(random, Number(length ?? 0));
  });

/** A table of test/fixtures. Also read by the bench, which bundles this file. */
export const readSamples = (name: string): [name: string, samples: string[]][] =>
  Object.entries(parse(readFileSync(`test/fixtures/${name}.toml`, 'utf8'))).map(([key, all]) => [
    key,
    [all as string | string[]].flat(),
  ]);

/** For each rule what it must find: the secret, in the surroundings that it needs. */
export const samples: ReadonlyMap<string, readonly ((random: Random) => string)[]> = new Map(
  readSamples('secret-samples').map(([id, all]) => [
    id,
    all.map((template) => (random: Random) => fill(template, random)),
  ]),
);
