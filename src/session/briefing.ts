import * as z from 'zod/mini';
import { recentCommits, withoutOwn } from '../commit/recent.js';
import { checkInput } from '../core/schema.js';
import { countTokens, firstPaths, makeToken, oneLine } from '../core/text.js';
import { eventUrl } from '../events/outbox.js';
import { readPromotions } from '../events/promotions.js';
import { believe } from '../feature/feature.js';
import { readActive, readFeatures } from '../feature/store.js';
import { summarizeFindings } from '../finding/finding.js';
import { type Commit, readLog } from '../git/read.js';
import { operationInProgress, readBranch } from '../git/repository.js';
import { knowAllowed } from '../guard/allow.js';
import { describePause } from '../guard/fingerprint.js';
import { maskText } from '../guard/guard.js';
import { readKfr } from '../kfr/kfr.js';
import { answersIn, type Entry, injection, NO_KFR } from '../kfr/rules.js';
import { readInvariants } from '../knowledge/knowledge.js';
import { keptOpen, readLearnings } from '../knowledge/rules.js';
import { openCandidates, readKnowledge, recentEvaluations } from '../learning/knowledge.js';
import { derive, readMemory } from '../ledger/memory.js';
import type { Listed } from '../ledger/read.js';
import { findForeignEdits } from '../project/edits.js';
import { type Context, hasHooks, readConfig } from '../project/project.js';
import { matchingMetadata } from '../skill/skill.js';
import { approvedRules } from '../trust/trust.js';
import { type Briefing, cutBriefing, type Lead } from './briefing-rules.js';
import { type BriefingData, briefingSections, type Known } from './briefing-sections.js';
import { readTree } from './record.js';
import { Budget, handoversOf, lastOnTask, sessionName } from './rules.js';
import { ownSessions, readRunning, showFocus } from './running.js';
import { archivedIds, kfrIn, readProgress, recentArchives, requireArchive } from './store.js';

export const BriefingInput = z.strictObject({
  budget: Budget,
  format: z.optional(z.enum(['text', 'markdown'])),
});
export type BriefingInput = z.infer<typeof BriefingInput>;

const SHOWN_COMMITS = 10;
const MAX_NOTES = 300;
/** Characters of a note. */
const MAX_NOTE = 400;

/** Learnings, knowledge, candidates and the last notes. `listed`: the ledger's files, if the caller has just listed them. */
export function readLearned(context: Context, listed?: readonly Listed[]) {
  const read = () => {
    const memory = readMemory(context);
    const known = readKnowledge(memory);
    const notes = memory.records('note').slice(-MAX_NOTES);
    const broken = recentEvaluations(memory).filter(({ record }) => record.kind === 'regression');
    return {
      proven: [...known.values()].map(({ answered: _, ...entry }): Known => entry),
      candidates: openCandidates(memory, known),
      regressions: Object.fromEntries(
        broken.map(({ record: { feature, passed_at: at, passed_commit: commit } }) => [
          String(feature),
          { at: String(at ?? ''), commit: String(commit ?? '') },
        ]),
      ),
      // The task of a builder's note relates it to that task.
      notes: notes.map(({ id, record: { text, task, source } }) => {
        const about = typeof (task ?? source) === 'string' ? ` (${oneLine(String(task ?? source), 64)})` : '';
        return `${oneLine(String(text ?? ''), MAX_NOTE)}${about} [note ${id.slice(0, 12)}]`;
      }),
    };
  };
  const { candidates, ...learned } = derive(context, 'briefing', read, listed);
  const learnings = readLearnings(context.disk);
  return { ...learned, learnings, candidates: keptOpen(candidates, learnings) };
}

export type State = ReturnType<typeof readState>;

/** The part that comes from files. `listed`: the ledger's, if the caller has just listed them. */
export function readState(context: Context, listed?: readonly Listed[]) {
  return {
    ...readLearned(context, listed),
    features: believe(context, readFeatures(context)),
    issues: readActive(context),
    isApproved: approvedRules(context),
  };
}

