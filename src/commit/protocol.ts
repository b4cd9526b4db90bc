import { oneLine } from '../core/text.js';
import { fieldOf, hasItem, type Reading, type Section, saysSomething } from './read.js';
import {
  type CommitRules,
  NO_ISSUE,
  type Problem,
  type RuleName,
  SECTIONS,
  type SectionName,
} from './rules.js';

/** What stands below each heading where nobody knows better. */
const SAMPLES: Record<SectionName, string> = {
  What: '- what changed',
  Why: 'why it changed',
  Memory: '- Learned: none',
  Backtrace: '- Parent: none\n- Linear: none\n- Session: none',
};
const MAX_HEADINGS = 10;

type Check = (reading: Reading, rules: CommitRules, stored: boolean) => Problem[];

/** RFC-9060 §5.1, rule by rule, in the order of the message. */
export function checkReading(reading: Reading, rules: CommitRules, stored: boolean): Problem[] {
  const problems: Problem[] = [];
  // Most messages of thousands have none.
  for (const check of CHECKS) for (const found of check(reading, rules, stored)) problems.push(found);
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

const checkSubject: Check = (reading, rules, stored) => {
  const { text, line } = reading.subject;
  const match = SUBJECT.exec(text);
  if (!match) return stored && isStripped(reading, rules) ? [] : [noSubject(text, line)];
  const [, id = '', description = ''] = match;
  const problems: Problem[] = [];
  if (!rules.isId(id))
    problems.push(
      problem(
        'id',
        line,
        `${oneLine(id, 64)} is neither an issue's id, nor a feature's, nor ${NO_ISSUE}.`,
        `[${NO_ISSUE}] ${oneLine(description, 100) || 'what the change does'}`,
      ),
    );
  if (description === '')
    problems.push(
      problem(
        'description',
        line,
        'The subject has no description.',
        `[${oneLine(id, 64)}] what the change does`,
      ),
    );
  return [...problems, ...checkLength(text, line, rules)];
};

function noSubject(text: string, line: number): Problem {
  if (text === '')
    return problem('subject', line, 'The message has no subject.', `[${NO_ISSUE}] what the change does`);
  const bare = BARE.exec(text.slice(0, 500));
  const fix = bare ? `[${bare[1]}] ${bare[2]}` : `[${NO_ISSUE}] ${text.slice(0, 500)}`;
  return problem('subject', line, 'The subject is not "[ID] description".', oneLine(fix, 100));
}

/** `git am` takes everything in brackets from a subject; that commit stands, and its Backtrace still names the issue. */
function isStripped({ sections }: Reading, rules: CommitRules): boolean {
  const backtrace = sections.find(({ name }) => name === 'Backtrace');
  const issue = backtrace && fieldOf(backtrace, 'Linear');
  return issue ? rules.isIssue(issue.text) : false;
}

function checkLength(text: string, line: number, { subjectLength }: CommitRules): Problem[] {
  if (text.length <= subjectLength) return [];
  // Far over it the characters need not be counted.
  const length = text.length > subjectLength * 4 ? text.length : [...text].length;
  if (length <= subjectLength) return [];
  const cut = oneLine(text.slice(0, subjectLength * 4), subjectLength);
  const words = cut.replace(/ [^ ]*…$/, '');
  const message = `The subject has ${length} characters; ${subjectLength} are allowed.`;
  return [problem('subject-length', line, message, words)];
}

const checkBlank: Check = ({ second }) =>
  second && second.text !== ''
    ? [
        problem(
          'blank-line',
          second.line,
          'The line below the subject is not empty.',
          `\n${oneLine(second.text, 100)}`,
        ),
      ]
    : [];

const checkSections: Check = ({ sections, dropped, end }, rules) =>
  SECTIONS.filter(
    (name) => rules.sections.has(name) && !sections.some((section) => section.name === name),
  ).map((name) => {
    const lost = dropped.find(({ text }) => text.endsWith(` ${name}`));
    if (lost)
      return problem(
        'sections',
        lost.line,
        `Git takes "## ${name}" for a comment and drops it.`,
        ` ## ${name}`,
      );
    return problem('sections', end, `"## ${name}" is missing.`, `## ${name}\n${SAMPLES[name]}`);
  });

const checkHeadings: Check = ({ sections }) => {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const { name, line } of sections) {
    const known = (SECTIONS as readonly string[]).includes(name);
    if (known && !seen.has(name)) seen.add(name);
    else problems.push(known ? twice(name, line) : unknown(name, line));
    if (problems.length === MAX_HEADINGS) break;
  }
  return problems;
};

const twice = (name: string, line: number): Problem =>
  problem('headings', line, `"## ${name}" stands here a second time.`, `    ## ${name}`);

/** One that is only spelt otherwise, or a text of its own, which four blanks in front keep. */
function unknown(name: string, line: number): Problem {
  const shown = oneLine(name.slice(0, 200), 60);
  const meant = SECTIONS.find((section) => section.toLowerCase() === shown.replace(/:$/, '').toLowerCase());
  const fix = meant ? `## ${meant}` : `    ## ${shown}`;
  return problem('headings', line, `"## ${shown}" is no heading of the protocol.`, fix);
}

/** Of several with one name the last one counts, as for the reader. */
const checkContents: Check = ({ sections }) =>
  SECTIONS.flatMap((name) => {
    const section = sections.findLast((candidate) => candidate.name === name);
    return section ? CONTENTS[name](section) : [];
  });

const checkWhat = (section: Section): Problem[] =>
  hasItem(section) ? [] : [problem('what', section.line + 1, '"## What" has no item.', '- what changed')];

const checkWhy = (section: Section): Problem[] =>
  saysSomething(section)
    ? []
    : [problem('why', section.line + 1, '"## Why" says nothing.', 'why it changed')];

const checkMemory = (section: Section): Problem[] =>
  fieldOf(section, 'Learned') || fieldOf(section, 'Updated')
    ? []
    : [
        problem(
          'memory',
          section.line + 1,
          '"## Memory" says neither what was learned nor what was updated.',
          '- Learned: none',
        ),
      ];

const PARENT = /^(none|[0-9a-f]{7,64})( \(.*\))?$/;

function checkBacktrace(section: Section): Problem[] {
  const missing = ['Parent', 'Linear', 'Session'].filter((name) => !fieldOf(section, name));
  const problems = missing.map((name) =>
    problem('backtrace', section.line + 1, `"## Backtrace" has no ${name}.`, `- ${name}: none`),
  );
  const parent = fieldOf(section, 'Parent');
  if (parent && !PARENT.test(parent.text))
    problems.push(
      problem(
        'backtrace',
        parent.line,
        'The parent is neither the hash of a commit (7 digits or more) nor none.',
        '- Parent: none',
      ),
    );
  return problems;
}

const CONTENTS: Record<SectionName, (section: Section) => Problem[]> = {
  What: checkWhat,
  Why: checkWhy,
  Memory: checkMemory,
  Backtrace: checkBacktrace,
};

const CHECKS: readonly Check[] = [checkSubject, checkBlank, checkSections, checkHeadings, checkContents];
