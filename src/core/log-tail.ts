import * as z from 'zod/mini';

/** Bytes of a log that are kept. */
export const LOG_TAIL_BYTES = 4096;

/** What is kept of a command's output. */
export const Log = z.strictObject({
  /** At most its last 4 KiB. */
  tail: z.string().check(z.maxLength(4096)),
  bytes: z.int().check(z.gte(0)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
});
export type Log = z.infer<typeof Log>;

/** The end of a log, as text that does not begin in the middle of a character. */
export function lastBytes(bytes: Buffer, max = LOG_TAIL_BYTES): string {
  let start = Math.max(0, bytes.length - max);
  while (start > 0 && start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start).toString('utf8');
}
