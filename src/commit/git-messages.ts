import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type Git, type GitStream, gitError, isNoRange } from '../git/client.js';
import { Cutter } from '../git/cutter.js';
import type { Repository } from '../git/repository.js';
import { type Circumstances, type People, STATE_FILES } from './exempt.js';

/** A commit of a range, as it is stored. */
interface StoredMessage {
  hash: string;
  parents: string[];
  people: People;
  message: Buffer;
}

/** Five lines, then the message. */
const FORMAT = '--format=%H %P%n%an%n%ae%n%ce%n%ct%n%B';
const LOG = ['log', '-z', '--no-show-signature', '--no-notes', '--encoding=UTF-8', FORMAT];
const MAX_MESSAGE = 16 * 1024 * 1024;
const LF = 0x0a;

/** Commits as people name them, `A..B`; or as forge found them: ids, those left out with `^` in front. */
export type Range = string | readonly string[];

/** The commits of a range, newest first: one git, and none of it held. Exit 2 for a range that is none. */
export async function readMessages(
  git: GitStream,
  named: Range,
  onMessage: (message: StoredMessage) => void,
): Promise<void> {
  const range = typeof named === 'string' ? named : named.join(' ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no revision has one, and git would cut there
  if (range === '' || range.startsWith('-') || /[\u0000-\u001f]/.test(range))
    throw noRange(range, 'it is no revision');
  if (typeof named === 'string' && named.length > 1000) throw noRange(range, 'it is no revision');
  const cutter = new Cutter((bytes) => onMessage(parseMessage(bytes)), 0, MAX_MESSAGE);
  const args = [...LOG, '--end-of-options', ...[named].flat(), '--'];
  const { code, stderr } = await git(args, (chunk) => cutter.push(chunk));
  if (code === 0) return;
  throw isNoRange(stderr) ? noRange(range, 'git knows no such revision') : gitError(args, stderr);
}

const noRange = (range: string, why: string): Error =>
  usage('commit.range', `${JSON.stringify(oneLine(range, 80))} names no commits here: ${why}.`, {
    hint: 'A..B, as for git log. In a shallow clone: git fetch --unshallow',
  });

function parseMessage(bytes: Buffer): StoredMessage {
  let end = -1;
  for (let i = 0; i < 5; i++) end = bytes.indexOf(LF, end + 1);
  const [ids = '', author = '', authorEmail = '', committerEmail = '', at = ''] = bytes
    .toString('utf8', 0, end)
    .split('\n');
  const [hash = '', ...parents] = ids.split(' ').filter(Boolean);
  const people = { author, authorEmail, committerEmail, at: Number(at) };
  return { hash, parents, people, message: bytes.subarray(end + 1) };
}

/** The settings by which git cleans a message up. */
const MESSAGE_SETTINGS = '^(core\\.comment(char|string)|commit\\.cleanup)$';

/** How git reads the message files of this repository. */
interface MessageSettings {
  comment?: string;
  cleanup?: string;
}

const NAMES: Record<string, keyof MessageSettings> = {
  'core.commentchar': 'comment',
  'core.commentstring': 'comment',
  'commit.cleanup': 'cleanup',
};

/** `env`: of the git that runs a hook, which may have settings of its own (`git -c core.commentChar=…`). */
export async function readMessageSettings(git: Git, env: NodeJS.ProcessEnv = {}): Promise<MessageSettings> {
  const own = Object.entries(env).filter(([key]) =>
    /^GIT_CONFIG_(PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)$/.test(key),
  );
  const { stdout } = await git(['config', '-z', '--get-regexp', MESSAGE_SETTINGS], {
    env: Object.fromEntries(own) as Record<string, string>,
  });
  const settings: MessageSettings = {};
  for (const entry of stdout.split('\0').filter(Boolean)) {
    const [key = '', ...value] = entry.split('\n');
    const name = NAMES[key];
    // The comment character `auto` is taken for git's default.
    if (name && value[0] !== 'auto') settings[name] = value.join('\n');
  }
  return settings;
}

/** The operation whose message git would ask for now. */
export const operationOf = ({ gitDir }: Repository): Circumstances['operation'] =>
  STATE_FILES.find(([file]) => existsSync(join(gitDir, file)))?.[1];
