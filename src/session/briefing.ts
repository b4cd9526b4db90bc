import * as z from 'zod/mini';
import { lookBack, recentCommits, withoutOwn } from '../commit/recent.js';
import { readEntries } from '../core/entries.js';
import { focusFile, shown } from '../core/paths.js';
import { checkInput } from '../core/schema.js';
import { makeToken, oneLine } from '../core/text.js';
import { readPromotions } from '../events/heard.js';
import { eventUrl } from '../events/outbox.js';
import { believe } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import { FEATURE_LIST } from '../feature/store.js';
import type { Unit } from '../feature/tasks.js';
import { summarizeFindings } from '../finding/finding.js';
import type { Commit } from '../git/read.js';
import { maskText } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { type Entry, injection, NO_KFR } from '../kfr/rules.js';
import { readInvariants } from '../knowledge/architecture.js';
import { LEARNED_LIST, type Learning, listLearnings } from '../knowledge/rules.js';
import { openCandidates, type PatternCandidate } from '../learning/candidates.js';
import { readIssues, readKnowledge } from '../learning/knowledge.js';
import { derive, readMemory } from '../ledger/memory.js';
import type { Listed } from '../ledger/read.js';
import { findForeignEdits } from '../project/edits.js';
import { type Context, readConfig } from '../project/project.js';
import { matchingMetadata } from '../skill/skill.js';
import { approvedRules } from '../trust/trust.js';
import { archivedIds, kfrIn, recentArchives, requireArchive } from './archive.js';
import { type Briefing, cutBriefing, type Lead } from './briefing-rules.js';
import { type BriefingData, briefingSections, type Known } from './briefing-sections.js';
import { FOCUS, type Focus, NO_FOCUS } from './focus-rules.js';
import { readProgressText } from './progress.js';
import { parseProgress } from './progress-rules.js';
import { readTree } from './record.js';
import { type ArchivedSession, sessionName } from './rules.js';
import { readRunning } from './running.js';
import { workflow } from './workflow.js';

export const BriefingInput = z.strictObject({
  budget: z.optional(z.int().check(z.gte(50), z.lte(100_000))),
  format: z.optional(z.enum(['text', 'markdown'])),
});
export type BriefingInput = z.infer<typeof BriefingInput>;

/** What an agent needs to know, from the files and git. */
export interface Memory {
  learnings: Learning[];
  proven: Known[];
  candidates: PatternCandidate[];
  notes: string[];
  features: Feature[];
  issues: Unit[];
  commits: Commit[];
  last: ArchivedSession | null;
  /** The last one that set NEXT, or ended without one. An interrupted session does not clear it. */
  said: ArchivedSession | null;
  /** The invariants of architecture.md. */
  architecture: string[];
  isApproved: NonNullable<BriefingData['isApproved']>;
  /** Absent without git, or if git fails. */
  uncommitted?: number | undefined;
  foreign?: readonly string[];
  /** Failures that the rerun at session start found. */
  regressed?: BriefingData['regressed'];
  /** The files that were read and are intact. */
  checked: string[];
}

/** The number of notes considered for a briefing. */
const MAX_NOTES = 300;

/** Knowledge, candidates and the last notes. `listed`: the ledger's files, if the caller has just listed them. */
export function readLearned(
  context: Context,
  listed?: readonly Listed[],
): Pick<Memory, 'proven' | 'candidates' | 'notes'> {
  const read = (): Pick<Memory, 'proven' | 'candidates' | 'notes'> => {
    const memory = readMemory(context);
    const known = readKnowledge(context, memory);
    const proven = [...known.values()].map(({ answered: _, ...entry }) => entry);
    const notes = memory.records('note').slice(-MAX_NOTES);
    return {
      proven,
      candidates: openCandidates(memory, known),
      notes: notes.map(({ record }) => oneLine(String(record.text ?? ''), 300)),
    };
  };
  return derive(context, 'told', read, listed);
}

