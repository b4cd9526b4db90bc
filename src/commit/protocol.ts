import { lineAt, oneLine } from '../core/text.js';
import {
  cleanMessage,
  DEFAULT_COMMENT,
  fieldOf,
  ITEM,
  type Line,
  linesOf,
  type ParsedMessage,
  parseLines,
  SECTIONS,
  type SectionName,
} from './message.js';
import {
  type CommitRules,
  type Exemption,
  exemptionOf,
  isRevert,
  type Mark,
  type MessageState,
  markOf,
  NO_ISSUE,
  type Problem,
  REQUEST_NUMBER,
  type RuleName,
} from './rules.js';

export interface CheckedMessage {
  subject: string;
  exempt?: Exemption;
  problems: Problem[];
  mark: Mark;
}

/** Characters. A longer message is not read, so no message can make the check slow. */
const MAX_LENGTH = 100_000;
const MAX_PROBLEMS = 20;

/** A decoder costs more than a message. A byte order mark stays, as in git. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** GIT-01: the rules that a message breaks, each with the text to write. Accepts any bytes. */
export function checkMessage(
  bytes: Uint8Array,
  rules: CommitRules,
  state: MessageState = {},
): CheckedMessage {
  let whole: string;
  try {
    whole = UTF8.decode(bytes);
  } catch {
    const lossy = new TextDecoder().decode(bytes);
    const fix = 'The same text in UTF-8; git config --unset i18n.commitEncoding';
    const line = lineAt(lossy, lossy.indexOf('\ufffd'));
    const problems = [problem('encoding', line, 'The message is not valid UTF-8.', fix)];
    return { subject: '', mark: null, problems };
  }
  const text = whole.slice(0, MAX_LENGTH);
  const lines = cleanMessage(text, state.strips ? (state.comment ?? DEFAULT_COMMENT) : undefined);
  const texts = lines.map((line) => line.text);
  const exempt = texts.length === 0 ? null : exemptionOf(texts, state, rules);
  const broken = exempt
    ? []
    : whole.length > MAX_LENGTH
      ? [problem('size', 1, `The message is longer than ${MAX_LENGTH} characters.`, 'A summary.')]
      : checkProtocol(parseLines(lines), rules, state);
  return {
    subject: oneLine(texts[0]?.slice(0, 500) ?? '', 200),
    ...(exempt ? { exempt } : {}),
    problems: [...checkCharacters(text), ...broken].slice(0, MAX_PROBLEMS),
    mark: markOf(texts, rules, state.people?.authorEmail),
  };
}

/** True if the subject alone shows that its commit breaks the protocol. Its id may be that of a feature since removed. */
export function breaksProtocol(
  { subject, parents }: { subject: string; parents: number },
  rules: CommitRules,
): boolean {
  if (isRevert(subject)) return false;
  const { problems } = checkMessage(Buffer.from(subject), rules, { stored: true, parents });
  return problems.some(({ rule }) => ['subject', 'description', 'subject-length'].includes(rule));
}

const problem = (rule: RuleName, line: number, message: string, fix: string): Problem => ({
  rule,
  line,
  message,
  fix,
});

/** Characters that git stores unchanged or rejects, or that display a different text than the stored one. */
const UNREADABLE: readonly [RuleName, RegExp, string][] = [
  ['encoding', /^\ufeff/, 'The message begins with a byte order mark, which git stores.'],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding it is the point
  ['nul', /\u0000/, 'The message contains a NUL character, which git rejects.'],
  ['invisible', /[\u202a-\u202e\u2066-\u2069]/, 'changes the direction of the text after it.'],
];

function checkCharacters(text: string): Problem[] {
  return UNREADABLE.flatMap(([rule, pattern, message]) => {
    const at = text.search(pattern);
    if (at < 0) return [];
    const line = lineAt(text, at);
    const fixed = (text.split('\n')[line - 1] ?? '').replace(new RegExp(pattern, 'g'), '');
    const char = rule === 'invisible' ? `U+${text.charCodeAt(at).toString(16).toUpperCase()} ` : '';
    return [problem(rule, line, char + message, oneLine(fixed, 100))];
  });
}

