import { formatArgv } from '../core/argv.js';
import { ForgeError, usage } from '../core/error.js';
import { commitMessageFile } from '../core/paths.js';
import type { UserGit } from '../git/client.js';
import { openEditor } from '../git/editor.js';
import { loadGuard, refuseFound } from '../guard/guard.js';
import { isGrave } from '../guard/rule.js';
import type { Context } from '../project/project.js';
import { rulesHere } from './check.js';
import { checkMessage } from './check-rules.js';
import { cleanMessage, textOf } from './clean.js';

/** As git does it: a file, an editor on it, and what is left there. */
export async function editMessage(context: Context, own: UserGit, text: string): Promise<string> {
  if (!context.world.terminal)
    throw usage('commit.edit', '--edit opens an editor; here is no terminal.', {
      hint: 'forge commit --dry-run',
    });
  saveMessage(context, text);
  const file = commitMessageFile(context.layout);
  const byHand = formatArgv(['git', 'commit', '-e', '--cleanup=verbatim', '-F', file]);
  const hint = `What was written is kept: ${byHand}   Another editor: git config core.editor …`;
  await openEditor(own, file, context.world.env, hint);
  const left = context.disk.read(file)?.toString('utf8') ?? '';
  const message = cleanMessage(left, 'whitespace');
  if (message.lines.length === 0) throw usage('commit.empty', 'The message is empty; nothing was committed.');
  return textOf(message);
}

export async function guardMessage(context: Context, message: string): Promise<void> {
  const found = (await loadGuard(context.world.env, context))
    .scanFields([{ path: '', text: message }])
    .filter(({ class: name }) => isGrave(name));
  if (found.length > 0) refuseFound(context, 'commit message', found);
}

export function requireProtocol(context: Context, message: string): void {
  const { problems } = checkMessage(Buffer.from(message), rulesHere(context), { stored: true });
  const [first] = problems;
  if (!first) return;
  const file = saveMessage(context, message);
  const more = problems.length > 1 ? ` and ${problems.length - 1} more` : '';
  throw new ForgeError('findings', 'commit.protocol', `line ${first.line}: ${first.message}${more}`, {
    hint: `The message is kept in ${file}. Write: ${first.fix}`,
    data: { problems, file },
  });
}

/** It may name people, as commits do: what may be in no message was looked for already. */
export function saveMessage({ disk, layout }: Context, message: string): string {
  const file = commitMessageFile(layout);
  disk.withLock(() => disk.replaceMoved(file, Buffer.from(message)));
  return file;
}

export function removeMessage({ disk, layout }: Context): void {
  disk.withLock(() => disk.remove(commitMessageFile(layout)));
}
