import { oneLine } from '../core/text.js';
import type { CleanMessage } from './clean.js';
import {
  type CommitRules,
  NO_ISSUE,
  type Problem,
  type RuleName,
  SECTIONS,
  type SectionName,
} from './rules.js';

interface Line {
  text: string;
  /** In the raw text, 1-based. */
  line: number;
}

/** A `## ` heading. The lines below it are those from `from` to before `to`. */
interface Section extends Line {
  from: number;
  to: number;
}

/** A message taken apart, with the places in the raw text. */
interface Reading {
  message: CleanMessage;
  subject: Line;
  sections: Section[];
  /** Where the next line would be. */
  end: number;
}

const HEADING = /^ {0,3}##[ \t]+(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
export const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)$/;
/** A message with more is not read by anybody. */
const MAX_SECTIONS = 1000;

const lineOf = ({ lines, numbers }: CleanMessage, i: number): Line => ({
  text: lines[i] ?? '',
  line: numbers?.[i] ?? i + 1,
});

export function readMessage(message: CleanMessage): Reading {
  const { lines } = message;
  const sections = findHeadings(lines).map((at, i, all): Section => {
    const { text, line } = lineOf(message, at);
    return { text: HEADING.exec(text)?.[1] ?? '', line, from: at + 1, to: all[i + 1] ?? lines.length };
  });
  const end = lines.length === 0 ? 1 : lineOf(message, lines.length - 1).line + 1;
  return { message, subject: lineOf(message, 0), sections, end };
}

/** The positions of headings. Lines inside a fenced code block are code; a fence that is never closed is text. */
function findHeadings(lines: readonly string[]): number[] {
  const found: number[] = [];
  let fence = '';
  let fenced: number[] = [];
  for (let i = 1; i < lines.length && found.length + fenced.length < MAX_SECTIONS; i++) {
    const text = lines[i] as string;
    if (text.includes('##')) {
      if (HEADING.test(text)) (fence === '' ? found : fenced).push(i);
    } else if (text.includes('```') || text.includes('~~~')) {
      const mark = FENCE.exec(text)?.[1] ?? '';
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence) && text.trim() === mark) [fence, fenced] = ['', []];
    }
  }
  return [...found, ...fenced];
}

/** A squash may leave several sections with one name. They count as one. */
export const linesOf = ({ message, sections }: Reading, name: SectionName): string[] =>
  sections.flatMap(({ text, from, to }) => (text === name ? message.lines.slice(from, to) : []));

/** Whether a line is a heading of the protocol. */
export const isHeading = (line: string): boolean =>
  (SECTIONS as readonly string[]).includes(HEADING.exec(line)?.[1]?.trimEnd() ?? '');

/** The last `- Name: value` of a section; null without one. */
export function fieldOf({ message, sections }: Reading, section: SectionName, name: string): Line | null {
  for (const { text: heading, from, to } of sections.toReversed())
    for (let i = to - 1; i >= from && heading === section; i--) {
      const text = message.lines[i] as string;
      const item = text.includes(`${name}:`) ? ITEM.exec(text)?.[1] : undefined;
      const value = item?.startsWith(`${name}:`) ? item.slice(name.length + 1).trim() : '';
      if (value !== '') return { ...lineOf(message, i), text: value };
    }
  return null;
}

/** What is known about the commit beside its text. */
export interface Surroundings {
  /** It is a commit already. */
  stored?: boolean | undefined;
  /** The commit that it follows: a hash, or null for none. */
  parent?: string | null | undefined;
  /** A hash that the message names, and that is no commit here. */
  unknownParent?: string | undefined;
}

/** RFC-9060 §5.1, rule by rule, in the order of the message. */
export function checkReading(reading: Reading, rules: CommitRules, about: Surroundings): Problem[] {
  const problems = [
    ...checkSubject(reading, rules, about),
    ...checkBlank(reading),
    ...checkSections(reading, rules),
    ...checkHeadings(reading, rules),
    ...checkContents(reading, rules, about),
  ];
  return problems.filter(({ rule }) => !rules.off.has(rule));
}

const problem = (rule: RuleName, line: number, message: string, fix: string): Problem => ({
  rule,
  line,
  message,
  fix,
});

