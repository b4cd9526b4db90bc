import { ForgeError } from '../../src/core/error.js';

/** The error that a call is refused with; fails the test when it is not refused, or by a bug. */
export function failure(call: () => unknown): ForgeError {
  try {
    call();
  } catch (error) {
    if (error instanceof ForgeError) return error;
    throw error;
  }
  throw new Error('It was to be refused, but went through.');
}
