import { readHint, writeHint } from './hint.js';
import { type Layout, notedFile } from './layout.js';

/** The newest commit whose message a session start has looked at. */
export interface Noted {
  head: string;
  /** The latest time of any such, as git has it. */
  at: string;
}

export const readNoted = (layout: Layout): Noted | null => readHint<Noted>(notedFile(layout));
export const writeNoted = (layout: Layout, noted: Noted): void => writeHint(notedFile(layout), noted);