/** RFC-9060 §5.1, in the order of the message. */
function checkProtocol(message: ParsedMessage, rules: CommitRules, state: MessageState): Problem[] {
  const problems = [
    ...checkSubject(message, rules, state),
    ...checkSkill(message.subject, rules, state),
    ...checkBlankLine(message),
    ...checkSections(message, rules),
    ...checkContents(message),
    ...checkBacktrace(message, rules, state),
  ];
  return problems.filter(({ rule }) => !rules.off.has(rule));
}

const SUBJECT = /^\[([^[\] ]{1,100})\](?: +(.*))?$/;
const BARE_ID = /^\[?([A-Z][A-Z0-9]*-\d{1,18})[\]: ]+(\S.*)$/;

function checkSubject(message: ParsedMessage, rules: CommitRules, { stored }: MessageState): Problem[] {
  const { text, line } = message.subject;
  const match = SUBJECT.exec(text);
  if (!match) {
    // `git am` removes everything in brackets from a subject, but the Backtrace still has the issue.
    const issue = stored && fieldOf(message, 'Backtrace', 'Linear');
    if (issue && rules.isIssue(issue.text)) return [];
    const bare = BARE_ID.exec(text);
    const fix = bare ? `[${bare[1]}] ${bare[2]}` : `[${NO_ISSUE}] ${text || 'what the change does'}`;
    return [problem('subject', line, 'The subject is not "[ID] description".', oneLine(fix, 100))];
  }
  const [, id = '', description = ''] = match;
  const problems: Problem[] = [];
  if (!rules.isId(id)) {
    const fix = `[${NO_ISSUE}] ${oneLine(description, 100) || 'what the change does'}`;
    const what = `${oneLine(id, 64)} is not the id of an issue or a feature, nor ${NO_ISSUE}.`;
    problems.push(problem('id', line, what, fix));
  }
  if (description === '') {
    const fix = `[${oneLine(id, 64)}] what the change does`;
    problems.push(problem('description', line, 'The subject has no description.', fix));
  }
  return [...problems, ...checkLength(message.subject, rules)];
}

/** SKL-06: only for a commit that is being made, because the skill is active now. */
function checkSkill({ text, line }: Line, { skill }: CommitRules, { stored }: MessageState): Problem[] {
  if (!skill || stored || skill.matches(text)) return [];
  const message = `The subject does not match the commit pattern of skill ${skill.name}.`;
  return [problem('skill', line, message, oneLine(`A subject such as ${skill.pattern}`, 160))];
}

function checkLength({ text, line }: Line, { subjectLength }: CommitRules): Problem[] {
  const subject = text.replace(REQUEST_NUMBER, '');
  const { length } = [...subject];
  if (length <= subjectLength) return [];
  const words = oneLine(subject, subjectLength).replace(/[,;:]? [^ ]*…$/, '');
  const counted = /^\[\S+\] /.test(subject) ? ' with its id' : '';
  const message = `The subject has ${length} characters${counted}; ${subjectLength} are allowed.`;
  return [problem('subject-length', line, message, words)];
}

function checkBlankLine({ lines: [, second] }: ParsedMessage): Problem[] {
  if (!second || second.text === '') return [];
  const fix = `\n${oneLine(second.text, 100)}`;
  return [problem('blank-line', second.line, 'The line below the subject is not empty.', fix)];
}

const SAMPLES: Record<SectionName, string> = {
  What: '- what changed',
  Why: 'why it changed',
  Memory: '- Learned: none',
  Backtrace: '- Parent: none\n- Linear: none\n- Session: none',
};

/** `git rebase -i` with an editor drops the headings, and runs no hook that could prevent it. */
const SQUASHED =
  ' Git dropped the headings as comments. To restore them: forge commit --amend, and for several commits since BASE: git rebase --exec "forge commit --amend" BASE. To keep them: git config core.commentChar ";".';

