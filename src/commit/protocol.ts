import { lineAt, oneLine } from '../core/text.js';
import {
  cleanMessage,
  DEFAULT_COMMENT,
  fieldOf,
  ITEM,
  type Line,
  linesOf,
  type Reading,
  readMessage,
  SECTIONS,
  type SectionName,
} from './message.js';
import {
  type Circumstances,
  type CommitRules,
  type Exemption,
  exemptionOf,
  isRevert,
  type Mark,
  markOf,
  NO_ISSUE,
  type Problem,
  REQUEST_NUMBER,
  type RuleName,
} from './rules.js';

/** How a message is to be taken; nothing given: a file that git will read as it is. */
export interface MessageState extends Circumstances {
  /** What comments of a message file begin with. */
  comment?: string | undefined;
  /** Git drops comments. */
  strips?: boolean;
}

export interface CheckedMessage {
  subject: string;
  exempt?: Exemption;
  problems: Problem[];
  /** Whether its text shows that somebody asked for the protocol, or that an agent wrote it. */
  mark: Mark;
  /** Git will refuse it by itself. */
  empty: boolean;
}

/** A message shows no more than these. */
const MAX_PROBLEMS = 20;

/** GIT-01: what is to be written otherwise. Never throws, and reads each character a fixed number of times. */
export function checkMessage(
  bytes: Uint8Array,
  rules: CommitRules,
  state: MessageState = {},
): CheckedMessage {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { subject: '', mark: null, empty: false, problems: [notUtf8(bytes)] };
  }
  const lines = cleanMessage(text, state.strips ? (state.comment ?? DEFAULT_COMMENT) : undefined);
  const texts = lines.map((line) => line.text);
  const exempt = lines.length === 0 ? null : exemptionOf(texts, state, rules);
  const broken = exempt ? [] : checkReading(readMessage(lines), rules, state);
  return {
    subject: oneLine((texts[0] ?? '').slice(0, 500), 200),
    ...(exempt ? { exempt } : {}),
    problems: [...unreadable(text), ...broken].slice(0, MAX_PROBLEMS),
    mark: markOf(texts, rules, state.people?.authorEmail),
    empty: lines.length === 0,
  };
}

/** Facts from the first line. */
const OF_SUBJECT: ReadonlySet<RuleName> = new Set(['subject', 'id', 'description', 'subject-length']);

/** True if the subject shows that its commit does not follow the protocol. It also identifies reverts. */
export function breaksProtocol(
  { subject, parents }: { subject: string; parents: number },
  rules: CommitRules,
): boolean {
  if (isRevert(subject)) return false;
  const { problems } = checkMessage(Buffer.from(subject), rules, { stored: true, parents });
  return problems.some(({ rule }) => OF_SUBJECT.has(rule));
}

