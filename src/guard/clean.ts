/** What honest text brings along from a terminal, an editor, GitHub or git, and what is stored instead. */
const PARTS: readonly [name: string, pattern: RegExp, put: string][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  ['terminal colours', /\u001b\[(?:[\d;:]*m|K)/g, ''],
  ['carriage returns', /\r+\n/g, '\n'],
  ['a byte order mark', /^\ufeff/, ''],
  // Dependabot writes it, so that nobody is notified.
  ['zero-width spaces', /(?<=[@#/])\u200b/g, ''],
];

const TRAILER =
  /^[ \t>]*(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested|helped)-by:.*@.*$/gim;
const ADDRESS = /[\w.+-]{1,80}(?:\[bot\])?@[\w-]{1,80}(?:\.[\w-]{1,80}){1,8}/g;
const BRACKETED = new RegExp(`<${ADDRESS.source}>`, 'g');

/** The text as it is stored, and what was left out or masked. People in trailers stay named, without their addresses. */
export function cleanText(text: string): { text: string; left: string[] } {
  let clean = text;
  const left: string[] = [];
  const put = (name: string, changed: string): void => {
    if (changed !== clean) left.push(name);
    clean = changed;
  };
  for (const [name, pattern, instead] of PARTS) put(name, clean.replace(pattern, instead));
  const mask = (line: string): string => line.replace(BRACKETED, '<email>').replace(ADDRESS, '<email>');
  put('addresses in trailers', clean.replace(TRAILER, mask));
  return { text: clean, left };
}