/** The part that comes from files. `listed`: the ledger's, if the caller has just listed them. */
export function readState(
  context: Context,
  listed?: readonly Listed[],
): Omit<Memory, 'commits' | 'architecture' | 'uncommitted' | 'foreign'> {
  const { disk, layout } = context;
  const learned = readEntries(disk, LEARNED_LIST);
  const features = readEntries(disk, FEATURE_LIST);
  const issues = readIssues(context);
  const recent = recentArchives(context);
  const last = recent.at(-1) ?? null;
  return {
    learnings: listLearnings(learned.entries),
    ...readLearned(context, listed),
    features: believe(context, features.entries),
    issues: issues.issues,
    isApproved: approvedRules(context),
    last,
    said: recent.findLast(({ status, next }) => status === 'ended' || next !== null) ?? null,
    checked: [...learned.checked, ...features.checked, ...(issues.bytes ? [issues.path] : [])].map((path) =>
      shown(layout, path),
    ),
  };
}

/** `forge briefing`: the state of the work, read-only. */
export async function brief(context: Context, raw: BriefingInput = {}): Promise<Briefing> {
  const input = checkInput(BriefingInput, raw);
  const config = readConfig(context);
  const log = recentCommits(context, lookBack(config.briefing.commits));
  log.catch(() => undefined);
  const tree = Promise.all([readTree(context), findForeignEdits(context)]);
  tree.catch(() => undefined);
  const state = readState(context);
  const focus = context.disk.readDocument(FOCUS, focusFile(context.layout), NO_FOCUS).value;
  const session = readRunning(context)?.id ?? null;
  const architecture = await readInvariants(context);
  const commits = await maskSubjects(await log);
  const [work, foreign] = await tree;
  return composeBriefing(
    context,
    { ...state, architecture, commits, focus, uncommitted: work?.count, foreign },
    { ...input, session },
  );
}

/** A commit that bypassed the hooks may have a secret in its subject. Masked before subjects are truncated. */
export async function maskSubjects<T extends { subject: string }>(commits: readonly T[]): Promise<T[]> {
  const all = commits.map(({ subject }) => subject).join('\n');
  // All are scanned together, because a finding is rare.
  if ((await maskText(all)) === all) return [...commits];
  return Promise.all(commits.map(async (commit) => ({ ...commit, subject: await maskText(commit.subject) })));
}

interface Options {
  budget?: number | undefined;
  format?: 'text' | 'markdown' | undefined;
  /** The running session. */
  session: string | null;
}

export function composeBriefing(
  context: Context,
  memory: Memory & { focus: Focus },
  { budget, format, session }: Options,
): Briefing {
  const config = readConfig(context);
  const progress = parseProgress(readProgressText(context));
  const commits = withoutOwn(memory.commits).slice(0, config.briefing.commits);
  const sections = briefingSections({
    ...memory,
    commits,
    next: progress.next ?? null,
    progress: session === null ? [] : progress.lines.map(({ time, text }) => `[${time}] ${text}`),
    offered: readOffered(context),
    elsewhere: eventUrl(context) === null ? [] : readPromotions(context),
    findings: session === null ? [] : findingGroups(context),
    skills: matchingMetadata(context, memory.focus),
  });
  const running = session === null ? 'no session is running' : sessionName(session);
  return cutBriefing(
    `FORGE briefing, ${running}`,
    sections,
    budget ?? config.briefing.budget,
    format ?? 'text',
    makeToken(12),
    {
      lead: leadOf(context, session),
      guide: context.world.terminal ? null : workflow(context.world).join('\n'),
    },
  );
}

/** Tokens of the findings. */
const FINDINGS_BUDGET = 300;

const findingGroups = (context: Context): string[] =>
  summarizeFindings(context, { budget: FINDINGS_BUDGET })
    .formattedText.split('\n\n')
    .filter(Boolean)
    .map((group) => group.replaceAll('\n- ', '\n  '));

/**
 * Working memory of the resumed session from its archive, if it is not in force here. An archive comes with
 * the repository, so the agent decides about each entry (SES-13).
 */
function readOffered(context: Context): Entry[] {
  const resumed = readRunning(context)?.resumed_from;
  if (resumed === undefined || !archivedIds(context).includes(resumed)) return [];
  const { entries, closed } = readKfr(context);
  const known = new Set([...entries, ...closed].map(({ text }) => text));
  return kfrIn(requireArchive(context, resumed)).entries.filter(({ text }) => !known.has(text));
}

function leadOf(context: Context, session: string | null): Lead | null {
  const { entries } = session === null ? NO_KFR : readKfr(context);
  const text = injection(entries, makeToken(12));
  return text === null
    ? null
    : { text, items: entries.map(({ id, kind, text: said }) => `${id} ${kind}: ${said}`) };
}
