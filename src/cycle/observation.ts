import * as z from 'zod/mini';
import { JsonProblem, parseJson } from '../core/json.js';
import { describeIssue, fieldName } from '../core/schema.js';
import { plural } from '../core/text.js';
import { type CycleInput, SCOPES } from '../learning/evaluation.js';

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
