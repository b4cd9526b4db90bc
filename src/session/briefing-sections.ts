import { wordsOf } from '../core/text.js';
import { type NewLearning, readLearnings } from '../knowledge/rules.js';
import {
  type BriefingData,
  commitItems,
  featureItems,
  focusItems,
  issueItem,
  learningItem,
  nextItems,
  provenItems,
  regressedItem,
} from './briefing-items.js';
import type { BriefingSection } from './briefing-rules.js';

/** With the learnings by kind, and each rule said once: the architecture's words come first. */
interface Told extends BriefingData {
  architecture: readonly string[];
  invariants: readonly NewLearning[];
  patterns: readonly NewLearning[];
}

interface SectionSpec extends Omit<BriefingSection, 'title' | 'items'> {
  title: string | ((told: Told) => string);
  items(told: Told): string[];
}

/** In the order they are read; `priority` is the order in which they are cut (SES-03). */
const SECTIONS: readonly SectionSpec[] = [
  {
    key: 'focus',
    title: 'Focus',
    items: ({ focus }) => focusItems(focus),
    command: 'forge focus show',
    priority: 1,
    source: 'asserted',
  },
  {
    key: 'next',
    title: 'Next step',
    items: nextItems,
    command: 'forge session list',
    priority: 2,
    source: 'asserted',
  },
  {
    key: 'regressed',
    title: 'Regressed since they were last verified',
    items: ({ regressed = [] }) => regressed.map(regressedItem),
    command: 'forge feature list',
    priority: 2,
    source: 'proven',
  },
  {
    key: 'features',
    title: 'Features',
    items: featureItems,
    command: 'forge feature list',
    priority: 3,
    source: 'proven',
  },
  {
    key: 'proven',
    title: 'Proven knowledge',
    items: provenItems,
    command: 'forge memory promote',
    priority: 4,
    source: 'proven',
  },
  {
    key: 'patterns',
    title: 'Learned patterns',
    items: ({ patterns }) => patterns.map(learningItem),
    command: 'forge knowledge list',
    priority: 5,
    source: 'learned',
  },
  {
    key: 'architecture',
    title: 'Invariants of the architecture',
    items: ({ architecture }) => [...architecture],
    command: 'forge architecture show',
    priority: 4,
    source: 'asserted',
  },
  {
    key: 'invariants',
    title: ({ architecture }) => (architecture.length > 0 ? 'Other invariants' : 'Invariants'),
    items: ({ invariants }) => invariants.map(learningItem),
    command: 'forge knowledge list',
    priority: 4,
    source: 'asserted',
  },
  {
    key: 'commits',
    title: 'Last commits',
    items: commitItems,
    command: 'git log',
    priority: 7,
    source: 'asserted',
  },
  {
    key: 'issues',
    title: 'Active issues',
    items: ({ issues }) => issues.map(issueItem),
    command: 'forge next',
    priority: 6,
    source: 'asserted',
  },
];

export function briefingSections(data: BriefingData): BriefingSection[] {
  const told = sayOnce(data);
  return SECTIONS.map(({ key, title, items, ...rest }) => ({
    key,
    title: typeof title === 'string' ? title : title(told),
    items: items(told),
    ...rest,
  }));
}

function sayOnce(data: BriefingData): Told {
  const said = new Set<string>();
  const isNew = (text: string): boolean => !said.has(keyOf(text)) && said.add(keyOf(text)) !== undefined;
  const learnings = readLearnings(data.knowledge);
  return {
    ...data,
    architecture: (data.architecture ?? []).filter(isNew),
    invariants: learnings.filter((entry) => entry.kind === 'invariant' && isNew(entry.text)),
    patterns: learnings.filter(({ kind }) => kind !== 'invariant').reverse(),
  };
}

/** Markup, case and a final full stop make no other rule. */
const keyOf = (text: string): string => wordsOf(text.replace(/[*_`]/g, ''), '.;!');
