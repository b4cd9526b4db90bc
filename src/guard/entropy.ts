/** Shannon's entropy of the characters, in bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** How many of lower case, upper case, digits and signs occur. */
export function countKinds(text: string): number {
  return [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length;
}

const kindOf = (code: number): number => {
  if (code >= 48 && code <= 57) return 0;
  if (code >= 97 && code <= 122) return 1;
  return code >= 65 && code <= 90 ? 2 : 3;
};

/**
 * The part of neighbouring characters that differ in kind: about a half in random base 62, next to none in words and
 * identifiers. A capital before small letters is one word with them; a sign between words divides them, as in paths.
 */
export function mixtureOf(text: string): number {
  let changes = 0;
  for (let i = 1; i < text.length; i += 1) {
    const before = kindOf(text.charCodeAt(i - 1));
    const here = kindOf(text.charCodeAt(i));
    const isCapitalised = before === 2 && here === 1;
    if (before !== here && before !== 3 && here !== 3 && !isCapitalised) changes += 1;
  }
  return changes / Math.max(1, text.length - 1);
}
