import { confirm as ask, input, password, select } from '@inquirer/prompts';

/** Questions go to stderr: stdout is the answer. */
const context = { output: process.stderr };

export function confirm(message: string): Promise<boolean> {
  return ask({ message, default: false }, context);
}

export function choose<T extends string>(message: string, choices: readonly T[], initial: T): Promise<T> {
  return select({ message, choices: choices.map((value) => ({ value })), default: initial }, context);
}

/** What is typed is not shown. */
export function secret(message: string): Promise<string> {
  return password({ message }, context);
}

export function line(message: string, initial: string): Promise<string> {
  return input({ message, default: initial }, context);
}
