import { countStatuses, type Feature, STATUSES } from '../feature/feature.js';
import { type Knowledge, type NewLearning, readLearnings } from '../knowledge/knowledge.js';
import type { Proven } from '../learning/proven.js';
import type { Unit } from '../linear.js';
import { type Candidate, selectNext } from '../next.js';
import { escapeControls, oneLine, plural, wordsOf } from '../text.js';
import type { BriefingSection } from './briefing.js';
import type { Focus } from './focus.js';
import { type ArchivedSession, sessionName } from './session.js';

/** What the briefing is made from. */
export interface BriefingData {
  focus: Focus;
  /** The running session's NEXT line. */
  next: string | null;
  last: ArchivedSession | null;
  /** Whose NEXT counts, when that is not the last one's. */
  said?: ArchivedSession | null;
  features: readonly Feature[];
  /** Passed until this start, and fail now. */
  regressed?: readonly { id: string; command: string; failure?: string }[] | undefined;
  knowledge: Knowledge;
  /** Invariants of architecture.md. */
  architecture?: readonly string[];
  /** What consolidation promoted, or a human said; nothing that is invalid or unproven. */
  proven?: readonly Proven[];
  issues: readonly Unit[];
  commits: readonly { short: string; at: string; subject: string }[];
}

/** The parts in the order they are read; `priority` is the order in which they are cut (SES-03). */
export function briefingSections(data: BriefingData): BriefingSection[] {
  const learnings = readLearnings(data.knowledge);
  const patterns = learnings.filter(({ kind }) => kind !== 'invariant').reverse();
  const said = new Set<string>();
  const sayOnce = (text: string): boolean => !said.has(keyOf(text)) && said.add(keyOf(text)) !== undefined;
  const architecture = (data.architecture ?? []).filter(sayOnce);
  const invariants = learnings.filter((entry) => entry.kind === 'invariant' && sayOnce(entry.text));
  return [
    {
      key: 'focus',
      title: 'Focus',
      items: focusItems(data.focus),
      command: 'forge focus show',
      priority: 1,
      source: 'asserted',
    },
    {
      key: 'next',
      title: 'Next step',
      items: nextItems(data),
      command: 'forge session list',
      priority: 2,
      source: 'asserted',
    },
    {
      key: 'regressed',
      title: 'Regressed since they were last verified',
      items: (data.regressed ?? []).map(
        ({ id, command, failure }) =>
          `${id} fails: ${oneLine(failure ?? '', 120)} (${oneLine(command, 200)})`,
      ),
      command: 'forge feature list',
      priority: 2,
      source: 'proven',
    },
    {
      key: 'features',
      title: 'Features',
      items: featureItems(data),
      command: 'forge feature list',
      priority: 3,
      source: 'proven',
    },
    {
      key: 'proven',
      title: 'Proven knowledge',
      items: (data.proven ?? [])
        .filter(({ status }) => status === 'valid' || status === 'contested')
        .map(provenItem)
        .reverse(),
      command: 'forge memory promote',
      priority: 4,
      source: 'proven',
    },
    {
      key: 'patterns',
      title: 'Learned patterns',
      items: patterns.map(learningItem),
      command: 'forge knowledge list',
      priority: 5,
      source: 'learned',
    },
    {
      key: 'architecture',
      title: 'Invariants of the architecture',
      items: architecture,
      command: 'forge architecture show',
      priority: 4,
      source: 'asserted',
    },
    {
      key: 'invariants',
      title: architecture.length > 0 ? 'Other invariants' : 'Invariants',
      items: invariants.map(learningItem),
      command: 'forge knowledge list',
      priority: 4,
      source: 'asserted',
    },
    {
      key: 'commits',
      title: 'Last commits',
      items: commitItems(data),
      command: 'git log',
      priority: 7,
      source: 'asserted',
    },
    {
      key: 'issues',
      title: 'Active issues',
      items: data.issues.map(issueItem),
      command: 'forge next',
      priority: 6,
      source: 'asserted',
    },
  ];
}

