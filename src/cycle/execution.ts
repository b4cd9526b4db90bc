import * as z from 'zod/mini';
import { commandEnvironment } from '../core/environment.js';
import { ForgeError } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { JsonProblem, parseJson } from '../core/json.js';
import { cycleFile, initScript } from '../core/paths.js';
import { type Log, type ProcessRun, runProcess } from '../core/process.js';
import { decodeUtf8, describeIssue, fieldName } from '../core/schema.js';
import { escapeControls, lastBytes, plural } from '../core/text.js';
import { maskText, redactText } from '../guard/guard.js';
import { resolveCandidates } from '../learning/candidates.js';
import { type CycleInput, SCOPES } from '../learning/evaluation.js';
import type { Context } from '../project/project.js';
import { brief, readLearned } from '../session/briefing.js';
import { showFocus } from '../session/focus.js';
import { requireTrust } from '../trust/trust.js';
import type { CycleFacts } from './facts.js';
import { builderEnvironment, describeCycle, fillHandover, type HandoverFolder } from './handover.js';
import type { CycleMark, RunWatch } from './mark.js';

const INIT_TIMEOUT_MS = 10 * 60_000;

/** `init.sh` once it is trusted; null when there is none. */
export async function runInitScript(context: Context, watch: RunWatch): Promise<ProcessRun | null> {
  const { disk, layout, world } = context;
  const path = initScript(layout);
  if (!disk.exists(path)) return null;
  requireTrust(context, [], [path]);
  const options = {
    cwd: layout.root,
    env: { ...commandEnvironment(world.env), FORGE_ROLE: 'builder' },
    timeoutMs: INIT_TIMEOUT_MS,
    ...watch,
  };
  const run = await runProcess([path], options);
  // A checkout may have lost the permission to run it.
  return run.ended === 'not executable' ? runProcess(['sh', path], options) : run;
}

/** The briefing, and behind it what this cycle asks for. */
export async function writeBriefing(
  context: Context,
  task: string,
  { features, testFiles }: CycleFacts,
  folder: HandoverFolder,
): Promise<string> {
  const { text } = await brief(context, { format: 'markdown' });
  const whole = `${text}\n${describeCycle({
    task,
    feature: features.find(({ id }) => id === task),
    files: showFocus(context).files,
    testFiles: Object.keys(testFiles),
    candidates: readLearned(context).candidates,
  })}`;
  fillHandover(folder, whole);
  return whole;
}

/** The command, as a BUILDER with the caller's surroundings. */
export async function runCommand(
  { layout, world }: Context,
  mark: CycleMark,
  given: { argv: readonly string[]; timeoutMs: number; folder: HandoverFolder; briefing: string },
  watch: RunWatch,
): Promise<ProcessRun> {
  const { briefing, observations } = given.folder;
  const handover = { key: mark.key, task: mark.task_id, briefing, observations };
  return runProcess(given.argv, {
    cwd: layout.root,
    env: builderEnvironment(world.env, handover),
    input: given.briefing,
    timeoutMs: given.timeoutMs,
    ...watch,
  });
}

/** What the command left in FORGE_OBSERVATIONS, each line looked at by the guard. */
export function takeObservations(context: Context, { observations }: HandoverFolder): Observations {
  let text: string;
  try {
    text = decodeUtf8(readTarget(observations, MAX_OBSERVATION_BYTES) ?? Buffer.alloc(0), 'observations');
  } catch (error) {
    return noObservations(`observations: ${(error as Error).message} None was taken.`);
  }
  const { confirmed, ...taken } = parseObservations(text, (line) => whyRefused(context, line));
  for (const id of confirmed) {
    try {
      taken.patterns.push(...resolveCandidates(context, [id]));
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'usage') throw error;
      taken.problems.push(`observations: ${error.message}`);
    }
  }
  return taken;
}

/** Null for what may be stored. The reason names the rule, never the value. */
function whyRefused({ disk, layout }: Context, text: string): string | null {
  try {
    disk.checkContent(cycleFile(layout), Buffer.from(`${text}\n`));
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'secret') return `refused by the guard (${error.code})`;
    throw error;
  }
}

