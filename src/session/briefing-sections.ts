import { escapeControls, firstPaths, oneLine, plural, wordsOf } from '../core/text.js';
import type { World } from '../core/world.js';
import { byHand, countStatuses, type Feature, isUnprovenPass, proofOf, STATUSES } from '../feature/rules.js';
import { type Candidate, selectNext, type Unit } from '../feature/tasks.js';
import { ANY_TASK, type Learning, MAX_CANDIDATES } from '../knowledge/rules.js';
import type { PatternCandidate } from '../learning/knowledge.js';
import { describeCandidate, describeEvidence, type Proven } from '../learning/proven.js';
import { FOREIGN_EDITS_COMMAND } from '../project/edits.js';
import { about } from '../recall/engine.js';
import type { BriefingSection, Source } from './briefing-rules.js';
import {
  type ArchivedSession,
  type Focus,
  focusIn,
  isAbout,
  type Noted,
  notePassed,
  OPENING,
  RECORDED,
  type Regressions,
  resumeStep,
  sessionName,
  shownId,
} from './rules.js';

/** Knowledge as the briefing shows it. */
export type Known = Omit<Proven, 'answered'>;

export interface BriefingData {
  focus: Focus;
  /** How the last cycle of the task failed, for the builder of the next one. */
  lastTry?: readonly string[];
  /** The running session's NEXT line. */
  next: string | null;
  progress: readonly string[];
  last: ArchivedSession | null;
  /** The last session on this task. */
  before: ArchivedSession | null;
  /** The sessions whose NEXT counts. */
  handovers: readonly ArchivedSession[];
  features: readonly Feature[];
  /** Features that passed before they failed. Empty texts for what is unknown. */
  regressions?: Regressions;
  learnings: readonly Learning[];
  /** Invariants of architecture.md. */
  architecture: readonly string[];
  /** Whether a person approved these exact invariants on this machine. */
  isApproved: (text: string) => boolean;
  /** Changed and new files outside of `.forge/`: how many, and the names of the first ones. */
  uncommitted: number;
  changed: string;
  /** The git operation in progress. */
  operation: string | null;
  /** Uncommitted files of memory that another program wrote. */
  foreign: readonly string[];
  /** Knowledge from consolidation or a human. */
  proven: readonly Known[];
  /** Candidates for knowledge, those seen most often first. */
  candidates: readonly PatternCandidate[];
  /** Questions that the last sessions answered, oldest first. */
  answers: readonly string[];
  /** The last notes, oldest first. */
  notes: readonly string[];
  /** ADR-0003's groups of findings in this session. */
  findings: readonly string[];
  /** Working memory of the resumed session that is not in force. */
  offered: readonly { kind: string; text: string }[];
  /** What other clones promoted. */
  elsewhere: readonly { title: string; host: string }[];
  issues: readonly Unit[];
  /** Names and descriptions of the skills that fit the focus. */
  skills: readonly string[];
  commits: readonly { short: string; at: string; subject: string }[];
  tool?: World['tool'];
}

const SHOWN_FILES = 20;

/** The first items, and how many more there are. `command` shows all. */
function firstOf(items: readonly string[], count: number, command: string): string[] {
  const left = items.length - count;
  return [...items.slice(0, count), ...(left > 0 ? [`… ${left} more${command}`] : [])];
}

function focusItems({ focus, features, regressions = {} }: BriefingData): string[] {
  if (focus.task === null) return ['No task is set. forge next shows what could be done.'];
  const items = [`Task: ${oneLine(focus.task, 400)}`];
  const feature = features.find(({ id }) => isAbout(focus, id));
  if (feature) items.push(`Status: ${feature.status}${doubtOf(feature)}${brokenSince(feature, regressions)}`);
  if (feature?.tests?.length) items.push(`Tests: ${feature.tests.map((test) => oneLine(test)).join('; ')}`);
  if (focus.linear_issue) items.push(`Issue: ${oneLine(focus.linear_issue)}`);
  // Every task begins with it.
  if (focus.phase && focus.phase !== 'PLAN') items.push(`Phase: ${oneLine(focus.phase)}`);
  if (focus.skill) items.push(`Skill: ${oneLine(focus.skill)}`);
  if (focus.blockers.length > 0)
    items.push(`Blockers: ${focus.blockers.map((text) => oneLine(text)).join('; ')}`);
  const files = focus.files.map((file) => oneLine(file));
  if (files.length > 0) items.push(`Files: ${firstOf(files, SHOWN_FILES, '').join(', ')}`);
  return items;
}

/** An agent cannot know from its status that such a feature waits for a person or for a better test. */
const doubtOf = (feature: Feature): string =>
  isUnprovenPass(feature)
    ? ` (its tests pass and never failed: it needs a test that fails without the work, or a person who runs ${proofOf(feature)})`
    : '';

