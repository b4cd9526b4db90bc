/**
 * Hex digits that differ from call to call and from process to process: for names that must not meet, never for
 * secrets. Not from node:crypto, which alone costs a small command two milliseconds.
 */
export function makeToken(digits: number): string {
  let token = '';
  while (token.length < digits)
    token += Math.floor(Math.random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');
  return token.slice(0, digits);
}
