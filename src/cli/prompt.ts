import { confirm as ask, select } from '@inquirer/prompts';

/** Questions go to stderr: stdout is the answer. */
const context = { output: process.stderr };

export function confirm(message: string): Promise<boolean> {
  return ask({ message, default: false }, context);
}

export function choose<T extends string>(message: string, choices: readonly T[], initial: T): Promise<T> {
  return select({ message, choices: choices.map((value) => ({ value })), default: initial }, context);
}
