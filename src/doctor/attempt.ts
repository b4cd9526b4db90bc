import { ForgeError, systemCode } from '../core/error.js';
import type { Problem } from '../status/symptom.js';

export type Attempt<T> = { value: T } | { problem: Problem & { code: string } };

/** For who looks at what may be damaged: what forge or the system refuses is an answer. A bug is none. */
export async function attempt<T>(work: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** The same where it does not matter what the problem is. */
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
