import { REASON, reasonOf } from '../cli/reason.js';
import { command } from '../cli/spec.js';
import { plural } from '../core/text.js';
import type { Redaction } from '../index.js';

const short = (id: string): string => id.slice(0, 12);

function render({ redacted, files, remnants, history, replacements }: Redaction): string {
  const lines = redacted.map(({ id, tier, n, audit }) =>
    audit
      ? `redacted ${short(id)}… (${tier}, number ${n})  audit ${short(audit.id)}`
      : `${short(id)}… (${tier}, number ${n}) was redacted before; nothing here has its content`,
  );
  return [
    ...lines,
    ...files.map((file) => `  taken out of ${file}`),
    ...describeRemnants(remnants),
    ...describeHistory(history, replacements),
  ].join('\n');
}

const SHOWN = 20;

/** Where the same text stands once more: what copied it, or says the same. */
function describeRemnants(remnants: Redaction['remnants']): string[] {
  if (remnants.length === 0) return [];
  const left = remnants.length - SHOWN;
  return [
    'The same text still stands in:',
    ...remnants
      .slice(0, SHOWN)
      .map(({ id, tier, n, fields, file, why, hint }) =>
        id === null
          ? `  ${file}: take it out by hand`
          : `  ${short(id)}… (${tier}, number ${n}: ${fields.join(', ')})  ${why === null ? hint : `cannot be redacted: ${why}`}`,
      ),
    ...(left > 0 ? [`  and ${left} more: --json has them all`] : []),
  ];
}

/** What a person has to do themselves: forge does not rewrite history. */
function describeHistory(history: Redaction['history'], replacements: readonly string[]): string[] {
  if (!history) return [];
  const { held, complete } = history;
  const more = complete ? [] : ['History was not searched to its end; there may be more.'];
  if (held.length === 0) return complete ? ['No commit has the content.'] : more;
  return [
    'Git history still has the content:',
    ...held.map(
      ({ path, commits, first }) =>
        `  ${path}: ${plural(commits, 'commit')} wrote it, the first ${short(first)}`,
    ),
    ...more,
    'To purge it (first revoke or change what it was: whoever has a clone has it):',
    '  1. commit .forge/, on every branch that has the record',
    '  2. put into a file outside of the repository:',
    ...replacements,
    '  3. git filter-repo --replace-text FILE --force',
    '  4. git reflog expire --expire=now --all && git gc --prune=now',
    '  5. git push --force --all && git push --force --tags',
    'Every clone, fork and cache of a hosting service keeps its copy, and so does the reflog until step 4: clone anew.',
  ];
}

export const redacting = [
  command<Redaction>({
    name: 'redact',
    args: ['<ids...>'],
    values: { ids: { live: ['record'] } },
    summary: 'Take the content of records out for good; id and links stay (a human, with a reason)',
    example: 'forge memory redact 3fa9c1d20b7e --reason "a token was recorded; it is revoked"',
    options: [REASON],
    writes: true,
    run: (call, ...ids) =>
      call.forge().memory.redact({
        ids: ids as string[],
        ...reasonOf(call),
      }),
    render,
  }),
];
