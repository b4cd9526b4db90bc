import {
  type Enforcement,
  enforcementHere,
  rulesHere,
  stateOf,
  whyUnread,
  withoutSecrets,
} from '../commit/check.js';
import { type CheckedMessage, checkMessage, type MessageState } from '../commit/check-message.js';
import { aboveScissors, protectHeadings } from '../commit/clean.js';
import { makeRules } from '../commit/rules.js';
import { agentMark } from '../core/role.js';
import type { World } from '../core/world.js';
import { findGuarded, type GitFile, readGitFile } from '../git/repository.js';
import { knowAllowed } from '../guard/allow.js';
import { loadGuard } from '../guard/guard.js';
import { type Context, contextAt } from '../project/project.js';

/** What the hook found, and what the repository asks of it. */
export interface HookedMessage
  extends Pick<CheckedMessage, 'problems'>,
    Pick<Enforcement, 'enforce' | 'unread'> {
  /** The file goes on below a scissors line, where git cuts it with `-v` again. */
  isCut: boolean;
}

/**
 * The `commit-msg` hook: the message as git is about to store it (docs/commits.md). Where git would take headings for
 * comments, they are moved in by a space. Null where there is nothing to check: no `.forge/` here, or a message that git
 * refuses by itself.
 */
export async function checkHookedMessage(
  from: string,
  world: World,
  path: string,
): Promise<HookedMessage | null> {
  const found = findGuarded(from);
  if (!found) return null;
  const file = readGitFile(from, path);
  const context = contextAt(found.root, found.repository, world, true);
  const wanted = enforcementHere(context);
  knowAllowed(context);
  // The guard is loaded while git reads its settings.
  const asked: Promise<MessageState> = found.repository
    ? stateOf(found.repository, world, file.bytes, file.path)
    : Promise.resolve({});
  const [state, guard] = await Promise.all([
    asked,
    loadGuard(world.env, wanted.unread === null ? context : undefined),
  ]);
  // Without an editor, git writes no scissors line and stores one that is part of the text.
  const message = isEdited(world) ? aboveScissors(file.bytes, state.comment) : file.bytes;
  const checked = judge(context, message, state, wanted);
  // Only comments are left: who closes the editor on them wants no commit, and git says so.
  const isLeft = isEdited(world) && checkMessage(message, makeRules(), { ...state, cleanup: 'strip' }).empty;
  if (checked.empty || isLeft) return null;
  const { problems } = withoutSecrets(message, checked, guard);
  if (problems.length === 0 && (state.operation || (checked.fragile && isEdited(world))))
    protect(file, state.comment);
  const isBound = wanted.settings.who !== 'agents' || isAgent(world) || checked.mark !== null;
  const { enforce, unread } = wanted;
  return { problems, enforce: isBound ? enforce : 'off', unread, isCut: message.length < file.bytes.length };
}

/** The list of features is read only for an id that is not an issue's. */
function judge(context: Context, bytes: Buffer, state: MessageState, wanted: Enforcement): CheckedMessage {
  const quick = checkMessage(bytes, makeRules(wanted.settings), state);
  const mayBeFeature = quick.problems.some(({ rule }) => rule === 'id' || rule === 'backtrace');
  if (wanted.unread !== null || !mayBeFeature) return quick;
  try {
    return checkMessage(bytes, rulesHere(context), state);
  } catch (error) {
    Object.assign(wanted, { enforce: 'off', unread: whyUnread(error) });
    return quick;
  }
}

const isAgent = ({ env }: World): boolean =>
  agentMark(env) !== null || /^\s*builder\s*$/i.test(env.FORGE_ROLE ?? '');

/** Git sets this where no editor was used. One that continues a pick does so too, and cleans all the same. */
const isEdited = ({ env }: World): boolean => env.GIT_EDITOR !== ':';

function protect({ bytes, replace }: GitFile, comment: string | undefined): void {
  const text = bytes.toString('utf8');
  const safe = protectHeadings(text, comment);
  if (safe !== text) replace(safe);
}
