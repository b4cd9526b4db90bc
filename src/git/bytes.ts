import { gitError, streamGit } from './client.js';

/**
 * Git with binary input and output as latin1 text: a path need not be UTF-8, and no byte is lost.
 * Exit 6 with git's message if it fails.
 */
export type ByteGit = (
  args: readonly string[],
  options?: { input?: string; env?: Record<string, string>; codes?: readonly number[] },
) => Promise<string>;

export function byteGit(
  cwd: string,
  env: NodeJS.ProcessEnv,
  variables: Record<string, string> = {},
): ByteGit {
  const stream = streamGit(cwd, env);
  return async (args, { input, env: more, codes = [0] } = {}) => {
    const chunks: Buffer[] = [];
    const { code, stderr } = await stream(args, (chunk) => chunks.push(chunk), {
      env: { ...variables, ...more },
      ...(input === undefined ? {} : { input: Buffer.from(input, 'latin1') }),
    });
    if (!codes.includes(code)) throw gitError(args, stderr);
    return Buffer.concat(chunks).toString('latin1');
  };
}

/** Converts a path between text and bytes. */
export const toBytes = (text: string): string => Buffer.from(text).toString('latin1');
export const toText = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8');

export const words = (output: string): string[] => output.split('\0').filter(Boolean);