/** Markup, case and a final full stop make no other rule. */
const keyOf = (text: string): string => wordsOf(text.replace(/[*_`]/g, ''), '.;!');

const SHOWN_FILES = 20;

function focusItems(focus: Focus): string[] {
  if (focus.task === null) return ['No task is set. forge next shows what could be done.'];
  const items = [`Task: ${oneLine(focus.task, 400)}`];
  if (focus.linear_issue) items.push(`Issue: ${oneLine(focus.linear_issue)}`);
  if (focus.phase) items.push(`Phase: ${oneLine(focus.phase)}`);
  if (focus.skill) items.push(`Skill: ${oneLine(focus.skill)}`);
  if (focus.blockers.length > 0)
    items.push(`Blockers: ${focus.blockers.map((text) => oneLine(text)).join('; ')}`);
  const files = focus.files.slice(0, SHOWN_FILES).map((file) => oneLine(file));
  if (focus.files.length > SHOWN_FILES) files.push(`… ${focus.files.length - SHOWN_FILES} more`);
  if (files.length > 0) items.push(`Files: ${files.join(', ')}`);
  return items;
}

function nextItems({ next, last, said: handover = last }: BriefingData): string[] {
  if (next !== null) return [escapeControls(next)];
  if (!last) return [];
  const name = sessionName(last.id);
  const step = handover?.next ?? null;
  const said = step === null ? [] : [`${escapeControls(step)} (from ${sessionName(handover?.id ?? '')})`];
  if (last.status !== 'interrupted' || last.resumed_by) return said;
  return [...said, `Session ${name} was interrupted: forge session start --resume ${name}`];
}

/** A feature list can have hundreds: the counts always, then the few that could be worked on now. */
const SHOWN_FEATURES = 8;

function featureItems({ features, issues }: BriefingData): string[] {
  if (features.length === 0) return [];
  const counts = countStatuses(features);
  const parts = STATUSES.filter((status) => counts[status] > 0).map(
    (status) => `${counts[status]} ${status}`,
  );
  const open = selectNext(features, issues).candidates.filter(({ source }) => source === 'feature');
  const more =
    open.length > SHOWN_FEATURES
      ? [`… ${plural(open.length - SHOWN_FEATURES, 'more')}`.replace(/mores$/, 'more')]
      : [];
  return [
    `${plural(features.length, 'feature')}: ${parts.join(', ')}`,
    ...open.slice(0, SHOWN_FEATURES).map(candidateItem),
    ...more,
  ];
}

const candidateItem = ({ id, title, status, blocked_by }: Candidate): string =>
  `${id} ${oneLine(title, 120)} [${status}${blocked_by.length > 0 ? `, waits for ${oneLine(blocked_by.join(', '))}` : ''}]`;

/** With its record, and a warning where it was contradicted. */
function provenItem({ pattern, scope, kind, record, status, evidence_cycles }: Proven): string {
  const by = kind === 'correction' ? 'a human said so' : plural(evidence_cycles.length, 'cycle');
  const contested = status === 'contested' ? '; CONTESTED, do not rely on it' : '';
  return `${oneLine(pattern, 300)} (${scope}, ${by}${contested}) [knowledge ${record.slice(0, 12)}]`;
}

function learningItem(learning: NewLearning): string {
  if (learning.kind === 'invariant') return oneLine(learning.text, 400);
  if (learning.kind === 'success') return oneLine(`${learning.context} → ${learning.approach}`, 400);
  const resolution = learning.resolution === '' ? '' : ` → ${learning.resolution}`;
  return oneLine(`Failed: ${learning.context}: ${learning.issue}${resolution}`, 400);
}

const commitItems = ({ commits }: BriefingData): string[] =>
  commits.map(({ short, at, subject }) => `${short} ${at.slice(0, 10)} ${oneLine(subject, 100)}`);

const issueItem = ({ linear_id, title, state }: Unit): string =>
  `${oneLine(linear_id, 64)} ${oneLine(title, 120)}${state ? ` [${oneLine(state, 40)}]` : ''}`;
