export const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const each = (text: string, make: (char: string) => string): string => [...text].map(make).join('');
const code = (char: string): string => char.charCodeAt(0).toString(16);

/** What is written, and which part of it holds the secret. */
const hidden = (part: string): [string, string] => [`before ${part} after`, part];

export const DISGUISES: Record<string, (secret: string) => [string, string]> = {
  'zero-width characters': (secret) => hidden(each(secret, (char) => `${char}\u200b`).slice(0, -1)),
  'soft hyphens': (secret) => hidden(`${secret.slice(0, 9)}\u00ad${secret.slice(9)}`),
  'variation selectors': (secret) => hidden(`${secret.slice(0, 9)}\ufe0f${secret.slice(9)}`),
  'tag characters': (secret) => hidden(`${secret.slice(0, 9)}\u{e0041}${secret.slice(9)}`),
  'tag characters alone': (secret) =>
    hidden(each(secret, (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)))),
  'bidi controls': (secret) => hidden(`${secret.slice(0, 9)}\u202e\u2066${secret.slice(9)}`),
  'full width': (secret) => hidden(each(secret, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0))),
  base64: (secret) => hidden(base64(secret)),
  'base64 with text about it': (secret) => hidden(base64(`the token is ${secret}, keep it`)),
  'base64 for URLs': (secret) => hidden(Buffer.from(`??>>${secret}`).toString('base64url')),
  'base64 behind a path': (secret) => [`a/bc/${base64(secret)}`, base64(secret)],
  'base64 of UTF-16': (secret) => hidden(Buffer.from(secret, 'utf16le').toString('base64')),
  'base64 of UTF-16, high byte first': (secret) =>
    hidden(Buffer.from(secret, 'utf16le').swap16().toString('base64')),
  'base64 of indented text': (secret) => hidden(base64(`${'\t'.repeat(9)}${secret}`)),
  'base64 of spaced text': (secret) => hidden(base64(`${'\r\n'.repeat(9)}${secret}`)),
  'base64 of text in another language': (secret) =>
    hidden(
      base64(`the token for the customers of my company is ${secret}; für größere Häuser übernächste Woche`),
    ),
  hex: (secret) => hidden(hex(secret)),
  'percent-encoding': (secret) => hidden(each(secret, (char) => `%${code(char)}`)),
  '\\u escapes': (secret) => hidden(each(secret, (char) => `\\u00${code(char)}`)),
  '\\u escapes in braces': (secret) => hidden(each(secret, (char) => `\\u{${code(char)}}`)),
  'numbers of HTML': (secret) => hidden(each(secret, (char) => `&#${char.charCodeAt(0)};`)),
  'hex numbers of HTML': (secret) => hidden(each(secret, (char) => `&#x${code(char)};`)),
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
