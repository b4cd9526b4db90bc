/**
 * forge as a library: `openForge(dir)` gives the same operations as the command line, as plain values.
 * Nothing here prints, asks or exits. Every failure is a ForgeError.
 */

import type { World } from './core/world.js';
import { type ForgeOptions, worldOf } from './library/forge.js';

export type { WiringChange, WiringInput, WiringStatus } from './agent/install.js';
export type { Artifact, ArtifactProblem } from './artifact/artifact.js';
export type { CreatedCheckpoint } from './checkpoint/create.js';
export type { ShownCheckpoint, VerifiedCheckpoints } from './checkpoint/read.js';
export type { CheckpointRow } from './checkpoint/rules.js';
export type { CheckpointWatch } from './checkpoint/run.js';
export type { CiInput, CiWatch } from './ci/ci.js';
export type { CiCheck, CiFinding, CiReport } from './ci/report.js';
export type { CheckedCommit, CommitCheck, CommitCheckInput } from './commit/check.js';
export type { CommitTemplate, CommitWatch, MadeCommit } from './commit/commit.js';
export type { CommitInput } from './commit/compose.js';
export type { Setting } from './config/config.js';
export { type ErrorDetails, type ErrorKind, EXIT_CODES, ForgeError } from './core/error.js';
export { completionScript, topicText } from './core/templates.js';
export type { World } from './core/world.js';
export { agentWorld, servedWorld, systemWorld } from './core/world.js';
export type { LoopOptions, LoopWatch } from './cycle/loop.js';
export type { CycleReport, CycleResult, LoopResult, StopReason } from './cycle/rules.js';
export type { CycleOptions, CycleWatch, StageName } from './cycle/running.js';
export type { Fix } from './doctor/conflicts.js';
export type { Diagnosis, DoctorInput, Fixed } from './doctor/doctor.js';
export type { Claimed, Released } from './events/claim.js';
export type { EventType, ForgeEvent } from './events/event.js';
export type { Fleet, FleetRow } from './events/fleet.js';
export type { Flushed, ReportedEvent } from './events/publish.js';
export type { EventFilter, EventList } from './events/read.js';
export type {
  AddedFeature,
  FeatureList,
  ImportedFeatures,
  RecordedRun,
  ShownFeature,
} from './feature/feature.js';
export type { Feature, FeatureEdit, FeatureInput, FeatureStatus } from './feature/rules.js';
export type { Selection } from './feature/tasks.js';
export type { FeatureResult, VerifyWatch } from './feature/verify.js';
export type { FindingStats } from './finding/finding.js';
export type { KnownAnswer } from './finding/known.js';
export { ExecutionMemory, type Finding } from './finding/memory.js';
export type { Allowed } from './guard/allow.js';
export type { Scan } from './guard/scan-tree.js';
export type { HooksReport } from './hooks/install.js';
export type { Imported, ImportedFile } from './import/import.js';
export type { InitInput } from './init/choices.js';
export type { InitResult, ProjectView } from './init/init.js';
export type { KfrCleared, KfrList, KfrPatch, KfrPatched } from './kfr/kfr.js';
export type { Entry as KfrEntry } from './kfr/rules.js';
export type { EditedArchitecture, Learned, ShownArchitecture } from './knowledge/knowledge.js';
export type { Learning, NewLearning } from './knowledge/rules.js';
export type { Consolidated, Overridden, Promoted } from './learning/consolidation.js';
export type { CycleInput, Stage } from './learning/evaluation.js';
export type { RecordedCycle } from './learning/record.js';
export type { Chain, MemoryReport } from './learning/report.js';
export type { Reset } from './ledger/audit.js';
export type { Finding as Problem } from './ledger/compare.js';
export type { TierReport } from './ledger/integrity.js';
export type { LogEntry, LogRow } from './ledger/log.js';
export { TIERS, type Tier } from './ledger/record.js';
export type { Redaction } from './ledger/redact.js';
export type { Repaired, RepairStep } from './ledger/repair.js';
export type { Integrity, MemoryStats, SignatureReport } from './ledger/verify-memory.js';
export * from './library/forge.js';
export type { ToolName } from './library/schemas.js';
export type { StartedIssue } from './linear/edit-issue.js';
export type { Answers, FormField } from './linear/form.js';
export type { IssueList } from './linear/issue.js';
export type { Issue } from './linear/rules.js';
export type { Synced } from './linear/sync.js';
export type { Note } from './note/note.js';
export type { Observed } from './project/project.js';
export type { Recalled, RecallHit } from './recall/recall.js';
export type { RecoveryPlan } from './recover/plan.js';
export type { InspectedCheckpoint, Recovered } from './recover/recover.js';
export type { BackupList, Undone } from './recover/undo.js';
export type { BriefingInput, PastCommit } from './session/briefing.js';
export type { Briefing } from './session/briefing-rules.js';
export type { EndedSession } from './session/end.js';
export type { FocusInput } from './session/focus.js';
export type { Reverified } from './session/reverify.js';
export type { Focus, SessionStartInput } from './session/rules.js';
export type { SessionDetail, SessionOverview, SessionRow } from './session/sessions.js';
export type { StartedSession } from './session/start.js';
export type { ShownProgress } from './session/store.js';
export type { SkillProblem } from './skill/rules.js';
export type { ListedSkill, ShownSkill } from './skill/skill.js';
export type { Color, Component, Status } from './status/rules.js';
export type { FolderKind, TreeNode } from './status/status.js';
export type { Where } from './status/where.js';
export type { TrustItem } from './trust/approvals.js';
export type { TrustReport } from './trust/trust.js';

