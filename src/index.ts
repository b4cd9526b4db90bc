/**
 * forge as a library: `openForge(dir)` gives the same operations as the command line, as plain values.
 * Nothing here prints, asks or exits; every failure is a ForgeError. A part is loaded when it is first used.
 */
import { systemWorld, type World } from './adapters/world.js';
import { ForgeError } from './domain/error.js';
import { type Context, hasPromotion, noteActivity, openContext, refuseHalted } from './routines/context.js';
import type { Scan } from './routines/guard-scan.js';

export type { World } from './adapters/world.js';
export { topicText } from './adapters/templates.js';
export { agentWorld, systemWorld } from './adapters/world.js';
export type { Briefing, BriefingSection, Omission } from './domain/briefing.js';
export type { CiCheck, CiFinding, CiReport } from './domain/ci.js';
export type { CommitMessage } from './domain/commit-message.js';
export type { CycleInput, Stage } from './domain/cycle.js';
export type { StageName } from './domain/cycle-mark.js';
export type { CycleReport, CycleResult } from './domain/cycle-report.js';
export { type ErrorDetails, type ErrorKind, EXIT_CODES, ForgeError } from './domain/error.js';
export type { Feature, FeatureStatus } from './domain/feature.js';
export type { Finding } from './domain/finding.js';
export type { Focus } from './domain/focus.js';
export type { Entry as KfrEntry } from './domain/kfr.js';
export type { Knowledge, Learning, NewLearning } from './domain/knowledge.js';
export { TIERS, type Tier } from './domain/ledger.js';
export type { LoopResult, StopReason } from './domain/loop.js';
export type { Candidate, Selection } from './domain/next.js';
export type { ProgressLine } from './domain/progress.js';
export type { SealReport, Signatures } from './domain/seal-judge.js';
export type { Color, Component, Status } from './domain/status.js';
export type { SupervisorKey } from './domain/supervisor.js';
export type { TrustItem } from './domain/trust.js';
export type { WiringChange, WiringInput, WiringStatus } from './routines/agent-wiring.js';
export type { ShownArchitecture } from './routines/architecture.js';
export type { EditedArchitecture } from './routines/architecture-edit.js';
export type { BriefingInput } from './routines/briefing.js';
export type { CreatedCheckpoint } from './routines/checkpoint.js';
export type { CheckpointWatch } from './routines/checkpoint-run.js';
export type { CheckpointRow, ShownCheckpoint } from './routines/checkpoint-show.js';
export type { VerifiedCheckpoints } from './routines/checkpoint-verify.js';
export type { CiInput, CiWatch } from './routines/ci.js';
export type { CommitInput, CommitWatch, MadeCommit } from './routines/commit.js';
export type { CheckedCommit, CommitCheck, CommitCheckInput } from './routines/commit-check.js';
export type { CommitTemplate } from './routines/commit-template.js';
export type { Setting } from './routines/config.js';
export type { Consolidated } from './routines/consolidation.js';
export type { CycleOptions, CycleWatch } from './routines/cycle-stage.js';
export type { Diagnosis, DoctorInput } from './routines/doctor.js';
export type { Fix, Fixed, FixPlan } from './routines/doctor-fix.js';
export type { FeatureEdit, FeatureInput, FeatureList } from './routines/feature.js';
export type { FeatureResult, VerifyWatch } from './routines/feature-verify.js';
export type { FocusInput } from './routines/focus.js';
export type { HooksInput, HooksReport } from './routines/git-hooks.js';
export type { GuardFinding } from './routines/guard.js';
export type { Scan, ScanInput } from './routines/guard-scan.js';
export type { InitInput, InitResult } from './routines/init.js';
export type { TierReport } from './routines/integrity.js';
export type { KfrCleared, KfrList, KfrPatch, KfrPatched } from './routines/kfr.js';
export type { LiveKind, LiveValue } from './routines/live-values.js';
export type { LoopOptions, LoopWatch } from './routines/loop.js';
export type { Compacted } from './routines/memory-compact.js';
export type { Overridden } from './routines/memory-override.js';
export type { Promoted } from './routines/memory-promote.js';
export type { LogEntry } from './routines/memory-read.js';
export type { RecordedCycle } from './routines/memory-record.js';
export type { Redaction } from './routines/memory-redact.js';
export type { Mended } from './routines/memory-repair.js';
export type { MemoryReport } from './routines/memory-report.js';
export type { Reset } from './routines/memory-reset.js';
export type { MemoryStats } from './routines/memory-stats.js';
export type { Integrity } from './routines/memory-verify.js';
export type { Note } from './routines/note.js';
export type { ShownProgress } from './routines/progress.js';
export type { Recovered } from './routines/recover.js';
export type { BackupList } from './routines/recover-backups.js';
export type { InspectedCheckpoint } from './routines/recover-inspect.js';
export type { RecoveryPlan } from './routines/recover-look.js';
export type { Undone } from './routines/recover-undo.js';
export type { Sealed } from './routines/seal.js';
export type { EndedSession, SessionEndInput } from './routines/session-end.js';
export type { Reverified, ReverifyWatch } from './routines/session-reverify.js';
export type { SessionStartInput, StartedSession } from './routines/session-start.js';
export type { SessionDetail, SessionOverview, SessionRow } from './routines/sessions.js';
export type { StatusInput, StatusReport } from './routines/status.js';
export type { Brief } from './routines/status-brief.js';
export type { KeyHere, SupervisorReport } from './routines/supervisor.js';
export type { ToolName } from './routines/tool-input.js';
export type { TrustReport } from './routines/trust.js';
export type { Where } from './routines/where.js';