/** A decoder costs more than a message. A byte order mark stays: git keeps it too. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const problem = (rule: RuleName, line: number, message: string, fix: string): Problem => ({
  rule,
  line,
  message,
  fix,
});

function notUtf8(bytes: Uint8Array): Problem {
  const text = new TextDecoder().decode(bytes);
  const fix = 'The same text in UTF-8; git config --unset i18n.commitEncoding';
  return problem('encoding', lineAt(text, text.indexOf('\ufffd')), 'The message is not valid UTF-8.', fix);
}

/** Characters that git stores unchanged or rejects. Direction overrides display another text than the stored one. */
const UNREADABLE: readonly [RuleName, RegExp, (char: string) => string][] = [
  ['encoding', /^\ufeff/, () => 'The message begins with a byte order mark, which git stores.'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding it is the point
  ['nul', /\u0000/, () => 'There is a NUL character, which git refuses.'],
  [
    'invisible',
    /[\u202a-\u202e\u2066-\u2069]/,
    (char) =>
      `U+${char.charCodeAt(0).toString(16).toUpperCase()} changes the direction of the text that follows.`,
  ],
];

function unreadable(text: string): Problem[] {
  return UNREADABLE.flatMap(([rule, pattern, messageOf]) => {
    const at = text.search(pattern);
    if (at < 0) return [];
    const start = Math.max(text.lastIndexOf('\n', at) + 1, at - 200);
    const line = text.slice(start, at + 200).split('\n')[0] ?? '';
    const fix = oneLine(line.replace(new RegExp(pattern, 'g'), ''), 100);
    return [problem(rule, lineAt(text, at), messageOf(text.charAt(at)), fix)];
  });
}

/** RFC-9060 §5.1, rule by rule, in the order of the message. */
function checkReading(reading: Reading, rules: CommitRules, state: MessageState): Problem[] {
  const problems = [
    ...checkSubject(reading, rules, state),
    ...checkBlank(reading),
    ...checkSections(reading, rules),
    ...checkHeadings(reading, rules),
    ...checkContents(reading),
    ...checkBacktrace(reading, rules, state),
  ];
  return problems.filter(({ rule }) => !rules.off.has(rule));
}

const SUBJECT = /^\[([^[\] ]{1,100})\](?: +(.*))?$/;
const BARE = /^\[?([A-Z][A-Z0-9]*-\d{1,18})[\]: ]+(\S.*)$/;

function checkSubject(reading: Reading, rules: CommitRules, { stored }: MessageState): Problem[] {
  const { text, line } = reading.subject;
  const match = SUBJECT.exec(text);
  if (!match) {
    // `git am` takes everything in brackets from a subject. Its Backtrace still names the issue.
    const issue = stored && fieldOf(reading, 'Backtrace', 'Linear');
    return issue && rules.isIssue(issue.text) ? [] : [noSubject(text, line)];
  }
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

function checkLength(subject: string, line: number, { subjectLength }: CommitRules): Problem[] {
  const text = subject.slice(0, 10_000).replace(REQUEST_NUMBER, '') + subject.slice(10_000);
  // A text far over the limit need not be counted in characters.
  const length = text.length > subjectLength * 4 ? text.length : [...text].length;
  if (length <= subjectLength) return [];
  const words = oneLine(text.slice(0, subjectLength * 4), subjectLength).replace(/ [^ ]*…$/, '');
  const message = `The subject has ${length} characters; ${subjectLength} are allowed.`;
  return [problem('subject-length', line, message, words)];
}

function checkBlank({ lines: [, second] }: Reading): Problem[] {
  if (!second || second.text === '') return [];
  const fix = `\n${oneLine(second.text, 100)}`;
  return [problem('blank-line', second.line, 'The line below the subject is not empty.', fix)];
}

/** What to write below each heading. */
const SAMPLES: Record<SectionName, string> = {
  What: '- what changed',
  Why: 'why it changed',
  Memory: '- Learned: none',
  Backtrace: '- Parent: none\n- Linear: none\n- Session: none',
};

/** Git drops the headings of a squash that goes through an editor, and asks no hook that may refuse it. */
const SQUASHED =
  ' Git dropped the headings as comments; forge commit --amend writes them anew, and git config core.commentChar ";" keeps them.';

const missing = ({ sections }: Reading, rules: CommitRules): SectionName[] =>
  SECTIONS.filter((name) => rules.sections.has(name) && !sections.some(({ text }) => text === name));

function checkSections(reading: Reading, rules: CommitRules): Problem[] {
  const isSquashed =
    reading.sections.length === 0 &&
    reading.lines.some(({ text }) => /^- (?:Learned|Updated|Parent): /.test(text));
  return missing(reading, rules).map((name) => {
    const like = reading.lines.slice(1, 1000).find(({ text }) => meantHeading(text) === name);
    if (like) {
      const message = `${JSON.stringify(like.text.trim())} is not the heading "## ${name}".`;
      return problem('sections', like.line, message, `## ${name}`);
    }
    const message = `"## ${name}" is missing.${isSquashed ? SQUASHED : ''}`;
    return problem('sections', reading.end, message, `## ${name}\n${SAMPLES[name]}`);
  });
}

const SIMILAR =
  /^[ \t]*(?:[-*+] +)?(?:#{1,6}[ \t]*)?[*_]{0,2}(what|why|memory|backtrace)[*_]{0,2}:?[*_]{0,2}[ \t#]*$/i;

/** The section that a line such as `**What**`, `## what` or `### Why:` stands for. */
function meantHeading(text: string): SectionName | undefined {
  const word = text.length > 40 ? undefined : SIMILAR.exec(text)?.[1]?.toLowerCase();
  return SECTIONS.find((name) => name.toLowerCase() === word);
}

/** Headings that are not of the protocol. Four spaces in front make them text. */
function checkHeadings(reading: Reading, rules: CommitRules): Problem[] {
  const lost = missing(reading, rules);
  return reading.sections
    .flatMap(({ text, line }) => {
      const meant = meantHeading(`## ${text}`);
      // A heading that stands for a missing one was reported as that.
      if ((SECTIONS as readonly string[]).includes(text) || (meant && lost.includes(meant))) return [];
      const shown = oneLine(text.slice(0, 200), 60);
      const fix = meant ? `## ${meant}` : `    ## ${shown}`;
      return [problem('headings', line, `"## ${shown}" is not a heading of the protocol.`, fix)];
    })
    .slice(0, 10);
}

const PLACEHOLDER = /^(?:todo|tbd|fixme|wip|xxx|none|n\/?a|\?+|\.+|…|-+)[.:!…]*$/i;
const saysSomething = (text: string): boolean => text !== '' && !PLACEHOLDER.test(text.slice(0, 40));

function checkContents(reading: Reading): Problem[] {
  const check = (name: SectionName, isFilled: boolean, message: string): Problem[] => {
    const section = reading.sections.findLast(({ text }) => text === name);
    if (!section || isFilled) return [];
    const rule = name.toLowerCase() as RuleName;
    return [problem(rule, section.line + 1, message, SAMPLES[name])];
  };
  const hasItem = linesOf(reading, 'What').some((text) => saysSomething(ITEM.exec(text)?.[1] ?? ''));
  const hasReason = linesOf(reading, 'Why').some((text) =>
    saysSomething(text.trim().replace(/^[-*+] +/, '')),
  );
  const hasField = ['Learned', 'Updated'].some((name) => fieldOf(reading, 'Memory', name));
  return [
    ...check('What', hasItem, '"## What" has no item.'),
    ...check('Why', hasReason, '"## Why" says nothing.'),
    ...check('Memory', hasField, '"## Memory" names nothing that was learned or updated.'),
  ];
}

function checkBacktrace(reading: Reading, rules: CommitRules, state: MessageState): Problem[] {
  const section = reading.sections.findLast(({ text }) => text === 'Backtrace');
  if (!section) return [];
  const absent = ['Parent', 'Linear', 'Session'].filter((name) => !fieldOf(reading, 'Backtrace', name));
  return [
    ...absent.map((name) =>
      problem('backtrace', section.line + 1, `"## Backtrace" has no ${name}.`, `- ${name}: none`),
    ),
    ...checkParent(fieldOf(reading, 'Backtrace', 'Parent'), state),
    ...checkLinear(reading, rules),
  ];
}

const PARENT = /^(?:none|([0-9a-f]{7,64}))(?: \(.*\))?$/;

function checkParent(field: Line | null, { parent, unknownParent }: MessageState): Problem[] {
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