// The operations that need no open `.forge/`, or create one.

type InFolder<I, R> = (dir: string, world: World, input: I, dryRun: boolean) => Promise<R>;

/** An operation on a folder, loaded at the first call. */
const inFolder =
  <I, R>(load: () => Promise<InFolder<I, R>>) =>
  async (dir: string, input: I = {} as I, options: ForgeOptions = {}): Promise<R> =>
    (await load())(dir, worldOf(options), input, options.dryRun ?? false);

/** Creates or repairs the `.forge/` of the project around `dir` (LAY-01, LAY-02). */
export const initForge = inFolder(async () => (await import('./init/init.js')).initialize);

/** What is wrong with the setup, and what to type. Works without a `.forge/` and while memory is halted. Writes nothing. */
export const findSymptoms = inFolder(async () => (await import('./doctor/doctor.js')).findSymptoms);

/** Merges conflicts in state files (LAY-09), and returns what is still wrong. */
export const fixConflicts = inFolder(async () => (await import('./doctor/doctor.js')).fixConflicts);

/** forge in the user's own files of coding agents (AGT-01). */
export async function homeWiring(options: ForgeOptions = {}) {
  return (await import('./agent/install.js')).homeWiring(worldOf(options), options.dryRun ?? false);
}

/** What `forge init` would ask about. Reads only. */
export async function inspectProject(dir: string, options: Pick<ForgeOptions, 'world'> = {}) {
  return (await import('./init/init.js')).inspectProject(dir, worldOf(options));
}

/** Calls a function of a module that is loaded at the first call. */
const later =
  <M, N extends keyof M>(load: () => Promise<M>, name: N) =>
  async (
    ...args: M[N] extends (...args: infer A) => unknown ? A : never
  ): Promise<M[N] extends (...args: never[]) => infer R ? Awaited<R> : never> =>
    await ((await load())[name] as (...args: unknown[]) => never)(...args);

/** The guard, for input and output. Findings name places, never values. */
export const textGuard = {
  inspect: later(() => import('./guard/guard.js'), 'inspectInput'),
  mask: later(() => import('./guard/guard.js'), 'maskText'),
  redact: later(() => import('./guard/guard.js'), 'redactText'),
  clean: later(() => import('./guard/guard.js'), 'cleanText'),
  fields: later(() => import('./guard/document.js'), 'fieldsOf'),
};

/** Every setting with its default. */
export const defaultSettings = later(() => import('./config/config.js'), 'defaultSettings');

/** GIT-07: a pipeline file. */
export const ciTemplate = later(() => import('./ci/ci.js'), 'ciTemplate');

/** Scans files, staged changes or commits for secrets and personal data. */
export const scanTree = later(() => import('./guard/scan-tree.js'), 'scanTree');

/** GIT-01: checks a message, or the commits of a range. */
export const checkCommits = later(() => import('./commit/check.js'), 'checkCommits');

/** The published formats, and the JSON Schema of one. */
export const schemaNames = later(() => import('./library/schemas.js'), 'schemaNames');
export const schemaOf = later(() => import('./library/schemas.js'), 'schemaOf');

/** The inputs of the MCP tools. */
export const toolSchemas = later(() => import('./library/schemas.js'), 'toolSchemas');
export const checkToolInput = later(() => import('./library/schemas.js'), 'checkToolInput');
