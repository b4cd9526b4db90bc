import { describe, expect, it } from 'vitest';
import { verhoeff } from '../../src/guard/national-id.js';
import { luhn, mod97 } from '../../src/guard/numbers.js';

const TEN = [...'0123456789'];
const checks = (body: string, holds: (text: string) => boolean, tails: readonly string[] = TEN): string[] =>
  tails.filter((tail) => holds(body + tail));

describe('check digits', () => {
  // The examples of the standards and of the papers that describe them.
  it.each([
    ['Luhn', luhn, '7992739871', '3'],
    ['Verhoeff', verhoeff, '23', '6'],
    ['Verhoeff', verhoeff, '236', '3'],
    ['Verhoeff', verhoeff, '1234', '0'],
  ])('LTM-13 %s has one digit that fits', (_name, holds, body, digit) => {
    expect(checks(body, holds)).toEqual([digit]);
  });

  it('LTM-13 the remainder modulo 97 is that of the whole number, with letters as two digits', () => {
    expect(mod97('1'.repeat(30))).toBe(Number(BigInt('1'.repeat(30)) % 97n));
    expect(mod97('A1Z')).toBe(Number(10135n % 97n));
  });

  it('LTM-13 Verhoeff detects any two swapped neighbors', () => {
    const swapped = (text: string, i: number): string =>
      text.slice(0, i) + text.charAt(i + 1) + text.charAt(i) + text.slice(i + 2);
    const body = '50718293645';
    const whole = body + (checks(body, verhoeff)[0] as string);
    const others = [...whole]
      .map((_, i) => swapped(whole, i))
      .filter((other) => other !== whole && other.length === 12);
    expect(others.filter(verhoeff)).toEqual([]);
  });
});