const SUBJECT = /^\[([^[\] ]{1,100})\](?: +(.*))?$/;
const BARE = /^\[?([A-Z][A-Z0-9]*-\d{1,18})[\]: ]+(\S.*)$/;
/** What a hosting service appends to the subject of a squashed pull request. */
export const REQUEST_NUMBER = / \([#!]\d+\)$/;

function checkSubject(reading: Reading, rules: CommitRules, { stored }: Surroundings): Problem[] {
  const { text, line } = reading.subject;
  const match = SUBJECT.exec(text);
  if (!match) return stored && isStripped(reading, rules) ? [] : [noSubject(text, line)];
  const [, id = '', description = ''] = match;
  const problems: Problem[] = [];
  if (!rules.isId(id)) {
    const fix = `[${NO_ISSUE}] ${oneLine(description, 100) || 'what the change does'}`;
    const message = `${oneLine(id, 64)} is not the id of an issue or a feature, nor ${NO_ISSUE}.`;
    problems.push(problem('id', line, message, fix));
  }
  if (description === '') {
    const fix = `[${oneLine(id, 64)}] what the change does`;
    problems.push(problem('description', line, 'The subject has no description.', fix));
  }
  return [...problems, ...checkLength(text, line, rules)];
}

function noSubject(text: string, line: number): Problem {
  if (text === '')
    return problem('subject', line, 'The message has no subject.', `[${NO_ISSUE}] what the change does`);
  const bare = BARE.exec(text.slice(0, 500));
  const fix = bare ? `[${bare[1]}] ${bare[2]}` : `[${NO_ISSUE}] ${text.slice(0, 500)}`;
  return problem('subject', line, 'The subject is not "[ID] description".', oneLine(fix, 100));
}

/** `git am` takes everything in brackets from a subject. Its Backtrace still names the issue. */
function isStripped(reading: Reading, rules: CommitRules): boolean {
  const issue = fieldOf(reading, 'Backtrace', 'Linear');
  return issue ? rules.isIssue(issue.text) : false;
}

function checkLength(subject: string, line: number, { subjectLength }: CommitRules): Problem[] {
  const text = subject.slice(0, 10_000).replace(REQUEST_NUMBER, '') + subject.slice(10_000);
  // A text far over the limit need not be counted in characters.
  const length = text.length > subjectLength * 4 ? text.length : [...text].length;
  if (length <= subjectLength) return [];
  const words = oneLine(text.slice(0, subjectLength * 4), subjectLength).replace(/ [^ ]*…$/, '');
  const message = `The subject has ${length} characters; ${subjectLength} are allowed.`;
  return [problem('subject-length', line, message, words)];
}

function checkBlank({ message: text }: Reading): Problem[] {
  const second = lineOf(text, 1);
  if (second.text === '') return [];
  const message = 'The line below the subject is not empty.';
  return [problem('blank-line', second.line, message, `\n${oneLine(second.text, 100)}`)];
}

/** What to write below each heading. */
const SAMPLES: Record<SectionName, string> = {
  What: '- what changed',
  Why: 'why it changed',
  Memory: '- Learned: none',
  Backtrace: '- Parent: none\n- Linear: none\n- Session: none',
};

const isMissing = ({ sections }: Reading, name: SectionName, rules: CommitRules): boolean =>
  rules.sections.has(name) && !sections.some(({ text }) => text === name);

function checkSections(reading: Reading, rules: CommitRules): Problem[] {
  return SECTIONS.filter((name) => isMissing(reading, name, rules)).map((name) => {
    const lost = reading.message.dropped.find(({ text }) => text.endsWith(` ${name}`));
    if (lost) {
      const message = `Git takes "## ${name}" for a comment and drops it.`;
      return problem('sections', lost.line, message, ` ## ${name}`);
    }
    const like = reading.message.lines
      .slice(1, MAX_SECTIONS)
      .findIndex((text) => meantHeading(text) === name);
    if (like >= 0) {
      const { text, line } = lineOf(reading.message, like + 1);
      const message = `${JSON.stringify(text.trim())} is not the heading "## ${name}".`;
      return problem('sections', line, message, `## ${name}`);
    }
    const message = `"## ${name}" is missing.${isSquashed(reading) ? ` ${SQUASHED}` : ''}`;
    return problem('sections', reading.end, message, `## ${name}\n${SAMPLES[name]}`);
  });
}

/** Git drops the headings of a squash that goes through an editor, and asks no hook that may refuse it. */
const SQUASHED =
  'Git dropped the headings as comments; forge commit --amend writes them anew, and git config core.commentChar ";" keeps them.';
const isSquashed = ({ message, sections }: Reading): boolean =>
  sections.length === 0 && message.lines.some((text) => /^- (?:Learned|Updated|Parent): /.test(text));

const SIMILAR =
  /^[ \t]*(?:[-*+] +)?(?:#{1,6}[ \t]*)?[*_]{0,2}(what|why|memory|backtrace)[*_]{0,2}:?[*_]{0,2}[ \t#]*$/i;

/** The section that a line such as `**What**`, `## what` or `### Why:` stands for. */
function meantHeading(text: string): SectionName | undefined {
  const word = text.length > 40 ? undefined : SIMILAR.exec(text)?.[1]?.toLowerCase();
  return SECTIONS.find((name) => name.toLowerCase() === word);
}

const MAX_HEADINGS = 10;

/** Headings that are not of the protocol. Four spaces in front make them text. */
function checkHeadings(reading: Reading, rules: CommitRules): Problem[] {
  const isKnown = (name: string): boolean => (SECTIONS as readonly string[]).includes(name);
  return reading.sections
    .flatMap(({ text, line }) => {
      const meant = meantHeading(`## ${text}`);
      // A heading that stands for a missing one was reported as that.
      if (isKnown(text) || (meant && isMissing(reading, meant, rules))) return [];
      const shown = oneLine(text.slice(0, 200), 60);
      const fix = meant ? `## ${meant}` : `    ## ${shown}`;
      return [problem('headings', line, `"## ${shown}" is not a heading of the protocol.`, fix)];
    })
    .slice(0, MAX_HEADINGS);
}

function checkContents(reading: Reading, rules: CommitRules, about: Surroundings): Problem[] {
  return SECTIONS.flatMap((name) => {
    const section = reading.sections.findLast(({ text }) => text === name);
    return section ? CONTENTS[name](reading, section.line + 1, rules, about) : [];
  });
}

type Content = (reading: Reading, line: number, rules: CommitRules, about: Surroundings) => Problem[];

const PLACEHOLDER = /^(?:todo|tbd|fixme|wip|xxx|none|n\/?a|\?+|\.+|…|-+)[.:!…]*$/i;
const saysSomething = (text: string): boolean => text !== '' && !PLACEHOLDER.test(text.slice(0, 40));

const checkWhat: Content = (reading, line) =>
  linesOf(reading, 'What').some((text) => saysSomething(ITEM.exec(text)?.[1] ?? ''))
    ? []
    : [problem('what', line, '"## What" has no item.', SAMPLES.What)];

const checkWhy: Content = (reading, line) =>
  linesOf(reading, 'Why').some((text) => saysSomething(text.trim().replace(/^[-*+] +/, '')))
    ? []
    : [problem('why', line, '"## Why" says nothing.', SAMPLES.Why)];

const checkMemory: Content = (reading, line) => {
  if (fieldOf(reading, 'Memory', 'Learned') || fieldOf(reading, 'Memory', 'Updated')) return [];
  const message = '"## Memory" names nothing that was learned or updated.';
  return [problem('memory', line, message, SAMPLES.Memory)];
};

const checkBacktrace: Content = (reading, line, rules, about) => [
  ...['Parent', 'Linear', 'Session']
    .filter((name) => !fieldOf(reading, 'Backtrace', name))
    .map((name) => problem('backtrace', line, `"## Backtrace" has no ${name}.`, `- ${name}: none`)),
  ...checkParent(fieldOf(reading, 'Backtrace', 'Parent'), about),
  ...checkLinear(reading, rules),
];

const PARENT = /^(?:none|([0-9a-f]{7,64}))(?: \(.*\))?$/;

function checkParent(field: Line | null, { parent, unknownParent }: Surroundings): Problem[] {
  const match = field && PARENT.exec(field.text);
  if (!field || (match && (match[1] === undefined || match[1] !== unknownParent))) return [];
  const message = match
    ? `The parent ${oneLine(match[1] ?? '', 64)} is not a commit of this repository.`
    : 'The parent is not the hash of a commit (7 digits or more), nor none.';
  return [problem('backtrace', field.line, message, `- Parent: ${parent?.slice(0, 10) ?? 'none'}`)];
}

function checkLinear(reading: Reading, { isId }: CommitRules): Problem[] {
  const field = fieldOf(reading, 'Backtrace', 'Linear');
  const text = field?.text.slice(0, 500).replace(/ \(.*\)$/, '') ?? '';
  const isKnown = (id: string): boolean => id === 'none' || isId(/\/issue\/([^/]+)/.exec(id)?.[1] ?? id);
  const wrong = text.split(/,[ \t]*/).find((id) => !isKnown(id));
  // The id of the subject was reported there.
  if (!field || wrong === undefined || reading.subject.text.startsWith(`[${wrong}]`)) return [];
  const message = `Linear names ${JSON.stringify(oneLine(wrong, 40))}, which is not the id of an issue.`;
  return [problem('backtrace', field.line, message, '- Linear: none')];
}

const CONTENTS: Record<SectionName, Content> = {
  What: checkWhat,
  Why: checkWhy,
  Memory: checkMemory,
  Backtrace: checkBacktrace,
};