function brokenSince({ id, status }: Feature, regressions: Regressions): string {
  const commit = regressions[id]?.commit;
  if (status !== 'failing' || commit === undefined) return '';
  return `; it passed ${commit === '' ? 'before' : `when HEAD was ${commit.slice(0, 12)}`} (forge feature show ${id})`;
}

const SHOWN_PROGRESS = 5;

/** An entry of progress.txt, except those that every session begins with. */
const isOwnEntry = (line: string): boolean => /^\[\d\d:\d\d\] /.test(line) && !OPENING.test(line.slice(8));

const progressItems = ({ progress }: BriefingData): string[] =>
  progress
    .filter(isOwnEntry)
    .slice(-SHOWN_PROGRESS)
    .map((line) => oneLine(line, 300));

const SHOWN_BEFORE = 3;

/** What a session did. The agent's own words say more than the lines that forge recorded. */
function ownWork({ progress = [] }: ArchivedSession): string[] {
  const all = progress.filter(isOwnEntry).map((line) => line.slice('[00:00] '.length));
  const work = all.filter((line) => line !== 'Session ending');
  const own = work.filter((line) => !RECORDED.test(line));
  return own.length > 0 ? own : work;
}

const beforeItems = ({ before }: BriefingData): string[] =>
  before
    ? ownWork(before)
        .slice(-SHOWN_BEFORE)
        .map((line) => oneLine(line, 200))
    : [];

/** The running session's next step. Without one, that of the last session on this task, then those handed over. */
function nextItems(data: BriefingData): string[] {
  const { next, last, before, handovers } = data;
  if (next !== null) return [escapeControls(next)];
  const sessions = [...new Set([...(before ? [before] : []), ...handovers])];
  const ids = sessions.map(({ id }) => id);
  const named = sessions.filter((session) => session.next !== null);
  const noted = notePassed(named, data.features, data.regressions);
  const steps = noted.map((one) => stepItem(data, one, ids));
  const offer = last && offerOf(data, last);
  if (!offer || named.some(({ id }) => id === last.id)) return steps;
  return [...steps, `Session ${sessionName(last.id)} was ${offer}`];
}

/** How to go on with a session, if it is the last one and was interrupted. */
function offerOf({ last, tool }: BriefingData, { id }: ArchivedSession): string | null {
  if (last?.id !== id || last.status !== 'interrupted' || last.resumed_by) return null;
  const did = ownWork(last).at(-1);
  const doing = did === undefined ? '' : ` after "${oneLine(did, 300)}"`;
  return `interrupted${doing}: ${resumeStep(tool, sessionName(id))}`;
}

function stepItem(data: BriefingData, { session, notes }: Noted, all: readonly string[]): string {
  const { focus } = data;
  const { id, next } = session;
  const { task } = focusIn(session);
  const isOther = focus.task !== null && task !== null && task !== focus.task;
  const about = [
    `from ${shownId(id, all)}${isOther ? ` on ${oneLine(task, 60)}` : ''}`,
    ...notes,
    ...[offerOf(data, session) ?? []].flat(),
  ];
  return `${escapeControls(next ?? '')} (${about.join('; ')})`;
}

/** A feature list can have hundreds: always the counts, then the few that could be worked on now. */
const SHOWN_FEATURES = 8;

function featureItems({ features, issues, focus }: BriefingData): string[] {
  if (features.length === 0) return [];
  const counts = countStatuses(features);
  const parts = STATUSES.filter((status) => counts[status] > 0).map(
    (status) => `${counts[status]} ${status}`,
  );
  // The task is in the focus.
  const open = selectNext(features, issues).candidates.filter(
    ({ source, id }) => source === 'feature' && !isAbout(focus, id),
  );
  return [
    `${plural(features.length, 'feature')}: ${parts.join(', ')}`,
    ...byHand(features),
    ...firstOf(open.map(candidateItem), SHOWN_FEATURES, ''),
  ];
}

const candidateItem = ({ id, title, status, blocked_by }: Candidate): string =>
  `${id} ${oneLine(title, 120)} [${status}${blocked_by.length > 0 ? `, waits for ${oneLine(blocked_by.join(', '))}` : ''}]`;

/** Entries about the task, the best first. */
function related<T>({ focus }: BriefingData, entries: readonly T[], textOf: (entry: T) => string): T[] {
  const subject = [focus.task ?? '', focus.linear_issue ?? '', ...focus.files].join(' ');
  return about(entries.map(textOf), subject).map((at) => entries[at] as T);
}

/** Entries about the task, then the others, the newest first. */
function byTask<T>(data: BriefingData, entries: readonly T[], textOf: (entry: T) => string): T[] {
  const newest = [...entries].reverse();
  return [...new Set([...related(data, newest, textOf), ...newest])];
}