const routines = {
  agent: () => import('./routines/agent.js'),
  wiring: () => import('./routines/agent-wiring.js'),
  architecture: () => import('./routines/architecture.js'),
  architectureEdit: () => import('./routines/architecture-edit.js'),
  briefing: () => import('./routines/briefing.js'),
  commit: () => import('./routines/commit.js'),
  commitTemplate: () => import('./routines/commit-template.js'),
  commitCheck: () => import('./routines/commit-check.js'),
  commitHook: () => import('./routines/commit-hook.js'),
  commitPrepare: () => import('./routines/commit-prepare.js'),
  pushHook: () => import('./routines/push-hook.js'),
  ci: () => import('./routines/ci.js'),
  checkpoint: () => import('./routines/checkpoint.js'),
  checkpoints: () => import('./routines/checkpoint-show.js'),
  checkpointCheck: () => import('./routines/checkpoint-verify.js'),
  recover: () => import('./routines/recover.js'),
  recoverLook: () => import('./routines/recover-look.js'),
  recoverBackups: () => import('./routines/recover-backups.js'),
  latest: () => import('./routines/checkpoint-read.js'),
  values: () => import('./routines/live-values.js'),
  config: () => import('./routines/config.js'),
  cycle: () => import('./routines/cycle.js'),
  doctor: () => import('./routines/doctor.js'),
  doctorFix: () => import('./routines/doctor-fix.js'),
  loop: () => import('./routines/loop.js'),
  feature: () => import('./routines/feature.js'),
  verify: () => import('./routines/feature-verify.js'),
  override: () => import('./routines/feature-override.js'),
  focus: () => import('./routines/focus.js'),
  hooks: () => import('./routines/git-hooks.js'),
  init: () => import('./routines/init.js'),
  kfr: () => import('./routines/kfr.js'),
  promotion: () => import('./routines/kfr-promote.js'),
  knowledge: () => import('./routines/knowledge.js'),
  check: () => import('./routines/memory-verify.js'),
  record: () => import('./routines/memory-record.js'),
  fold: () => import('./routines/memory-fold.js'),
  guard: () => import('./routines/guard.js'),
  scan: () => import('./routines/guard-scan.js'),
  breach: () => import('./routines/breach.js'),
  compact: () => import('./routines/memory-compact.js'),
  repair: () => import('./routines/memory-repair.js'),
  settle: () => import('./routines/memory-settle.js'),
  promote: () => import('./routines/memory-promote.js'),
  decide: () => import('./routines/memory-override.js'),
  report: () => import('./routines/memory-report.js'),
  reset: () => import('./routines/memory-reset.js'),
  redact: () => import('./routines/memory-redact.js'),
  read: () => import('./routines/memory-read.js'),
  stats: () => import('./routines/memory-stats.js'),
  note: () => import('./routines/note.js'),
  progress: () => import('./routines/progress.js'),
  schema: () => import('./routines/schema.js'),
  sessions: () => import('./routines/sessions.js'),
  end: () => import('./routines/session-end.js'),
  start: () => import('./routines/session-start.js'),
  status: () => import('./routines/status.js'),
  seal: () => import('./routines/seal.js'),
  supervisor: () => import('./routines/supervisor.js'),
  trust: () => import('./routines/trust.js'),
  where: () => import('./routines/where.js'),
};
type Routines = { [K in keyof typeof routines]: Awaited<ReturnType<(typeof routines)[K]>> };

