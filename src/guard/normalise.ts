import { replaceIn, type View } from './view.js';

/**
 * What can stand in a word unseen: format characters (zero width, soft hyphen, direction, tags), variation selectors,
 * joiners, and the fillers that show as nothing.
 */
const isUnseen = (char: string): boolean =>
  /^(?:\p{Cf}|\p{Variation_Selector}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0)$/u.test(char);

const plain = new Map<string, string>();

/** NFKC makes full-width, mathematical and circled letters plain; kept, as few characters make up a text. */
function plainOf(char: string): string {
  const known = plain.get(char);
  if (known !== undefined) return known;
  const made = isUnseen(char) ? '' : char.normalize('NFKC');
  if (plain.size < 4096) plain.set(char, made);
  return made;
}

/** The text with plain characters and no unseen ones; undefined where it is so already. */
export function normaliseView(text: string): View | undefined {
  // Cheaper to make than a class of Unicode's, and most texts end here.
  if (!/[\u0080-\uffff]/.test(text)) return undefined;
  return replaceIn(text, /\P{ASCII}/gu, (char) => {
    const made = plainOf(char);
    return made === char ? undefined : made;
  });
}

/** Tag characters are ASCII that nobody sees: read as what they stand for. */
export function tagView(text: string): View | undefined {
  // Half of each tag character.
  if (!text.includes('\udb40')) return undefined;
  return replaceIn(text, /[\u{e0020}-\u{e007e}]/gu, (char) =>
    String.fromCharCode((char.codePointAt(0) ?? 0) - 0xe0000),
  );
}