/** Missing sections and unknown headings. A line such as `## what` or `**Why:**` is both. */
function checkSections({ sections, lines, end }: ParsedMessage, rules: CommitRules): Problem[] {
  const names = new Set(sections.map(({ text }) => text));
  const isSquashed = names.size === 0 && lines.some(({ text }) => /^- (?:Learned|Parent): /.test(text));
  const missing = SECTIONS.filter((name) => rules.sections.has(name) && !names.has(name));
  const unknown = sections.filter(({ text }) => !(SECTIONS as readonly string[]).includes(text));
  return [
    ...missing.map((name) => {
      const message = `"## ${name}" is missing.${isSquashed ? SQUASHED : ''}`;
      return problem('sections', end, message, `## ${name}\n${SAMPLES[name]}`);
    }),
    ...unknown.slice(0, 10).map(({ text, line }) => {
      const shown = oneLine(text, 60);
      return problem('headings', line, `"## ${shown}" is not a heading of the protocol.`, `    ## ${shown}`);
    }),
  ];
}

const PLACEHOLDER = /^(?:todo|tbd|fixme|wip|xxx|none|n\/?a|\?+|\.+|…|-+)[.:!…]*$/i;
const isFilled = (text: string): boolean => text !== '' && !PLACEHOLDER.test(text.slice(0, 40));

function checkContents(message: ParsedMessage): Problem[] {
  const check = (name: SectionName, isComplete: boolean, what: string): Problem[] => {
    const section = message.sections.findLast(({ text }) => text === name);
    if (!section || isComplete) return [];
    return [problem(name.toLowerCase() as RuleName, section.line + 1, `"## ${name}" ${what}`, SAMPLES[name])];
  };
  const checkText = (name: SectionName, texts: readonly string[], what: string): Problem[] => {
    const first = texts.find((text) => text !== '');
    const only = first === undefined ? what : `has only a placeholder: ${oneLine(first, 40)}`;
    return check(name, texts.some(isFilled), only);
  };
  const items = linesOf(message, 'What').map(({ text }) => ITEM.exec(text)?.[1] ?? '');
  const reasons = linesOf(message, 'Why').map(({ text }) => text.trim().replace(/^[-*+] +/, ''));
  const hasField = ['Learned', 'Updated'].some((name) => fieldOf(message, 'Memory', name));
  return [
    ...checkText('What', items, 'has no item.'),
    ...checkText('Why', reasons, 'has no text.'),
    ...check('Memory', hasField, 'has neither "Learned:" nor "Updated:".'),
  ];
}

function checkBacktrace(message: ParsedMessage, rules: CommitRules, state: MessageState): Problem[] {
  const section = message.sections.findLast(({ text }) => text === 'Backtrace');
  if (!section) return [];
  const absent = ['Parent', 'Linear', 'Session'].filter((name) => !fieldOf(message, 'Backtrace', name));
  return [
    ...absent.map((name) =>
      problem('backtrace', section.line + 1, `"## Backtrace" has no ${name}.`, `- ${name}: none`),
    ),
    ...checkParent(fieldOf(message, 'Backtrace', 'Parent'), state),
    ...checkLinear(message, rules),
  ];
}

const PARENT = /^(?:none|([0-9a-f]{7,64}))(?: \(.*\))?$/;

function checkParent(field: Line | null, { parent, unknownParent }: MessageState): Problem[] {
  if (!field) return [];
  const match = PARENT.exec(field.text);
  if (match && (match[1] === undefined || match[1] !== unknownParent)) return [];
  const message = match
    ? `The parent ${unknownParent} is not a commit of this repository.`
    : 'The parent is neither a commit hash (7 digits or more) nor "none".';
  return [problem('backtrace', field.line, message, `- Parent: ${parent?.slice(0, 10) ?? 'none'}`)];
}

/** Linear may have several ids or links, separated by commas, and a note in parentheses. */
function checkLinear(message: ParsedMessage, { isId }: CommitRules): Problem[] {
  const field = fieldOf(message, 'Backtrace', 'Linear');
  const ids =
    field?.text
      .slice(0, 500)
      .replace(/ \(.*\)$/, '')
      .split(/,[ \t]*/) ?? [];
  const isKnown = (id: string): boolean => id === 'none' || isId(/\/issue\/([^/]+)/.exec(id)?.[1] ?? id);
  const wrong = ids.find((id) => !isKnown(id));
  // The check of the subject has reported its own id.
  if (!field || wrong === undefined || message.subject.text.startsWith(`[${wrong}]`)) return [];
  const what = `Linear names ${JSON.stringify(oneLine(wrong, 40))}, which is not the id of an issue.`;
  return [problem('backtrace', field.line, what, '- Linear: none')];
}
