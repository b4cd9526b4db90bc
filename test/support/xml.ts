/** Whether a text is well-formed XML, as far as a report goes: tags that close, quoted attributes, no bare `&` or `<`. */
export function isWellFormed(text: string): boolean {
  const body = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  if (body === text || !text.isWellFormed() || NO_CHARACTER.test(text)) return false;
  const open: string[] = [];
  let roots = 0;
  let at = 0;
  for (const tag of body.matchAll(TAG)) {
    if (!isText(body.slice(at, tag.index), open.length > 0)) return false;
    at = tag.index + tag[0].length;
    const [, end, name = '', , alone] = tag;
    if (end) {
      if (open.pop() !== name) return false;
      continue;
    }
    if (open.length === 0) roots++;
    if (!alone) open.push(name);
  }
  return open.length === 0 && roots === 1 && isText(body.slice(at), false);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for them
const NO_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
const ENTITY = '&(?:amp|lt|gt|quot|apos|#\\d+|#x[0-9a-fA-F]+);';
const TAG = new RegExp(`<(/?)([A-Za-z][\\w.-]*)((?: [\\w-]+="(?:[^<&"]|${ENTITY})*")*)(/?)>`, 'g');

const isText = (text: string, isInside: boolean): boolean =>
  isInside ? new RegExp(`^(?:[^<&]|${ENTITY})*$`).test(text) : text.trim() === '';