/** What git says: the branch, the last commits and the uncommitted files. Without secrets in their names. */
export async function readGitFacts(context: Context, commits = recentCommits(context)) {
  const { repository, git } = context;
  const [branch, subjects, work] = await Promise.all([
    repository && git ? readBranch(repository, git) : null,
    commits.then(maskSubjects),
    readTree(context),
  ]);
  return {
    branch: branch === null ? null : await maskText(branch),
    commits: subjects,
    work,
    changed: await maskText(firstPaths(Object.keys(work?.files ?? {}))),
  };
}

/** What a cycle tells its builder. It has instructions of its own, so the workflow is left out. */
type CycleBrief = Pick<BriefingData, 'focus' | 'lastTry'>;

/** `forge briefing`: the state of the work, read-only. */
export async function brief(
  context: Context,
  raw: BriefingInput = {},
  cycle?: CycleBrief,
): Promise<Briefing> {
  const input = checkInput(BriefingInput, raw);
  const reading = Promise.all([readGitFacts(context), findForeignEdits(context)]);
  reading.catch(() => undefined);
  const state = readState(context);
  const session = readRunning(context)?.id ?? null;
  const architecture = await readInvariants(context);
  const [around, foreign] = await reading;
  const known = { ...state, ...around, architecture, foreign, focus: showFocus(context), ...cycle };
  return await composeBriefing(context, known, { ...input, session, guide: !cycle });
}

/** A commit that bypassed the hooks may have a secret in its subject. Masked before subjects are truncated. */
async function maskSubjects<T extends Commit>(commits: readonly T[]): Promise<T[]> {
  const all = commits.map(({ subject }) => subject).join('\n');
  // All are scanned together, because a finding is rare.
  if ((await maskText(all)) === all) return [...commits];
  return Promise.all(commits.map(async (commit) => ({ ...commit, subject: await maskText(commit.subject) })));
}

/** `session`: the name of the one that its message names. */
export type PastCommit = Commit & { session: string | null };

/** The last commits of HEAD, newest first, without secrets in their subjects. */
export async function readHistory(
  { git }: Context,
  { limit = 200 }: { limit?: number } = {},
): Promise<{ commits: PastCommit[] }> {
  const commits = (git ? await readLog(git, limit) : []).map(({ body: _, message, ...commit }) => ({
    ...commit,
    at: Number.isNaN(Date.parse(commit.at)) ? commit.at : new Date(commit.at).toISOString(),
    session: /^- Session: (\S+-session-\d+)$/m.exec(message)?.[1] ?? null,
  }));
  return { commits: await maskSubjects(commits) };
}

type GitFacts = Omit<Awaited<ReturnType<typeof readGitFacts>>, 'branch'>;