/** A refused start, a look at who is there, or another agent's hook must not keep a session alive whose agent is gone. */
const LOOKS: ReadonlySet<string> = new Set(['start', 'status', 'where', 'sessions', 'agent']);
/** Nor must what opens the way past its open questions. */
const OPENINGS: ReadonlySet<string> = new Set(['listKfr', 'clearKfr']);

export interface ForgeOptions {
  /** Surroundings: clock, environment, who asks. Default: this process, with no terminal. */
  world?: World;
  /** Decide and report, write nothing. */
  dryRun?: boolean;
  /** How long to wait for another forge that writes here, ms. Default: 5,000. */
  patience?: number;
  /** Told how many bytes of memory were read, of how many, where it has to be verified anew. */
  onProgress?: (read: number, total: number) => void;
}

/** Binds `routine(context, ...args)` of a module loaded on use. */
type Bound<F> = F extends (context: Context, ...args: infer A) => infer R
  ? (...args: A) => Promise<Awaited<R>>
  : never;

/** `settles`: works while memory is halted. `guards`: writes, and loads the guard itself while git is at work. */
type How = 'writes' | 'settles' | 'reads' | 'guards';

/** Opens the `.forge/` at or above `dir` (exit 2 `not_a_forge` when there is none). */
export function openForge(dir: string, options: ForgeOptions = {}) {
  const world = options.world ?? systemWorld(process.env, false);
  const context = openContext(dir, world, options.dryRun ?? false, options.patience);
  if (options.onProgress) context.onProgress = options.onProgress;

  const bind = <K extends keyof Routines, N extends keyof Routines[K]>(
    part: K,
    name: N,
    how: How = 'writes',
  ): Bound<Routines[K][N]> => {
    const call = async (...args: unknown[]): Promise<unknown> => {
      try {
        // LTM-05: while memory is halted nothing is written. What settles it, and the next look, check for themselves.
        if (how === 'writes' || how === 'guards') refuseHalted(context.disk);
        // LTM-13: if the rules cannot be loaded, nothing is written either.
        if (how === 'writes' || how === 'settles') await (await routines.guard()).installGuard(context);
        if (how !== 'settles' && hasPromotion(context)) await finishFirst(how);
        const module = (await routines[part]()) as Routines[K];
        if (!LOOKS.has(part) && !OPENINGS.has(String(name))) noteActivity(context);
        return await (module[name] as (context: Context, ...rest: unknown[]) => unknown)(context, ...args);
      } catch (error) {
        if (error instanceof ForgeError && error.kind === 'secret' && how !== 'reads')
          await (await routines.breach()).recordBreach(context, error);
        if (error instanceof ForgeError && error.code === 'role.denied')
          await (await routines.breach()).recordDenied(context, error, String(name));
        const { withRescue } = await import('./routines/rescue.js');
        throw await withRescue(context, error);
      }
    };
    return call as Bound<Routines[K][N]>;
  };

  /** KFR-10: a promotion that was cut off is completed before anyone looks; where that cannot be, reading goes on. */
  const finishFirst = async (how: How): Promise<void> => {
    try {
      await (await routines.promotion()).finishPromotion(context);
    } catch (error) {
      const waits = hasPromotion(context);
      if (how !== 'reads' && waits) throw error;
      context.warnings.push(
        `A promotion was cut off and ${waits ? 'waits' : 'was given up'}: ${(error as Error).message}`,
      );
    }
  };

  return {
    /** The project's top folder. */
    root: context.layout.root,
    /** What was (or with `dryRun` would be) written, as paths from the root. */
    get written(): readonly string[] {
      return context.disk.written;
    },
    /** What the person should know besides the answers. */
    get warnings(): readonly string[] {
      return context.warnings;
    },
    where: bind('where', 'whereYouStand', 'reads'),
    /** VIS-01: the health of memory in five colours. */
    status: bind('status', 'readStatus', 'reads'),
    briefing: bind('briefing', 'brief', 'reads'),
    next: bind('feature', 'nextTask', 'reads'),
    session: {
      start: bind('start', 'startSession', 'guards'),
      end: bind('end', 'endSession'),
      list: bind('sessions', 'listSessions', 'reads'),
      show: bind('sessions', 'showSession', 'reads'),
      discard: bind('sessions', 'discardSession'),
    },
    progress: {
      add: bind('progress', 'addProgress'),
      next: bind('progress', 'setNextStep'),
      show: bind('progress', 'showProgress', 'reads'),
    },
    focus: {
      show: bind('focus', 'showFocus', 'reads'),
      set: bind('focus', 'setFocus'),
      clear: bind('focus', 'clearFocus'),
    },
    feature: {
      list: bind('feature', 'listFeatures', 'reads'),
      show: bind('feature', 'showFeature', 'reads'),
      add: bind('feature', 'addFeature'),
      edit: bind('feature', 'editFeature'),
      remove: bind('feature', 'removeFeature'),
      import: bind('feature', 'importFeatures'),
      verify: bind('verify', 'verifyFeatures'),
      override: bind('override', 'overrideFeature'),
    },
    /** GIT-06: back to a verified state, and back from there. */
    recover: {
      plan: bind('recoverLook', 'planRecovery', 'reads'),
      /** The same before something is done: refused while work is paused, or to a builder. */
      propose: bind('recover', 'proposeRecovery'),
      act: bind('recover', 'recover'),
      undo: bind('recover', 'undoRecovery'),
      inspect: bind('recover', 'inspectCheckpoint'),
      list: bind('recoverBackups', 'listRecoveries', 'reads'),
    },
    /** GOV-01, GOV-02: governed cycles around a command. */
    cycle: bind('cycle', 'runCycle'),
    loop: bind('loop', 'runLoop'),
    /** GIT-05: verified states to come back to. */
    checkpoint: {
      create: bind('checkpoint', 'createCheckpoint'),
      list: bind('checkpoints', 'listCheckpoints', 'reads'),
      show: bind('checkpoints', 'showCheckpoint', 'reads'),
      verify: bind('checkpointCheck', 'verifyCheckpoints', 'reads'),
      latest: bind('latest', 'latestCheckpoint', 'reads'),
    },
    /** GIT-07: all of that in a pipeline. It judges, and changes nothing of it. */
    ci: bind('ci', 'checkAll', 'reads'),
    /** KNO-03: what people wrote of the system. */
    architecture: {
      show: bind('architecture', 'showArchitecture', 'reads'),
      edit: bind('architectureEdit', 'editArchitecture'),
    },
    knowledge: {
      add: bind('knowledge', 'addLearning'),
      list: bind('knowledge', 'listKnowledge', 'reads'),
      search: bind('knowledge', 'searchKnowledge', 'reads'),
      remove: bind('knowledge', 'removeLearning'),
    },
    memory: {
      record: bind('record', 'recordCycle'),
      recordMany: bind('record', 'recordCycles'),
      /** The text of a file of cycles: one JSON object, or JSONL. Exit 2 names the line. */
      parse: async (text: string) => (await routines.record()).parseCycles(text),
      verify: bind('check', 'verifyMemory', 'settles'),
      fold: bind('fold', 'foldMemory'),
      compact: bind('compact', 'compactMemory'),
      // What settles a halt has to work while it stands.
      restore: bind('repair', 'restoreMemory', 'settles'),
      repair: bind('repair', 'repairMemory', 'settles'),
      settleLedger: bind('settle', 'settleLedger', 'settles'),
      reset: bind('reset', 'resetTier'),
      redact: bind('redact', 'redactRecords', 'settles'),
      acknowledge: bind('repair', 'acknowledgeHalt', 'settles'),
      promote: bind('promote', 'promotePattern'),
      consolidate: bind('promote', 'consolidateMemory'),
      correct: bind('decide', 'appendCorrection'),
      invalidate: bind('decide', 'invalidateKnowledge'),
      freeze: bind('decide', 'freezeConsolidation'),
      report: bind('report', 'reportMemory', 'reads'),
      seal: bind('seal', 'sealNow'),
      stats: bind('stats', 'memoryStats', 'reads'),
      show: bind('read', 'showRecord', 'reads'),
      log: bind('read', 'logMemory', 'reads'),
    },
    /** Working memory (AGN-024, AGN-025). */
    kfr: {
      list: bind('kfr', 'listKfr', 'reads'),
      patch: bind('kfr', 'patchKfr'),
      /** The text of a patch. Exit 2 says where it is none. */
      parse: async (text: string) => (await routines.kfr()).parsePatch(text),
      clear: bind('kfr', 'clearKfr'),
      inject: bind('kfr', 'injectKfr', 'reads'),
    },
    /** What agents' hooks ask and tell (AGT-01, KFR-09). */
    agent: {
      mark: bind('agent', 'markKfr', 'reads'),
      started: bind('agent', 'noteConversation', 'reads'),
      prompted: bind('agent', 'notePrompt', 'reads'),
      unseen: bind('agent', 'unseenKfr', 'reads'),
      compacts: bind('agent', 'noteCompaction', 'reads'),
      gateCompaction: bind('agent', 'gateCompaction', 'reads'),
      gateStop: bind('agent', 'gateStop', 'reads'),
      ended: bind('agent', 'endConversation', 'settles'),
      isWired: bind('agent', 'isWired', 'reads'),
      fault: bind('agent', 'noteFault', 'reads'),
    },
    /**
     * Forge in the files of coding agents (AGT-01). Nothing of it is memory, and a halt is no reason to keep an agent from
     * being wired or let go: these settle nothing, but work while it stands.
     */
    wiring: {
      install: bind('wiring', 'installAgents', 'settles'),
      uninstall: bind('wiring', 'uninstallAgents', 'settles'),
      status: bind('wiring', 'agentStatus', 'reads'),
    },
    note: {
      promote: bind('promotion', 'promoteEntry'),
      add: bind('note', 'addNote'),
      list: bind('note', 'listNotes', 'reads'),
      show: bind('note', 'showNote', 'reads'),
    },
    /** GIT-02: commits of the index, in the protocol. */
    commit: {
      draft: bind('commit', 'draftCommit', 'reads'),
      make: bind('commit', 'makeCommit'),
      template: bind('commitTemplate', 'commitTemplate', 'reads'),
    },
    /** Git's hooks (GIT-03). They are no part of memory, so a halt does not keep them. */
    hooks: {
      install: bind('hooks', 'installHooks', 'settles'),
      uninstall: bind('hooks', 'uninstallHooks', 'settles'),
      status: bind('hooks', 'hooksStatus', 'reads'),
    },
    guard: {
      /** LTM-13: refuses text before anything is done with it (exit 5), and records that. */
      refuseInput: bind('guard', 'refuseInput', 'settles'),
    },
    config: {
      get: bind('config', 'getSetting', 'reads'),
      set: bind('config', 'setSetting'),
      list: bind('config', 'listSettings', 'reads'),
    },
    supervisor: {
      show: bind('supervisor', 'showSupervisor', 'reads'),
      look: bind('supervisor', 'lookForKey', 'reads'),
      init: bind('supervisor', 'initSupervisor'),
      trust: bind('supervisor', 'trustKey'),
      retire: bind('supervisor', 'retireKey'),
    },
    trust: {
      show: bind('trust', 'showTrust', 'reads'),
      approve: bind('trust', 'approveTrust'),
      revoke: bind('trust', 'revokeTrust'),
    },
  };
}

