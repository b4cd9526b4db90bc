import * as z from 'zod/mini';
import { ForgeError } from '../core/error.js';
import { checkInput } from '../core/schema.js';
import { systemWorld, type World } from '../core/world.js';
import { type Context, hasPromotion, noteActivity, openContext, refuseHalted } from '../project/project.js';

/** Opens the `.forge/` at or above `dir`. Throws `not_a_forge` (exit 2) if there is none. */
export function openForge(dir: string, options: ForgeOptions = {}) {
  const context = openContext(dir, worldOf(options), options.dryRun ?? false, options.patience);
  if (options.onProgress) context.onProgress = options.onProgress;
  const bind = binder(context);

  return {
    root: context.layout.root,
    /** Folders whose files are memory: `.forge/`, this worktree's state, and its git dir (null without git). */
    places: {
      memory: context.layout.dir,
      state: context.layout.state,
      git: context.repository?.gitDir ?? null,
    },
    /** The files that were written, or with `dryRun` would be; relative to the root. */
    get written(): readonly string[] {
      return context.disk.written;
    },
    /** For a person, besides the results. */
    get warnings(): readonly string[] {
      return context.warnings;
    },
    where: bind(() => import('../status/where.js'), 'whereYouStand', 'looks'),
    /** VIS-01: the health of memory. */
    status: bind(() => import('../status/status.js'), 'readStatus', 'looks'),
    /** VIS-02: the names and sizes in `.forge/`. */
    tree: bind(() => import('../status/status.js'), 'readTree', 'looks'),
    briefing: bind(() => import('../session/briefing.js'), 'brief', 'reads'),
    recall: bind(() => import('../recall/recall.js'), 'recall', 'reads'),
    next: bind(() => import('../feature/feature.js'), 'nextFreeTask', 'reads'),
    session: {
      start: bind(() => import('../session/start.js'), 'startSession', 'starts'),
      end: bind(() => import('../session/end.js'), 'endSession'),
      list: bind(() => import('../session/sessions.js'), 'listSessions', 'looks'),
      show: bind(() => import('../session/sessions.js'), 'showSession', 'looks', 'id'),
      discard: bind(() => import('../recover/undo.js'), 'discardSessionKept', 'writes', 'id?'),
    },
    progress: {
      add: bind(() => import('../session/store.js'), 'addProgress', 'writes', 'text'),
      next: bind(() => import('../session/store.js'), 'setNextStep', 'writes', 'text'),
      show: bind(() => import('../session/store.js'), 'showProgress', 'reads'),
    },
    focus: {
      show: bind(() => import('../session/running.js'), 'showFocus', 'reads'),
      set: bind(() => import('../session/focus.js'), 'turnFocus'),
      clear: bind(() => import('../session/focus.js'), 'leaveFocus'),
    },
    feature: {
      list: bind(() => import('../feature/feature.js'), 'listFeatures', 'reads'),
      show: bind(() => import('../feature/feature.js'), 'showFeature', 'reads', 'id'),
      add: bind(() => import('../session/focus.js'), 'addFeatureToWork'),
      edit: bind(() => import('../session/focus.js'), 'editFeatureOfWork'),
      remove: bind(() => import('../recover/undo.js'), 'removeFeatureKept', 'writes', 'id'),
      import: bind(() => import('../feature/feature.js'), 'importFeatures', 'writes', 'text'),
      verify: bind(() => import('../feature/verify.js'), 'verifyFeatures'),
      confirm: bind(() => import('../feature/feature.js'), 'confirmFeatures'),
      override: bind(() => import('../feature/feature.js'), 'overrideFeature', 'writes', 'id'),
    },
    /** GIT-06: rolls back to a verified state, and undoes it. */
    recover: {
      plan: bind(() => import('../recover/plan.js'), 'planRecovery', 'reads', 'to?'),
      act: bind(() => import('../recover/recover.js'), 'recover', 'writes', 'to?'),
      undo: bind(() => import('../recover/undo.js'), 'undoLast', 'writes', 'backup?'),
      inspect: bind(() => import('../recover/recover.js'), 'inspectCheckpoint', 'writes', 'to?', 'dir'),
      list: bind(() => import('../recover/undo.js'), 'listRecoveries', 'reads'),
    },
    /** GIT-09: takes back the last change that forge made. */
    undo: bind(() => import('../recover/undo.js'), 'undoLast', 'writes', 'backup?'),
    /** GOV-01, GOV-02: governed cycles around a command. */
    cycle: bind(() => import('../cycle/cycle.js'), 'runCycle'),
    loop: bind(() => import('../cycle/loop.js'), 'runLoop'),
    /** GIT-05: verified states to go back to. */
    checkpoint: {
      create: bind(() => import('../checkpoint/create.js'), 'createCheckpoint'),
      list: bind(() => import('../checkpoint/read.js'), 'listCheckpoints', 'reads'),
      show: bind(() => import('../checkpoint/read.js'), 'showCheckpoint', 'reads', 'tag'),
      verify: bind(() => import('../checkpoint/read.js'), 'verifyCheckpoints', 'reads', 'tag?'),
      latest: bind(() => import('../checkpoint/read.js'), 'latestCheckpoint', 'reads'),
    },
    /** GIT-07: every check of a pipeline. Changes nothing. */
    ci: bind(() => import('../ci/ci.js'), 'checkAll', 'reads'),
    /** KNO-03: the description of the system. */
    architecture: {
      show: bind(() => import('../knowledge/knowledge.js'), 'showArchitecture', 'reads'),
      edit: bind(() => import('../knowledge/knowledge.js'), 'editArchitecture'),
    },
    knowledge: {
      add: bind(() => import('../knowledge/knowledge.js'), 'addLearning'),
      list: bind(() => import('../knowledge/knowledge.js'), 'listKnowledge', 'reads'),
      search: bind(() => import('../knowledge/knowledge.js'), 'searchKnowledge', 'reads', 'query'),
      remove: bind(() => import('../knowledge/knowledge.js'), 'removeLearning', 'writes', 'id'),
    },
    memory: {
      record: bind(() => import('../learning/record.js'), 'recordClaimed'),
      recordMany: bind(() => import('../learning/record.js'), 'recordManyClaimed'),
      /** The text of a file of cycles: one JSON object, or JSONL. Exit 2 names the line. */
      parse: async (text: string) =>
        (await import('../learning/record.js')).parseCycles(checkInput(z.string(), text)),
      verify: bind(() => import('../ledger/verify-memory.js'), 'verifyMemory', 'settles'),
      // These must work while memory is halted.
      planRepair: bind(() => import('../ledger/repair.js'), 'planRepair', 'settles'),
      repair: bind(() => import('../ledger/repair.js'), 'repairMemory', 'settles'),
      reset: bind(() => import('../ledger/audit.js'), 'resetTier'),
      redact: bind(() => import('../ledger/redact.js'), 'redactRecords', 'settles'),
      acknowledge: bind(() => import('../ledger/integrity.js'), 'acknowledge', 'settles'),
      promote: bind(() => import('../learning/consolidation.js'), 'promotePattern', 'writes', 'pattern?'),
      consolidate: bind(() => import('../learning/consolidation.js'), 'consolidateMemory'),
      correct: bind(() => import('../learning/consolidation.js'), 'appendCorrection'),
      invalidate: bind(() => import('../learning/consolidation.js'), 'invalidateKnowledge'),
      freeze: bind(() => import('../learning/consolidation.js'), 'freezeConsolidation'),
      report: bind(() => import('../learning/report.js'), 'reportMemory', 'reads'),
      stats: bind(() => import('../ledger/verify-memory.js'), 'memoryStats', 'reads'),
      show: bind(() => import('../ledger/log.js'), 'showRecord', 'reads', 'id'),
      log: bind(() => import('../ledger/log.js'), 'logMemory', 'reads'),
      /** Every record in one line. */
      rows: bind(() => import('../ledger/log.js'), 'readRows', 'looks'),
      /** LTM-06: what is known, and why. */
      known: bind(() => import('../knowledge/knowledge.js'), 'listLearned', 'looks'),
      chain: bind(() => import('../learning/report.js'), 'showChain', 'looks', 'id'),
    },
    /** Working memory (AGN-024, AGN-025). */
    kfr: {
      list: bind(() => import('../kfr/kfr.js'), 'listKfr', 'looks'),
      patch: bind(() => import('../kfr/kfr.js'), 'patchKfr'),
      /** Parses a patch. Exit 2 names the place of an error. */
      parse: async (text: string) => (await import('../kfr/kfr.js')).parsePatch(checkInput(z.string(), text)),
      clear: bind(() => import('../kfr/kfr.js'), 'clearKfr', 'writes', 'dismiss?'),
      inject: bind(() => import('../kfr/kfr.js'), 'injectKfr', 'reads'),
    },
    /** For agents' hooks (AGT-01, KFR-09). */
    agent: {
      started: bind(() => import('../agent/conversation.js'), 'noteStart', 'looks'),
      prompted: bind(() => import('../agent/conversation.js'), 'notePrompt', 'looks'),
      unseen: bind(() => import('../agent/conversation.js'), 'unseenKfr', 'looks'),
      answered: bind(() => import('../agent/conversation.js'), 'noteAnswer', 'looks'),
      compacts: bind(() => import('../agent/conversation.js'), 'noteCompaction', 'looks'),
      gateCompaction: bind(() => import('../agent/conversation.js'), 'gateCompaction', 'looks'),
      gateStop: bind(() => import('../agent/conversation.js'), 'gateStop', 'looks'),
      record: bind(() => import('../agent/conversation.js'), 'recordEvent', 'looks'),
      learn: bind(() => import('../agent/conversation.js'), 'noteFindings', 'looks'),
      saw: bind(() => import('../finding/finding.js'), 'noteSteps', 'looks'),
      observe: bind(() => import('../finding/finding.js'), 'noteCall', 'looks'),
      repeats: bind(() => import('../finding/finding.js'), 'noticeFor', 'looks'),
      gateEdit: bind(() => import('../agent/conversation.js'), 'gateEdit', 'looks'),
      ended: bind(() => import('../agent/conversation.js'), 'endConversation', 'settles'),
      isWired: bind(() => import('../agent/conversation.js'), 'isWired', 'looks'),
      fault: bind(() => import('../agent/conversation.js'), 'noteFault', 'looks'),
    },
    /** forge in the files of coding agents (AGT-01). They are not memory, so this works while it is halted. */
    wiring: {
      install: bind(() => import('../agent/install.js'), 'installAgents', 'settles'),
      uninstall: bind(() => import('../agent/install.js'), 'uninstallAgents', 'settles'),
      status: bind(() => import('../agent/install.js'), 'agentStatus', 'reads'),
    },
    /** EXM-01…05: what agents found out with their tools, and whether it still holds. */
    finding: {
      add: bind(() => import('../finding/finding.js'), 'addFinding'),
      extract: bind(() => import('../finding/finding.js'), 'extractFinding'),
      list: bind(() => import('../finding/finding.js'), 'listFindings', 'looks'),
      has: bind(() => import('../finding/finding.js'), 'hasFinding', 'looks'),
      summary: bind(() => import('../finding/finding.js'), 'summarizeFindings', 'looks'),
      stats: bind(() => import('../finding/finding.js'), 'findingStats', 'looks'),
      clear: bind(() => import('../finding/finding.js'), 'clearFindings'),
    },
    skill: {
      list: bind(() => import('../skill/skill.js'), 'listSkills', 'looks'),
      show: bind(() => import('../skill/skill.js'), 'showSkill', 'looks', 'name'),
      resource: bind(() => import('../skill/skill.js'), 'readResource', 'looks', 'name', 'file'),
      new: bind(() => import('../skill/skill.js'), 'newSkill'),
      check: bind(() => import('../skill/skill.js'), 'checkSkills', 'looks', 'name?'),
      match: bind(() => import('../skill/skill.js'), 'matchFocus', 'looks'),
      import: bind(() => import('../skill/skill.js'), 'importSkill', 'writes', 'folder'),
      export: bind(() => import('../skill/skill.js'), 'exportSkill', 'writes', 'name', 'to?'),
    },
    linear: {
      list: bind(() => import('../linear/issue.js'), 'listIssues', 'reads'),
      show: bind(() => import('../linear/issue.js'), 'showIssue', 'reads', 'id'),
      templates: bind(() => import('../linear/edit-issue.js'), 'listForms', 'looks'),
      form: bind(() => import('../linear/edit-issue.js'), 'readForm', 'looks', 'name'),
      new: bind(() => import('../linear/edit-issue.js'), 'newIssue'),
      start: bind(() => import('../linear/edit-issue.js'), 'startIssue', 'writes', 'id'),
      done: bind(() => import('../linear/edit-issue.js'), 'finishIssue', 'writes', 'id'),
      pull: bind(() => import('../linear/sync.js'), 'pullIssues'),
      push: bind(() => import('../linear/sync.js'), 'pushIssues'),
      sync: bind(() => import('../linear/sync.js'), 'syncIssues'),
    },
    /** AGT-05: imports notes and tasks of other tools. */
    import: bind(() => import('../import/import.js'), 'importMemory'),
    artifact: {
      add: bind(() => import('../artifact/artifact.js'), 'addArtifact'),
      list: bind(() => import('../artifact/artifact.js'), 'listArtifacts', 'looks'),
      show: bind(() => import('../artifact/artifact.js'), 'showArtifact', 'looks', 'id'),
      verify: bind(() => import('../artifact/artifact.js'), 'verifyArtifacts', 'looks'),
    },
    note: {
      promote: bind(() => import('../note/note.js'), 'promoteEntry', 'writes', 'id'),
      add: bind(() => import('../note/note.js'), 'addNote'),
      list: bind(() => import('../note/note.js'), 'listNotes', 'reads'),
      show: bind(() => import('../note/note.js'), 'showNote', 'reads', 'id'),
      remove: bind(() => import('../note/note.js'), 'removeNote', 'writes', 'id'),
    },
    /** GIT-02: commits the index in the protocol. */
    commit: {
      draft: bind(() => import('../commit/commit.js'), 'draftCommit', 'reads'),
      make: bind(() => import('../commit/commit.js'), 'makeCommit'),
      template: bind(() => import('../commit/commit.js'), 'commitTemplate', 'reads'),
      history: bind(() => import('../session/briefing.js'), 'readHistory', 'looks'),
    },
    /** Git hooks (GIT-03). They are not memory, so they work while it is halted. */
    hooks: {
      install: bind(() => import('../hooks/install.js'), 'installHooks', 'settles'),
      uninstall: bind(() => import('../hooks/install.js'), 'uninstallHooks', 'settles'),
      status: bind(() => import('../hooks/install.js'), 'hooksStatus', 'reads'),
    },
    guard: {
      /** LTM-13: refuses text (exit 5) and records the refusal. */
      refuseInput: bind(() => import('../guard/guard.js'), 'refuseInput', 'settles'),
      /** The findings that no human has allowed. */
      withoutAllowed: bind(() => import('../guard/guard.js'), 'withoutAllowed', 'reads'),
      allow: bind(() => import('../guard/allow.js'), 'allowText'),
    },
    /** EVT-03: of several who want a task one gets it. */
    claim: bind(() => import('../events/claim.js'), 'claimTask', 'writes', 'id'),
    release: bind(() => import('../events/claim.js'), 'releaseTask', 'writes', 'id'),
    fleet: bind(() => import('../events/fleet.js'), 'readFleet', 'looks'),
    events: {
      flush: bind(() => import('../events/publish.js'), 'flushEvents', 'settles'),
      list: bind(() => import('../events/read.js'), 'listEvents', 'looks'),
      replay: bind(() => import('../events/read.js'), 'replayEvents', 'looks'),
      tail: bind(() => import('../events/read.js'), 'tailEvents', 'looks'),
    },
    config: {
      get: bind(() => import('../config/config.js'), 'getSetting', 'reads', 'name'),
      set: bind(() => import('../config/config.js'), 'setSetting', 'writes', 'name'),
      list: bind(() => import('../config/config.js'), 'listSettings', 'reads'),
    },
    trust: {
      show: bind(() => import('../trust/trust.js'), 'showTrust', 'reads'),
      approve: bind(() => import('../trust/trust.js'), 'approveTrust'),
      revoke: bind(() => import('../trust/trust.js'), 'revokeTrust'),
    },
  };
}

