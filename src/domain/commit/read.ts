import type { CleanMessage } from './clean.js';

/** A `## ` heading and what stands below it. */
export interface Section {
  name: string;
  /** Of the heading, in the raw text. */
  line: number;
  body: Line[];
}

export interface Line {
  text: string;
  line: number;
}

/** A message taken apart, with the places in the raw text. */
export interface Reading {
  subject: Line;
  /** The line below the subject; null without one. */
  second: Line | null;
  sections: Section[];
  /** Where the next line would be. */
  end: number;
  dropped: CleanMessage['dropped'];
}

const HEADING = /^ {0,3}##[ \t]+(\S.*)$/;
const BULLET = /^\s*[-*] +(\S.*)$/;

export function readMessage({ lines, numbers, dropped }: CleanMessage): Reading {
  const sections: Section[] = [];
  for (let i = 1; i < lines.length; i++) {
    const text = lines[i] as string;
    const line = numbers[i] as number;
    const name = HEADING.exec(text)?.[1];
    if (name !== undefined) sections.push({ name, line, body: [] });
    else if (text !== '') sections.at(-1)?.body.push({ text, line });
  }
  return {
    subject: { text: lines[0] ?? '', line: numbers[0] ?? 1 },
    second: lines.length > 1 ? { text: lines[1] as string, line: numbers[1] as number } : null,
    sections,
    end: (numbers.at(-1) ?? 0) + 1,
    dropped,
  };
}

export const hasItem = ({ body }: Section): boolean => body.some(({ text }) => BULLET.test(text));

/** `- Name: value`, where both are there. */
export function fieldOf({ body }: Section, name: string): Line | null {
  for (const { text, line } of body) {
    const item = text.includes(`${name}:`) ? BULLET.exec(text)?.[1] : undefined;
    const value = item?.startsWith(`${name}:`) ? item.slice(name.length + 1).trim() : '';
    if (value !== '') return { text: value, line };
  }
  return null;
}
