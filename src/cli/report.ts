import { toForgeError } from '../core/error.js';
import { escapeControls } from '../core/text.js';
import { maskError, maskText } from './input-guard.js';
import type { Io } from './io.js';
import { fitScreen, screenAt } from './screen.js';
import { version } from './version.js';

/** Three ways out: a known error, an interruption, a bug. */
export async function report(error: unknown, io: Io, json: boolean): Promise<number> {
  const known = await maskError(toForgeError(error));
  const write = (text: string): void => io.stderr.write(text);
  if (json) write(`${JSON.stringify({ error: known })}\n`);
  else {
    const shown = (text: string): string => fitScreen(text, screenAt(io.stderr, io.env));
    write(`${shown(`forge: ${escapeControls(known.message)}`)}\n`);
    if (known.hint) write(`${shown(`  → ${escapeControls(known.hint)}`)}\n`);
    const verbose = io.argv.some((word) => word === '-v' || word === '--verbose');
    if (known.kind === 'bug' || verbose) write(`${await maskText((error as Error).stack ?? '')}\n`);
    if (known.kind === 'bug')
      write(`forge ${version()}, Node ${process.versions.node}, ${process.platform}\n`);
  }
  return known.exit;
}