export type Forge = ReturnType<typeof openForge>;

/** SES-07: these do not keep a session alive when its agent is gone. */
const NO_ACTIVITY: ReadonlySet<string> = new Set(['discardSessionKept', 'clearKfr', 'endConversation']);

/** An operation without its context. */
type Bound<F> = F extends (context: Context, ...args: infer A) => infer R
  ? (...args: A) => Promise<Awaited<R>>
  : never;

/** `settles`: also while memory is halted. `starts`: loads the guard later. `looks`, `starts`: no use of a session (SES-07). */
type How = 'writes' | 'settles' | 'reads' | 'looks' | 'starts';

/** An object with these texts. A `?` marks one that may be left out. */
const withTexts = (names: readonly string[]) => {
  const [text, maybe] = [z.string(), z.optional(z.string())];
  return z.looseObject(
    Object.fromEntries(names.map((name) => [name.replace('?', ''), name.endsWith('?') ? maybe : text])),
  );
};

/** Binds an operation to an opened `.forge/`. `texts`: what it does not check itself. Its module is loaded at the first call. */
function binder(context: Context) {
  return <M, N extends keyof M & string>(
    load: () => Promise<M>,
    name: N,
    how: How = 'writes',
    ...texts: string[]
  ): Bound<M[N]> => {
    const isReading = how === 'reads' || how === 'looks';
    const isGuarded = how === 'writes' || how === 'settles';
    const call = async (given: unknown, ...args: unknown[]): Promise<unknown> => {
      try {
        const input = texts.length > 0 ? checkInput(withTexts(texts), given) : (given ?? {});
        if (isGuarded || name === 'withoutAllowed') {
          const { knowAllowed, refusePaused } = await import('../guard/allow.js');
          knowAllowed(context);
          if (how === 'writes') refusePaused(context);
        }
        // LTM-05: nothing is written while memory is halted, except by what settles it.
        if (how === 'writes' || how === 'starts') refuseHalted(context);
        // LTM-13: nothing is written without the guard's rules.
        if (isGuarded) await (await import('../guard/guard.js')).installGuard(context);
        if (how !== 'settles' && hasPromotion(context)) await finishPromotion(context, isReading);
        const operation = (await load())[name] as (context: Context, ...rest: unknown[]) => unknown;
        if (how !== 'looks' && how !== 'starts' && !NO_ACTIVITY.has(name)) noteActivity(context);
        const value = await operation(context, input, ...args);
        // EVT-01: what the operation reported is sent once it is done.
        if (context.unsent.length > 0) await (await import('../events/publish.js')).sendUnsent(context);
        return value;
      } catch (error) {
        const breaks = error instanceof ForgeError && error.kind === 'secret' && !isReading;
        if (breaks) (await import('../ledger/audit.js')).recordBreach(context, error);
        if (error instanceof ForgeError && error.code === 'role.denied')
          (await import('../ledger/audit.js')).recordDenied(context, error, name);
        throw await (await import('../doctor/rescue.js')).withRescue(context, error);
      }
    };
    return call as Bound<M[N]>;
  };
}

/** KFR-10: completes an interrupted promotion. If that fails, reading goes on with a warning. */
async function finishPromotion(context: Context, isReading: boolean): Promise<void> {
  try {
    await (await import('../note/note.js')).finishPromotion(context);
  } catch (error) {
    if (!isReading) throw error;
    context.warnings.push(`A promotion was interrupted and waits: ${(error as Error).message}`);
  }
}

export interface ForgeOptions {
  /** The clock, the environment and the caller. Default: this process without a terminal. */
  world?: World;
  /** Report what would happen, and write nothing. */
  dryRun?: boolean;
  /** How many ms to wait for the lock. Default: 5,000. */
  patience?: number;
  /** Called with the bytes of memory that were read, and their total. */
  onProgress?: (read: number, total: number) => void;
}

export const worldOf = ({ world }: Pick<ForgeOptions, 'world'>): World =>
  world ?? systemWorld(process.env, false);