/** The end of the output as it may be stored: what the guard refuses in it is masked, or all of it left out. */
export async function guardLog(context: Context, log: Log): Promise<Log> {
  const shownTail = escapeControls(log.tail.replaceAll('\r\n', '\n'));
  const masked = await redactText(await maskText(shownTail));
  const tail = lastBytes(Buffer.from(masked, 'utf8'));
  if (masked !== shownTail)
    context.warnings.push('The command showed what may not be stored; its log is masked.');
  if (whyRefused(context, JSON.stringify({ tail })) === null) return { ...log, tail };
  context.warnings.push('The end of the output may not be stored; only its digest is kept.');
  return { ...log, tail: '' };
}

/** A text as it may be stored. */
export const guardText = (context: Context, text: string): string =>
  whyRefused(context, JSON.stringify({ text })) === null ? text : 'left out: it may not be stored';

/** What a command may leave in FORGE_OBSERVATIONS, bytes and lines. */
export const MAX_OBSERVATION_BYTES = 64 * 1024;
const MAX_LINES = 100;

const Line = z.string().check(z.minLength(1), z.maxLength(2000));
const Signal = z.record(
  z.string().check(z.minLength(1), z.maxLength(100)),
  z.union([z.string().check(z.maxLength(2000)), z.number(), z.boolean(), z.null()]),
);

/** One line each, with the field that tells it from the others. */
const FORMS = {
  pattern: z.strictObject({
    pattern: Line,
    scope: z._default(z.enum(SCOPES), SCOPES[0]),
    holds: z.optional(z.boolean()),
  }),
  confirm: z.strictObject({ confirm: Line }),
  proposal: z.strictObject({ proposal: Line }),
  signal: z.strictObject({ signal: Signal }),
};

export interface Observations {
  patterns: NonNullable<CycleInput['patterns']>;
  proposals: string[];
  signals: NonNullable<CycleInput['quality_signals']>;
  /** What was left out, and why: `line 3: …`. */
  problems: string[];
}

export const noObservations = (...problems: string[]): Observations => ({
  patterns: [],
  proposals: [],
  signals: {},
  problems,
});

/** JSONL, strictly. A bad line costs itself, no more. `refuse` says why a line may not be kept, or null. */
export function parseObservations(
  text: string,
  refuse: (line: string) => string | null,
): Observations & { /** Ids of candidates. */ confirmed: string[] } {
  const result = { ...noObservations(), confirmed: [] };
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [{ line, at: i + 1 }]));
  for (const { line, at } of lines.slice(0, MAX_LINES)) {
    const problem = refuse(line) ?? addLine(result, line);
    if (problem !== null) result.problems.push(`observations, line ${at}: ${problem}`);
  }
  const more = lines.length - MAX_LINES;
  if (more > 0)
    result.problems.push(`observations: ${plural(more, 'line')} after the first ${MAX_LINES} left out`);
  return result;
}

function addLine(result: Parsed, line: string): string | null {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    if (error instanceof JsonProblem) return error.message.replace(/\.$/, '');
    throw error;
  }
  const form = Object.entries(FORMS).find(([name]) => isRecord(value) && Object.hasOwn(value, name))?.[1];
  if (!form) return 'found none of "pattern", "confirm", "proposal", "signal"';
  const parsed = (form as z.ZodMiniType).safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0] as z.core.$ZodIssue;
    return `${fieldName(issue.path) || 'line'}: ${describeIssue(issue, value)}`;
  }
  keep(result, parsed.data as Kept);
  return null;
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;

type Parsed = ReturnType<typeof parseObservations>;
type Kept =
  | { confirm: string }
  | { proposal: string }
  | { signal: Observations['signals'] }
  | NonNullable<CycleInput['patterns']>[number];

function keep(result: Parsed, line: Kept): void {
  if ('confirm' in line) result.confirmed.push(line.confirm);
  else if ('proposal' in line) result.proposals.push(line.proposal);
  else if ('signal' in line) Object.assign(result.signals, line.signal);
  else result.patterns.push(line);
}