/** Those of the task, then those seen most often. */
function chooseCandidates(data: BriefingData): PatternCandidate[] {
  const leastFirst = [...data.candidates].reverse();
  return byTask(data, leastFirst, ({ pattern }) => pattern).slice(0, MAX_CANDIDATES);
}

function knowledgeItems(data: BriefingData, wanted: Known['status']): string[] {
  const entries = data.proven.filter(({ status }) => status === wanted);
  return byTask(data, entries, ({ pattern }) => pattern).map((entry) => {
    const { pattern, scope, record } = entry;
    return `${oneLine(pattern, 300)} (${scope}, ${describeEvidence(entry)}) [knowledge ${record.slice(0, 12)}]`;
  });
}

const SHOWN_NOTES = 5;

/** Those of the task and about it, or else the newest. There may be hundreds. */
function noteItems(data: BriefingData): string[] {
  const id = data.focus.task?.split(': ')[0];
  const newest = [...data.notes].reverse();
  const own = newest.filter((note) => note.includes(` (${id}) [note `));
  const told = new Set([...own, ...related(data, newest, (note) => note)]);
  const shown = [...(told.size > 0 ? told : newest)].slice(0, SHOWN_NOTES);
  const more = newest.length - shown.length;
  return more > 0 ? [...shown, `… ${more} more: forge note list`] : shown;
}

const SHOWN_ANSWERS = 5;

/** The newest first, which may correct an older one. */
const answerItems = ({ answers }: BriefingData): string[] =>
  answers
    .slice(-SHOWN_ANSWERS)
    .reverse()
    .map((text) => oneLine(text, 400));

function learningItem(learning: Learning): string {
  if (learning.kind === 'invariant') return oneLine(learning.text, 400);
  const about = learning.context === ANY_TASK ? '' : learning.context;
  if (learning.kind === 'success')
    return oneLine(about === '' ? learning.approach : `${about} → ${learning.approach}`, 400);
  const resolution = learning.resolution === '' ? '' : ` → ${learning.resolution}`;
  return oneLine(`Failed: ${about === '' ? '' : `${about}: `}${learning.issue}${resolution}`, 400);
}

const SHOWN_PATTERNS = 8;

function patternItems(data: BriefingData, patterns: readonly Learning[]): string[] {
  const items = byTask(data, patterns, learningItem).map((learning) => {
    const item = learningItem(learning);
    const task = data.features.find(({ id, name }) => item.includes(`${id}: ${name}`));
    // Its id suffices.
    const short = task ? item.replace(`${task.id}: ${task.name}`, task.id) : item;
    return `${short} [lesson ${learning.id}]`;
  });
  return firstOf(items, SHOWN_PATTERNS, ': forge knowledge list');
}

const commitItem = ({ short, at, subject }: BriefingData['commits'][number]): string =>
  `${short} ${at.slice(0, 10)} ${oneLine(subject, 100)}`;

const issueItem = ({ linear_id, title, state }: Unit): string =>
  `${oneLine(linear_id, 64)} ${oneLine(title, 120)}${state ? ` [${oneLine(state, 40)}]` : ''}`;

const changeItems = ({ uncommitted, changed, operation }: BriefingData): string[] => [
  ...(operation ? [`${operation[0]?.toUpperCase()}${operation.slice(1)} is in progress (git status)`] : []),
  ...(uncommitted > 0
    ? [`${plural(uncommitted, 'file')} changed since the last commit (git status): ${changed || '…'}`]
    : []),
];

const STATED = 'stated in the repository; a person approves them with forge trust';
const SHOW = 'forge architecture show';

type Row = [key: string, title: string, items: string[], command: string, priority: number, source: Source];

