import type { CleanMessage } from './clean.js';

/** A `## ` heading and what stands below it. */
export interface Section {
  name: string;
  /** Of the heading, in the raw text. */
  line: number;
  message: CleanMessage;
  /** Its lines in the message, from here to before there. */
  from: number;
  to: number;
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
/** Nobody reads a message of more. */
const MAX_SECTIONS = 1000;
const BULLET = /^\s*[-*] +(\S.*)$/;

const numberOf = ({ numbers }: CleanMessage, i: number): number => numbers?.[i] ?? i + 1;

export function readMessage(message: CleanMessage): Reading {
  const { lines, dropped } = message;
  const sections: Section[] = [];
  for (let i = 1; i < lines.length && sections.length < MAX_SECTIONS; i++) {
    const name = HEADING.exec(lines[i] as string)?.[1];
    if (name === undefined) continue;
    const last = sections.at(-1);
    if (last) last.to = i;
    sections.push({ name, line: numberOf(message, i), message, from: i + 1, to: lines.length });
  }
  return {
    subject: { text: lines[0] ?? '', line: numberOf(message, 0) },
    second: lines.length > 1 ? { text: lines[1] as string, line: numberOf(message, 1) } : null,
    sections,
    end: lines.length === 0 ? 1 : numberOf(message, lines.length - 1) + 1,
    dropped,
  };
}

export const saysSomething = ({ message, from, to }: Section): boolean => {
  for (let i = from; i < to; i++) if (message.lines[i] !== '') return true;
  return false;
};

export const hasItem = ({ message, from, to }: Section): boolean => {
  for (let i = from; i < to; i++) if (BULLET.test(message.lines[i] as string)) return true;
  return false;
};

/** `- Name: value`, where both are there. */
export function fieldOf({ message, from, to }: Section, name: string): Line | null {
  for (let i = from; i < to; i++) {
    const text = message.lines[i] as string;
    const item = text.includes(`${name}:`) ? BULLET.exec(text)?.[1] : undefined;
    const value = item?.startsWith(`${name}:`) ? item.slice(name.length + 1).trim() : '';
    if (value !== '') return { text: value, line: numberOf(message, i) };
  }
  return null;
}