export type Forge = ReturnType<typeof openForge>;

/** Creates or repairs `.forge/` in the project that `dir` is in (LAY-01, LAY-02). */
export async function initForge(
  dir: string,
  input: import('./routines/init.js').InitInput = {},
  options: ForgeOptions = {},
) {
  const { initialise } = await routines.init();
  return await initialise(
    dir,
    options.world ?? systemWorld(process.env, false),
    input,
    options.dryRun ?? false,
  );
}

/** Forge in a person's own files of coding agents (AGT-01): needs no `.forge/`. */
export async function homeWiring(options: ForgeOptions & { warn?: (text: string) => void } = {}) {
  const world = options.world ?? systemWorld(process.env, false);
  return (await routines.wiring()).homeWiring(world, options.dryRun ?? false, options.warn ?? (() => {}));
}

/** What `forge init` would ask about: where it would work, and what it sees there. */
export async function inspectProject(dir: string, options: Pick<ForgeOptions, 'world'> = {}) {
  const world = options.world ?? systemWorld(process.env, false);
  return await (await routines.init()).inspectProject(dir, world);
}

/** What is wrong with the set-up, and what to type; works without a `.forge/`, and while memory is halted. */
export async function findSymptoms(
  dir: string,
  input: import('./routines/doctor.js').DoctorInput = {},
  options: Pick<ForgeOptions, 'world'> = {},
) {
  const world = options.world ?? systemWorld(process.env, false);
  return await (await routines.doctor()).findSymptoms(dir, world, input);
}

