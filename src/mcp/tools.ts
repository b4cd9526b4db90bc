import type { Briefing, Forge, KfrPatch, Reverified, StartedSession, ToolName } from '../index.js';
import { asData } from './data.js';
import type { Host } from './host.js';
import { WORKING_MEMORY } from './working-memory.js';

/** How a call tells what it does, and is told to stop. */
export interface Watch {
  signal: AbortSignal;
  progress(done: number, total: number | undefined, message: string): void;
}

export interface Tool {
  description: string;
  /** Changes nothing. */
  reads?: boolean;
  /** LTM-12 denies it to a builder. */
  supervisors?: boolean;
  run(forge: Forge, input: never, watch: Watch): Promise<unknown>;
  /** May take minutes: the calls after it do not wait. */
  lasts?: boolean;
  /** What a model reads; default: the value as JSON, which says again what was given. */
  text?(value: never): string;
  /** What a program reads, or a model in its place; default: the value. Memory stands in it as data, or not at all. */
  shape?(value: never): unknown;
}

/** Binds the types of one tool's input and answer. */
const tool = <I, V>(spec: {
  description: string;
  reads?: boolean;
  supervisors?: boolean;
  lasts?: boolean;
  run(forge: Forge, input: I, watch: Watch): Promise<V>;
  text?(value: V): string;
  shape?(value: V): unknown;
}): Tool => spec as unknown as Tool;

/** Few: what a day of work needs. Each description says when to call it, in as few words as will do. */
export const TOOLS: Record<ToolName, Tool> = {
  session_working_memory_update: tool({
    description: WORKING_MEMORY,
    run: (forge, input: KfrPatch) => forge.kfr.patch(input),
  }),
  session_note_promote: tool({
    description: 'Move a KFR entry that stays relevant beyond the task to durable Memory Notes.',
    supervisors: true,
    run: (forge, input: { id: string }) => forge.note.promote(input),
  }),
  session_start: tool({
    description:
      'Start the session, or return the running one: its briefing says where the work stands. `reverify`: re-run the tests of N features first.',
    run: (forge, input: Parameters<Forge['session']['start']>[0], { signal, progress }) =>
      forge.session.start(input, {
        signal,
        onTest: (feature, command, done, total) => progress(done, total, `${feature}: ${command}`),
      }),
    text: ({ briefing, session, warnings }) =>
      [`Session ${session.id} (${session.state})`, briefing.text, ...warnings].join('\n'),
    shape: ({ briefing, session, reverified, warnings }: StartedSession) => ({
      session,
      briefing: briefing.text,
      ...(reverified ? { reverified: idsOf(reverified) } : {}),
      warnings,
    }),
  }),
  session_end: tool({
    description:
      'End the session: archive it, keep what was learned, commit .forge/. Resolve open questions first.',
    run: (forge, input: Parameters<Forge['session']['end']>[0]) => forge.session.end(input),
    text: (value) => asData('asserted', value),
  }),
  briefing: tool({
    description: 'Where the work stands: KFR, focus, next step, features, knowledge.',
    reads: true,
    run: (forge, input: { budget?: number }) => forge.briefing(input),
    text: ({ text }) => text,
    shape: ({ text, tokens, omitted }: Briefing) => ({ text, tokens, omitted }),
  }),
  progress_add: tool({
    description: "Log a step in the session's progress; `next` sets what comes next.",
    run: async (forge, { text, next }: { text: string; next?: string }) => {
      const { line } = await forge.progress.add({ text });
      return next === undefined ? { line } : { line, next: (await forge.progress.next({ text: next })).line };
    },
  }),
  focus_set: tool({
    description:
      'Set what is worked on. Another task is a context switch: the KFR expires, open questions refuse it.',
    run: (forge, input: Parameters<Forge['focus']['set']>[0]) => forge.focus.set(input),
    text: (value) => asData('asserted', value),
  }),
  feature_verify: tool({
    description: "Run features' tests (all by default); only this makes a feature passing.",
    lasts: true,
    run: (forge, { ids }: { ids?: string[] }, watch) => verify(forge, ids, watch),
    text: (value) => asData('observed', value),
  }),
  memory_record: tool({
    description: 'Record a cycle of work and how it went; patterns seen in 3 clean cycles become knowledge.',
    supervisors: true,
    run: (forge, input: Parameters<Forge['memory']['record']>[0]) => forge.memory.record(input),
    text: (value) => asData('learned', value),
  }),
  note_add: tool({
    description: 'Keep a note for good.',
    supervisors: true,
    run: (forge, input: { text: string }) => forge.note.add(input),
  }),
};

/** Without commands and output, which are nobody's word. */
const idsOf = ({ results, regressed, not_run }: Reverified): object => ({
  passing: results.filter(({ status }) => status === 'passing').map(({ id }) => id),
  regressed,
  not_run,
});

/** What a builder is denied is not offered to it (LTM-12). */
export const offered = (host: Host, name: ToolName): boolean =>
  !(host.isBuilder && TOOLS[name].supervisors === true);

async function verify(
  forge: Forge,
  ids: string[] | undefined,
  { signal, progress }: Watch,
): Promise<unknown> {
  let done = 0;
  const total = ids?.length;
  return forge.feature.verify(ids === undefined ? { all: true } : { ids }, {
    signal,
    onStart: (feature, command) => progress(done, total, `${feature}: ${command}`),
    onResult: ({ id, status }) => progress(++done, total, `${id}: ${status}`),
  });
}
