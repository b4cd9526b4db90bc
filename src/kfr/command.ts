import { type Call, type CommandSpec, command, type Group, type Values } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { quoteWord } from '../core/argv.js';
import { refused, usage } from '../core/error.js';
import { isId } from '../core/schema.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import type { KfrCleared, KfrEntry, KfrList, KfrPatch, KfrPatched } from '../index.js';
import { settling } from './rules.js';

function row({ id, kind, text, requires_resolution, parked }: KfrEntry, style: Style): string[] {
  const mark = parked ? 'parked' : requires_resolution ? 'open' : '';
  const waits = parked ? style.dim(`  (${oneLine(parked.reason, 80)})`) : '';
  return [
    style.strong(id),
    kind,
    style.warn(mark),
    `${escapeControls(text).replaceAll('\n', ' / ')}${waits}`,
  ];
}

const table = (entries: readonly KfrEntry[], style: Style): string =>
  columns(entries.map((entry) => row(entry, style)));

const list: CommandSpec<KfrList> = {
  name: 'list',
  summary: 'Show the active entries of working memory',
  example: 'forge kfr list',
  run: (call) => call.forge().kfr.list(),
  render: ({ session, entries, tokens }, style) => {
    if (session === null) return 'No session is running.';
    if (entries.length === 0) return 'Working memory is empty.';
    const parked = entries.find((entry) => entry.parked);
    const answer = parked ? `\n\nOnce it is answered: ${style.command(settling('resolve', parked.id))}` : '';
    return `${table(entries, style)}${answer}\n\n${style.dim(`${plural(entries.length, 'entry', 'entries')}, ${tokens} tokens`)}`;
  },
};

const clear: CommandSpec<KfrCleared> = {
  name: 'clear',
  summary: 'Empty working memory; what requires resolution has to be dismissed with a reason',
  example: 'forge kfr clear --dismiss-all "the task was given up"',
  options: [{ flags: '--dismiss-all <reason>', help: 'dismiss what requires resolution, for this reason' }],
  writes: true,
  confirms: true,
  run: async (call) => {
    const forge = call.forge();
    const { dismissAll } = call.options as { dismissAll?: string };
    const { entries } = await forge.kfr.list();
    const isOpen = dismissAll === undefined && entries.some((entry) => entry.requires_resolution);
    // Do not ask if the gate refuses anyway.
    if (entries.length > 0 && !isOpen) await confirmClear(call, entries);
    return forge.kfr.clear({ dismiss: dismissAll && (await call.text(dismissAll)) });
  },
  render: ({ cleared }, style) =>
    cleared.length === 0
      ? 'Working memory was empty already.'
      : `${style.good('✓')} Cleared: ${cleared.map(({ id, outcome }) => `${id} (${outcome})`).join(', ')}`,
};

async function confirmClear(call: Call, entries: readonly KfrEntry[]): Promise<void> {
  if (call.flags.yes || call.flags.dryRun) return;
  const question = `Clear ${plural(entries.length, 'entry', 'entries')} of working memory?`;
  if (call.interactive) {
    call.say(table(entries, call.style));
    const { confirm } = await import('../cli/prompt.js');
    if (await confirm(question)) return;
  }
  throw refused('kfr.unconfirmed', 'Canceled: this needs confirmation (--yes).', {
    hint: 'forge kfr clear --yes',
  });
}

const ENTRY: Values = { live: ['kfr'] };

const patch: CommandSpec<KfrPatched> = {
  name: 'patch',
  args: ['[file]'],
  summary: 'Change working memory by a list of operations: all of them, or none',
  example: 'forge kfr patch --goal "logout works" --add "OpenQuestion:which cookie holds the token?"',
  options: [
    { flags: '--goal <text>', help: 'the goal, instead of the one there is' },
    { flags: '--plan <text>', help: 'the plan, instead of the one there is' },
    {
      flags: '--add <kind:text>',
      help: 'an ActiveContract, Constraint or OpenQuestion',
      many: true,
      values: { words: ['ActiveContract:', 'Constraint:', 'OpenQuestion:'] },
    },
    { flags: '--remove <id>', help: 'an entry that is no longer needed', many: true, values: ENTRY },
    { flags: '--resolve <id=text>', help: 'an entry, and its answer', many: true, values: ENTRY },
    {
      flags: '--dismiss <id=reason>',
      help: 'an entry, and why it no longer matters',
      many: true,
      values: ENTRY,
    },
    {
      flags: '--park <id=reason>',
      help: 'an entry that a human has to decide: an agent may stop',
      many: true,
      values: ENTRY,
    },
  ],
  writes: true,
  run: async (call, file) => call.forge().kfr.patch(await patchOf(call, file)),
  render: ({ applied, entries }, style) => {
    const done = applied.map(({ op, id, kind, replaced }) => [
      style.good('✓'),
      // A first goal or plan replaces nothing.
      op === 'replace' && !replaced ? 'add' : op,
      style.strong(id),
      kind,
      replaced ? `instead of ${replaced}` : '',
    ]);
    const rest = entries.length === 0 ? 'Working memory is empty.' : table(entries, style);
    return `${columns(done).replace(/ +$/gm, '')}\n\n${rest}`;
  },
};

type PatchFlags = { goal?: string; plan?: string } & Partial<
  Record<'add' | 'remove' | 'resolve' | 'dismiss' | 'park', string[]>
>;

async function patchOf(call: Call, file: string | undefined): Promise<KfrPatch> {
  const operations = await fromFlags(call, call.options as PatchFlags);
  if (file === undefined) return { operations };
  if (operations.length > 0)
    throw usage('kfr.both', 'Operations come from a file or from flags, not from both.');
  return call.forge().kfr.parse(await call.file(file));
}

/** Ordered so that a question can be settled before another entry replaces it. */
async function fromFlags(call: Call, flags: PatchFlags): Promise<KfrPatch['operations']> {
  const operations: KfrPatch['operations'] = [];
  for (const op of ['resolve', 'dismiss', 'park'] as const)
    for (const word of flags[op] ?? []) {
      const hint = settling(op, isId(word) ? word : undefined);
      const [id, text] = splitAt(word, '=', `--${op} takes ID=TEXT`, hint);
      operations.push({ op, id, [op === 'resolve' ? 'resolution' : 'reason']: text });
    }
  for (const id of flags.remove ?? []) operations.push({ op: 'remove', id });
  for (const [kind, text] of Object.entries({ Goal: flags.goal, Plan: flags.plan }))
    if (text !== undefined) operations.push({ op: 'replace', kind, text: await call.text(text) });
  for (const word of flags.add ?? []) {
    const hint = `forge kfr patch --add ${quoteWord(`OpenQuestion:${oneLine(word, 100)}`)}`;
    const [kind, text] = splitAt(word, ':', '--add takes KIND:TEXT', hint);
    operations.push({ op: 'add', kind, text });
  }
  return operations;
}

function splitAt(word: string, mark: string, says: string, hint: string): [string, string] {
  const at = word.indexOf(mark);
  if (at >= 1) return [word.slice(0, at).trim(), word.slice(at + 1)];
  throw usage('kfr.flag', `${says}; found ${JSON.stringify(oneLine(word, 60))}.`, { hint });
}

const inject: CommandSpec<{ text: string | null }> = {
  name: 'inject',
  summary: 'Print working memory as prompts contain it; nothing without entries',
  example: 'forge kfr inject',
  run: (call) => call.forge().kfr.inject(),
  render: ({ text }) => text ?? '',
};

export const group: Group = [command(list), command(patch), command(clear), command(inject)];
