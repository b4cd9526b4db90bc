import { ForgeError, systemCode } from '../core/error.js';

/** The worst first: forge cannot do its work, does part of it, or could work better. */
export const SEVERITIES = ['blocking', 'degraded', 'advisory'] as const;
type Severity = (typeof SEVERITIES)[number];

/** A problem that `forge doctor` found, and what to type. */
export interface Symptom {
  observed: string;
  expected: string;
  why: string;
  commands: string[];
  severity: Severity;
}

/** An error, as far as a person can act on it. */
export interface Problem {
  message: string;
  hint?: string | undefined;
}

const maker =
  (severity: Severity) =>
  (observed: string, expected: string, why: string, ...commands: string[]): Symptom[] => [
    { observed, expected, why, commands, severity },
  ];

/** Lists of one, so that lists of symptoms are easy to join. */
export const blocking = maker('blocking');
export const degraded = maker('degraded');
export const advisory = maker('advisory');

/** One thing that doctor checks: what is expected, why it matters, and what to type otherwise. */
export interface Check<Place> {
  severity: Severity;
  expected: string;
  why: string;
  fix: string | readonly string[];
  /** What is wrong. A finding may override the texts of its check. */
  look(place: Place): Observed | Promise<Observed>;
}

type Finding = string | (Pick<Symptom, 'observed'> & Partial<Symptom>);
export type Observed = Finding | false | null | undefined | readonly Finding[];

/** Runs every check. A check that fails finds nothing: another check reports what stopped it. */
export async function runChecks<Place>(checks: readonly Check<Place>[], place: Place): Promise<Symptom[]> {
  const found = await Promise.all(
    checks.map(async ({ severity, expected, why, fix, look }) => {
      const observed = await valueOr(null, async () => look(place));
      const findings = [observed || []].flat() as Finding[];
      const common: Symptom = { observed: '', expected, why, commands: [fix].flat(), severity };
      return findings.map((finding) => ({
        ...common,
        ...(typeof finding === 'string' ? { observed: finding } : finding),
      }));
    }),
  );
  return found.flat();
}

export type Attempt<T> = { value: T } | { problem: Problem & { code: string } };

/** The value, or an error of forge or of the system. A bug is thrown. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** `other` for a problem that is reported elsewhere. */
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
