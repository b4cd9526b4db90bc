/** How bad it is: forge cannot do its work, does it in part, or could do it better. */
const SEVERITIES = ['blocking', 'degraded', 'advisory'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One thing that is wrong with the set-up (`forge doctor`), and what to type. */
export interface Symptom {
  observed: string;
  expected: string;
  why: string;
  commands: string[];
  severity: Severity;
}

/** What something ended with, as far as a person can act on it. */
export interface Problem {
  message: string;
  hint?: string | undefined;
}

type Maker = (observed: string, expected: string, why: string, ...commands: string[]) => Symptom[];
const maker =
  (severity: Severity): Maker =>
  (observed, expected, why, ...commands) => [{ observed, expected, why, commands, severity }];

/** Lists of one, so that a check is a list of what it found. */
export const blocking = maker('blocking');
export const degraded = maker('degraded');
export const advisory = maker('advisory');

/** Worst first. */
export const inOrder = (symptoms: readonly Symptom[]): Symptom[] =>
  [...symptoms].sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
