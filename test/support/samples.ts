import { randomBytes } from 'node:crypto';
import type { GuardClass } from '../../src/guard/rule.js';

/** One of each class, made anew at every run: none stands whole in the repository. */
export const SAMPLES: Record<Exclude<GuardClass, 'invisible'>, () => string> = {
  secret: () => `${['glp', 'at'].join('')}-${random(20)}`,
  card: () => withLuhn(`4${digits(14)}`).replace(/.{4}(?=.)/g, '$& '),
  iban: () => withMod97('DE', digits(18)),
  'national-id': () => spanishId(`7${digits(7)}`).replace(/(..)(...)(...)(.)/, '$1.$2.$3-$4'),
  email: () => `${random(8)}@${random(8)}.com`,
  phone: () => `+49 30 ${['2', digits(3)].join('')} ${digits(4)}`,
  ip: () => [...randomBytes(2)].reduce((ip, byte) => `${ip}.${byte}`, '93.184'),
  proprietary: () => `This source code is the property of ${random(9)} Corp. All rights reserved.`,
};

const random = (length: number): string =>
  [...randomBytes(length)].map((byte) => 'abcdefghjkmnpqrstvwxyz23456789'[byte % 30]).join('');

/** Not all the same, and not beginning with 0. */
const digits = (length: number): string =>
  [...randomBytes(length)].map((byte, i) => (i === 0 ? 1 + (byte % 9) : byte % 10)).join('');

function withLuhn(start: string): string {
  const sum = [...start]
    .reverse()
    .map((digit, i) => Number(digit) * (i % 2 === 0 ? 2 : 1))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return `${start}${(10 - (sum % 10)) % 10}`;
}

function withMod97(country: string, account: string): string {
  const letters = [...country].map((letter) => letter.charCodeAt(0) - 55).join('');
  const check = 98n - (BigInt(`${account}${letters}00`) % 97n);
  return `${country}${String(check).padStart(2, '0')}${account}`;
}

const spanishId = (number: string): string => `${number}${'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23]}`;
