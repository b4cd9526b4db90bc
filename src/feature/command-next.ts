import { command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine } from '../core/text.js';
import type { Selection } from '../index.js';

/** A list of hundreds helps nobody at a terminal; --json has them all. */
const SHOWN = 10;

function render({ task, reason, candidates }: Selection, style: Style): string {
  const head = task
    ? `${style.strong(`${task.id}: ${oneLine(task.title, 120)}`)}\n  why: ${reason}`
    : `Nothing to do now: ${reason}.${candidates.length === 0 ? `\n  ${style.command('forge feature add LOGIN "Login works" --test "npm test"')}` : ''}`;
  const others = candidates.filter((candidate) => candidate !== task).slice(0, SHOWN);
  if (others.length === 0) return head;
  const rows = columns(
    others.map((other) => [other.id, oneLine(other.title, 50), style.dim(other.reason)]),
    '  ',
  );
  const more = candidates.length - others.length - (task ? 1 : 0);
  return `${head}\n\nThen:\n${rows}${more > 0 ? `\n  … ${more} more: --json` : ''}`;
}

export const group: Group = {
  commands: [
    command<Selection>({
      name: 'next',
      summary: 'Show which task comes next, and why',
      example: 'forge next',
      run: (call) => call.forge().next(),
      render,
    }),
  ],
};
