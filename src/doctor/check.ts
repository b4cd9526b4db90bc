import { ForgeError, systemCode } from '../core/error.js';
import type { Problem, Severity, Symptom } from '../status/symptom.js';

/** One thing that doctor looks at: what it expects, why that matters, and what to type where it is not so. */
export interface Check<Place> {
  id: string;
  severity: Severity;
  expected: string;
  why: string;
  fix: string | readonly string[];
  /** What was observed that is wrong. A finding may differ from its check. */
  look(place: Place): Observed | Promise<Observed>;
}

type Finding = Pick<Symptom, 'observed'> & Partial<Symptom>;
export type Observed = string | false | null | undefined | Finding | readonly (string | Finding)[];

/** Runs every check. One that fails observes nothing: what stopped it is reported by another one. */
export async function runChecks<Place>(checks: readonly Check<Place>[], place: Place): Promise<Symptom[]> {
  const found = await Promise.all(
    checks.map(async ({ severity, expected, why, fix, look }) => {
      const observed = await valueOr(null, async () => look(place));
      const findings = [observed || []].flat() as (string | Finding)[];
      return findings.map((finding) => {
        const own = typeof finding === 'string' ? { observed: finding } : finding;
        return {
          observed: own.observed,
          expected: own.expected ?? expected,
          why: own.why ?? why,
          commands: own.commands ?? [fix].flat(),
          severity: own.severity ?? severity,
        };
      });
    }),
  );
  return found.flat();
}

export type Attempt<T> = { value: T } | { problem: Problem & { code: string } };

/** Doctor looks at what may be damaged: an error of forge or of the system is a result, a bug is thrown. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** The same where the problem is reported elsewhere. */
export async function valueOr<T, U>(other: U, work: () => T | Promise<T>): Promise<T | U> {
  const made = await attempt(work);
  return 'problem' in made ? other : made.value;
}

function problemIn(error: unknown): Problem & { code: string } {
  if (error instanceof ForgeError && error.kind !== 'bug')
    return { code: error.code, message: error.message, hint: error.hint };
  const code = systemCode(error);
  if (code === undefined || error instanceof ForgeError) throw error;
  return { code: `disk.${code.toLowerCase()}`, message: (error as Error).message };
}