/**
 * Ids and names that exist in the `.forge/` at or above `dir`, for completion; none where there is no forge, and what can
 * be made out of a damaged one. `before` are the arguments in front. Writes nothing and starts no program.
 */
export async function liveValues(
  dir: string,
  kind: import('./routines/live-values.js').LiveKind,
  before: readonly string[] = [],
  options: Pick<ForgeOptions, 'world'> = {},
) {
  const world = options.world ?? systemWorld(process.env, false);
  let context: Context | null = null;
  try {
    context = openContext(dir, world, true);
  } catch {
    // Some values are the same everywhere.
  }
  return await (await routines.values()).liveValues(context, kind, before);
}

/** `status({ brief: true })` as the last one remembered it, for a prompt; null where that does not suffice (VIS-01). */
export const promptStatus = async (
  ...args: Parameters<typeof import('./routines/status-brief.js')['promptStatus']>
) => (await import('./routines/status-brief.js')).promptStatus(...args);

/** What could be put right without a human's judgement, and how (LAY-09). Changes nothing. */
export async function planFixes(
  dir: string,
  input: import('./routines/doctor.js').DoctorInput = {},
  options: Pick<ForgeOptions, 'world'> = {},
) {
  return (await routines.doctorFix()).planFixes(dir, options.world ?? systemWorld(process.env, false), input);
}