/** In reading order. `priority` is the order in which they are cut (SES-03). */
export function briefingSections(data: BriefingData): BriefingSection[] {
  const candidates = chooseCandidates(data);
  const { rules, architecture, invariants, patterns } = sortLearnings(data, candidates);
  const { offered, findings, foreign, commits, issues, skills, tool, lastTry } = data;
  const take = tool?.('session_working_memory_update') ?? 'forge kfr patch --add "KIND:TEXT"';
  const left = `Left by the resumed session, not in force (${take} takes one over)`;
  const leftItems = offered.map(({ kind, text }) => `${kind}: ${oneLine(text, 300)}`);
  const edited = 'Memory edited outside forge, not committed: check before you rely on it';
  const editedItems = foreign.length > 0 ? [firstPaths(foreign)] : [];
  const contested = 'Contested knowledge: do not rely on it';
  const confirm = tool ? `${tool('session_end')} {"confirm":["ID"]}` : 'forge end --confirm ID';
  const lessons = 'Learned patterns (not true? forge knowledge remove ID)';
  const again = `Candidates: seen again? At the end: ${confirm}. Not true? forge knowledge remove ID`;
  const noted = 'Notes (answered, or not true now? forge note remove ID)';
  const others = `${architecture.length > 0 ? 'Other invariants' : 'Invariants'}, ${STATED}`;
  const [list, promote, events] = [
    'forge knowledge list',
    'forge memory promote',
    'forge events list --type learning',
  ];
  const fitting = `Skills for this (forge skill show NAME${tool ? ', or .forge/skills/NAME/instructions.md' : ''})`;
  const tryRows: Row[] = lastTry
    ? [['try', 'Last try', [...lastTry], 'forge memory report', 1, 'asserted']]
    : [];
  const rows: Row[] = [
    ['rules', 'Rules of this project, approved by a human', rules, list, 2, 'authoritative'],
    ['focus', 'Focus', focusItems(data), 'forge focus show', 1, 'asserted'],
    ...tryRows,
    ['findings', 'Execution memory', [...findings], 'forge finding list', 4, 'asserted'],
    ['next', 'Next step', nextItems(data), 'forge session list', 2, 'asserted'],
    ['before', 'The last session on this task', beforeItems(data), 'forge session list', 3, 'asserted'],
    ['progress', 'Done in this session', progressItems(data), 'forge progress show', 3, 'asserted'],
    ['offered', left, leftItems, 'forge session list', 2, 'asserted'],
    ['foreign', edited, editedItems, FOREIGN_EDITS_COMMAND, 2, 'proven'],
    ['features', 'Features', featureItems(data), 'forge ls', 3, 'asserted'],
    ['proven', 'Long-term knowledge', knowledgeItems(data, 'valid'), promote, 4, 'learned'],
    ['elsewhere', 'Learned elsewhere; pull to get it', elsewhereItems(data), events, 5, 'asserted'],
    ['contested', contested, knowledgeItems(data, 'contested'), promote, 4, 'learned'],
    ['patterns', lessons, patternItems(data, patterns), list, 5, 'learned'],
    ['answers', 'Questions answered', answerItems(data), 'forge session list', 5, 'learned'],
    ['notes', noted, noteItems(data), 'forge note list', 5, 'learned'],
    ['candidates', again, candidates.map(describeCandidate), promote, 5, 'learned'],
    ['architecture', `Invariants of the architecture, ${STATED}`, architecture, SHOW, 4, 'asserted'],
    ['invariants', others, invariants.map(learningItem), list, 4, 'asserted'],
    ['uncommitted', 'Uncommitted changes', changeItems(data), 'git status', 6, 'proven'],
    ['commits', 'Last commits', commits.map(commitItem), 'git log', 7, 'asserted'],
    ['issues', 'Active issues', issues.map(issueItem), 'forge next', 6, 'asserted'],
    ['skills', fitting, [...skills], 'forge skill match', 8, 'asserted'],
  ];
  return rows.map(([key, title, items, command, priority, source]) => ({
    ...{ key, title, items, command, priority, source },
  }));
}

function elsewhereItems({ elsewhere, proven }: BriefingData): string[] {
  const known = new Set(proven.map(({ pattern }) => keyOf(oneLine(pattern, 300))));
  const news = elsewhere.filter(({ title }) => !known.has(keyOf(title)));
  return news.map(({ title, host }) => `${oneLine(title, 300)} (${oneLine(host, 60)})`);
}

/**
 * Learnings by kind, without duplicate rules: the wording of architecture.md comes first. What is a candidate or knowledge is
 * listed there, and what a human invalidated nowhere.
 */
function sortLearnings(data: BriefingData, candidates: readonly PatternCandidate[]) {
  const known = new Set<string>();
  const isNew = (text: string): boolean => !known.has(keyOf(text)) && known.add(keyOf(text)) !== undefined;
  const { learnings, proven, isApproved } = data;
  const weighed = [...candidates, ...proven];
  const listed = new Set(weighed.map(({ pattern }) => keyOf(pattern)));
  const isListed = (entry: Learning): boolean =>
    entry.kind === 'success' && listed.has(keyOf(entry.approach));
  const architecture = data.architecture.filter(isNew);
  const invariants = learnings.flatMap((entry) =>
    entry.kind === 'invariant' && isNew(entry.text) ? [entry] : [],
  );
  return {
    rules: [
      ...architecture.filter(isApproved),
      ...invariants.filter(({ text }) => isApproved(text)).map(learningItem),
    ],
    architecture: architecture.filter((text) => !isApproved(text)),
    invariants: invariants.filter(({ text }) => !isApproved(text)),
    patterns: learnings.filter((entry) => entry.kind !== 'invariant' && !isListed(entry)),
  };
}

/** Rules are equal if they differ only in markup, case and a final full stop. */
const keyOf = (text: string): string => wordsOf(text.replace(/[*_`]/g, ''), '.;!');
