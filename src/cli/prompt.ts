import { confirm as ask, checkbox, input, select } from '@inquirer/prompts';

interface Context {
  output: NodeJS.WritableStream;
  signal: AbortSignal;
}

/** Questions go to stderr. Ctrl-D closes the terminal and leaves the question open, so it gives up when nothing else waits. */
async function answerTo<T>(question: (context: Context) => Promise<T>): Promise<T> {
  const closing = new AbortController();
  const giveUp = (): void => closing.abort();
  process.once('beforeExit', giveUp);
  try {
    return await question({ output: process.stderr, signal: closing.signal });
  } finally {
    process.off('beforeExit', giveUp);
  }
}

export const confirm = (message: string): Promise<boolean> =>
  answerTo((context) => ask({ message, default: false }, context));

export const choose = <T extends string>(message: string, choices: readonly T[], initial: T): Promise<T> =>
  answerTo((context) => select({ message, choices, default: initial }, context));

export const line = (message: string, initial: string): Promise<string> =>
  answerTo((context) => input({ message, default: initial }, context));

/** Some of the choices, in their order. */
export const several = (message: string, choices: readonly string[]): Promise<string[]> =>
  answerTo((context) => checkbox({ message, choices }, context));
