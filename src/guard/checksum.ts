/** The check digits of cards, accounts and national ids. All take the bare number, without spaces and dashes. */

export const digitsOf = (text: string): number[] => [...text].map(Number);

export function weightedSum(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, i) => sum + weight * Number(text[i]), 0);
}

/** ISO/IEC 7812-1 annex B: cards, and the ids of a dozen countries. */
export function luhn(text: string): boolean {
  let sum = 0;
  for (let i = text.length - 1, twice = false; i >= 0; i--, twice = !twice) {
    const digit = Number(text[i]) * (twice ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** The remainder by 97 of a number too long for a double; letters count as 10 to 35 (ISO/IEC 7064). */
export function mod97(text: string): number {
  let rest = 0;
  for (const char of text) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/** ISO/IEC 7064 MOD 11,10. */
export function mod11And10(text: string): boolean {
  let product = 10;
  for (const digit of digitsOf(text.slice(0, -1))) product = (((digit + product) % 10 || 10) * 2) % 11;
  return (11 - product) % 10 === Number(text.at(-1));
}

/** ISO/IEC 7064 MOD 11-2: the last character may be X, which is ten. */
export function mod11Of2(text: string): boolean {
  let product = 0;
  for (const digit of digitsOf(text.slice(0, -1))) product = ((product + digit) * 2) % 11;
  const check = (12 - product) % 11;
  return text.at(-1) === (check === 10 ? 'X' : String(check));
}

/** `11 - sum mod 11` as most countries read it: eleven is 0, ten is what `ten` says (nothing: no such number). */
export function elevenMinus(sum: number, ten = ''): string {
  const check = 11 - (sum % 11);
  return check === 11 ? '0' : check === 10 ? ten : String(check);
}

/** GS1: every second digit counts three times. */
export function ean13(text: string): boolean {
  const sum = digitsOf(text).reduce((total, digit, i) => total + digit * (i % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}

const PERMUTATION = digitsOf('1576283094');

/** The product in the dihedral group D5, which the Verhoeff scheme is made of. */
function dihedral(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5;
  return b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5;
}

/** Verhoeff (1969), as the Aadhaar number uses it. */
export function verhoeff(text: string): boolean {
  let check = 0;
  for (const [i, digit] of digitsOf(text).reverse().entries()) {
    let turned = digit;
    for (let times = i % 8; times > 0; times--) turned = PERMUTATION[turned] as number;
    check = dihedral(check, turned);
  }
  return check === 0;
}

/** Whether two digits of month and two of day can be a date; the year decides nothing here. */
export function isDay(month: string, day: string): boolean {
  const last = { '02': 29, '04': 30, '06': 30, '09': 30, '11': 30 }[month] ?? 31;
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= last;
}