/** Puts it right, as far as it was agreed to, and says what is wrong still. A fix that fails keeps no other from being made. */
export async function applyFixes(
  dir: string,
  input: import('./routines/doctor-fix.js').FixInput = {},
  options: Pick<ForgeOptions, 'world' | 'dryRun'> = {},
) {
  const world = options.world ?? systemWorld(process.env, false);
  return (await routines.doctorFix()).applyFixes(dir, world, input, options.dryRun ?? false);
}

/** The guard where there is no `.forge/`, and for what is shown. Nothing here says what was found, only where. */
export const textGuard = {
  inspect: async (...args: Parameters<Routines['guard']['inspectInput']>) =>
    (await routines.guard()).inspectInput(...args),
  mask: async (text: string) => (await routines.guard()).maskText(text),
  redact: async (text: string) => (await routines.guard()).redactText(text),
};

/** What git's `commit-msg`, `prepare-commit-msg` and `pre-push` hooks ask; they need no open forge, and change nothing of memory. */
export const hookedMessage = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.commitHook>>['checkHookedMessage']>
) => (await routines.commitHook()).checkHookedMessage(...args);
export const preparedMessage = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.commitPrepare>>['prepareMessage']>
) => (await routines.commitPrepare()).prepareMessage(...args);
export const hookedPush = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.pushHook>>['checkHookedPush']>
) => (await routines.pushHook()).checkHookedPush(...args);

/** Every setting with the value that it has where `config.toml` says nothing. */
export async function defaultSettings() {
  return (await routines.config()).defaultSettings();
}

/** GIT-07: a pipeline to begin with, for a system. */
export async function ciTemplate(...args: Parameters<Routines['ci']['ciTemplate']>): Promise<string> {
  return (await routines.ci()).ciTemplate(...args);
}

/** Looks for secrets and personal data in files, in what is staged or in commits; needs no `.forge/`. */
export async function scanTree(
  ...args: Parameters<Awaited<ReturnType<typeof routines.scan>>['scanTree']>
): Promise<Scan> {
  return (await routines.scan()).scanTree(...args);
}

/** GIT-01: checks a message, or the commits of a range; needs no `.forge/`. */
export async function checkCommits(...args: Parameters<Routines['commitCheck']['checkCommits']>) {
  return (await routines.commitCheck()).checkCommits(...args);
}

/** The JSON Schema of a file format, or all their names. */
/** What the tools of the MCP server take. */
export async function toolInputs() {
  const { checkToolInput, toolSchemas } = await import('./routines/tool-input.js');
  return { schemas: toolSchemas(), check: checkToolInput };
}

export async function schemaNames(): Promise<string[]> {
  return (await routines.schema()).schemaNames();
}
export async function schemaOf(name: string): Promise<Record<string, unknown>> {
  return (await routines.schema()).schemaOf(name);
}