/** `session`: the running one. */
export async function composeBriefing(
  context: Context,
  known: State & GitFacts & Pick<BriefingData, 'focus' | 'architecture' | 'foreign' | 'lastTry'>,
  { budget, format, session, guide = true }: BriefingInput & { session: string | null; guide?: boolean },
): Promise<Briefing> {
  const { world } = context;
  const progress = readProgress(context);
  const recent = recentArchives(context);
  const ids = [...known.features.map(({ id }) => id), ...known.issues.map(({ linear_id }) => linear_id)];
  const before = lastOnTask(recent, known.focus, ids);
  const earlier = recent.filter(({ id }) => id !== before?.id).map(({ kfr }) => kfr);
  // The newest are shown first: those of this task.
  const kfrs = [...earlier, before?.kfr, session === null ? NO_KFR : readKfr(context)];
  const sections = briefingSections({
    ...known,
    commits: withoutOwn(known.commits).slice(0, SHOWN_COMMITS),
    uncommitted: known.work?.count ?? 0,
    operation: context.repository && operationInProgress(context.repository),
    last: recent.at(-1) ?? null,
    before,
    handovers: handoversOf(recent, ownSessions(context)),
    next: progress.next ?? null,
    answers: [...new Set(kfrs.flatMap(answersIn).map(({ text }) => text))],
    progress: session === null ? [] : progress.lines.map(({ time, text }) => `[${time}] ${text}`),
    offered: readOffered(context),
    elsewhere: eventUrl(context) === null ? [] : readPromotions(context),
    findings: session === null ? [] : findingGroups(context),
    skills: matchingMetadata(context, known.focus),
    ...(world.tool ? { tool: world.tool } : {}),
  });
  const running = session === null ? 'no session is running' : sessionName(session);
  const pause = describePause(context);
  const briefing = cutBriefing(
    [`FORGE briefing, ${running}`, ...(pause ? [`! ${pause.why}: ${pause.fix}`] : [])].join('\n'),
    sections,
    budget ?? readConfig(context).briefing.budget,
    format ?? 'text',
    makeToken(12),
    { lead: leadOf(context, session), guide: world.terminal || !guide ? null : workflow(context) },
  );
  return masked(context, briefing);
}

/** Memory that was committed past the guard may contain a secret. */
async function masked(context: Context, briefing: Briefing): Promise<Briefing> {
  knowAllowed(context);
  const text = await maskText(briefing.text, context);
  if (text === briefing.text) return briefing;
  const maskAll = (items: readonly string[]) => Promise.all(items.map((item) => maskText(item, context)));
  const sections = briefing.sections.map(async (each) => ({ ...each, items: await maskAll(each.items) }));
  return { ...briefing, text, tokens: countTokens(text), sections: await Promise.all(sections) };
}

/** Tokens of the findings. */
const FINDINGS_BUDGET = 600;

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

/** The working memory. Its header names a tool, which an agent or a person with only a shell does not have. */
function leadOf(context: Context, session: string | null): Lead | null {
  const { entries } = session === null ? NO_KFR : readKfr(context);
  const text = injection(entries, makeToken(12));
  if (text === null) return null;
  const tool = context.world.tool
    ? []
    : ['The Working Memory update tool here is the command: forge kfr patch'];
  return {
    text: [text, ...tool].join('\n\n'),
    items: entries.map(({ id, kind, text: fact }) => `${id} ${kind}: ${fact}`),
  };
}

/**
 * AGT-06: how an agent works with forge, in five lines. Tools are named as this client calls them. An agent with only
 * a shell gets the commands.
 */
function workflow(context: Context): string {
  const { tool } = context.world;
  // Git hooks refuse other messages.
  const isEnforced = hasHooks(context) && readConfig(context).commit.enforce === 'block';
  const commit = isEnforced ? ' Commit with `forge commit --why "TEXT"`, which writes the message.' : '';
  const by = (name: string, command: string): string => (tool ? tool(name) : `\`forge ${command}\``);
  return [
    'forge keeps the memory of this project. Continue from the state below; never edit .forge/memory yourself.',
    `- A goal, a rule to follow, a question that the work waits for: put it into working memory when it comes up, and settle it there (${by('session_working_memory_update', 'kfr patch --add "OpenQuestion:TEXT"')}).`,
    `- After each step: say what was done, and what comes next (${by('progress_add', 'log "TEXT"')}).${commit}`,
    `- A lesson for later sessions, or, as a note, a question that can wait for a person (${by('learn', 'learn "TEXT" --as success')}${tool ? '' : ' or `--as note`'}); a feature is done when its tests passed here (${by('feature_verify', 'done ID')}).`,
    `- Before you stop: answer or dismiss every open question, or park it for a person${tool ? '' : ' (`forge kfr patch --park "ID=Ada decides"`)'}, which keeps the session open. When the task is done: end the session (${by('session_end', 'end --next "TEXT"')}).`,
  ].join('\n');
}
