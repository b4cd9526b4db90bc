import { ForgeError } from '../core/error.js';
import { systemWorld, type World } from '../core/world.js';
import { type Context, hasPromotion, noteActivity, openContext, refuseHalted } from '../project/project.js';
import { type Routines, routines } from './routines.js';

/** Opens the `.forge/` at or above `dir` (exit 2 `not_a_forge` when there is none). */
export function openForge(dir: string, options: ForgeOptions = {}) {
  const context = openContext(dir, worldOf(options), options.dryRun ?? false, options.patience);
  if (options.onProgress) context.onProgress = options.onProgress;
  const bind = binder(context);

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
    /** VIS-01: the five parts of memory, each green, yellow or red. */
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
      settleLedgers: bind('settle', 'settleLedgers', 'settles'),
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
      /** Refuses what `install` would refuse, and does no more; what a builder tries is recorded. */
      check: bind('hooks', 'checkHooks', 'settles'),
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

/** A refused start, a look at who is there, or another agent's hook must not keep a session alive whose agent is gone. */
const LOOKS: ReadonlySet<string> = new Set(['start', 'status', 'where', 'sessions', 'agent']);
/** Nor must what opens the way past its open questions. */
const OPENINGS: ReadonlySet<string> = new Set(['listKfr', 'clearKfr']);

/** Binds `routine(context, ...args)` of a module loaded on use. */
type Bound<F> = F extends (context: Context, ...args: infer A) => infer R
  ? (...args: A) => Promise<Awaited<R>>
  : never;

/** `settles`: works while memory is halted. `guards`: writes, and loads the guard itself while git is at work. */
export type How = 'writes' | 'settles' | 'reads' | 'guards';

/** The routines as operations on one `.forge/`: what has to hold before one, and what is noted of one that fails. */
export function binder(context: Context) {
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
        const { withRescue } = await import('../doctor/rescue.js');
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

  return bind;
}

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

/** The surroundings that were given, or this process with no terminal. */
export const worldOf = ({ world }: Pick<ForgeOptions, 'world'>): World =>
  world ?? systemWorld(process.env, false);
