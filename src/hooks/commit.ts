import {
  type CheckedCommit,
  type Enforcement,
  enforcementHere,
  guarded,
  rulesHere,
  stateOf,
  whyUnread,
} from '../commit/check.js';
import { type CheckedMessage, checkMessage, type MessageState } from '../commit/check-rules.js';
import { aboveScissors, protectHeadings } from '../commit/clean.js';
import { makeRules } from '../commit/rules.js';
import type { World } from '../core/world.js';
import { findGuarded, type GitFile, readGitFile } from '../git/repository.js';
import { knowAllowed } from '../guard/allow.js';
import { type Guard, loadGuard } from '../guard/guard.js';
import { type Context, contextAt } from '../project/project.js';

/** What a hook found, and what the repository wants of it. */
export interface HookedMessage extends CheckedCommit, Pick<Enforcement, 'enforce' | 'unread'> {
  /** The headings were moved in by a space: git would have taken them for its own remarks. */
  isProtected: boolean;
  /** The file goes on below a scissors line, where git cuts it with `-v` again. */
  isCut: boolean;
}

/**
 * The `commit-msg` hook: the message as git is about to store it (docs/commits.md). Null where there is nothing to check: no
 * `.forge/` here, or a message that git refuses by itself.
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
  const asked = found.repository
    ? stateOf(found.repository, world, file.bytes, file.path)
    : Promise.resolve({});
  const [state, guard]: [MessageState, Guard] = await Promise.all([
    asked,
    loadGuard(world.env, wanted.unread === null ? context : undefined),
  ]);
  // Without an editor, git writes no scissors line and stores one that is part of the text.
  const message = isEdited(world) ? aboveScissors(file.bytes, state.comment) : file.bytes;
  const checked = judge(context, message, state, wanted);
  // Nothing but git's remarks: who closes the editor on them wants no commit, and git says so.
  const isLeft = isEdited(world) && checkMessage(message, makeRules(), { ...state, cleanup: 'strip' }).empty;
  if (checked.empty || isLeft) return null;
  const judged = guarded(message, checked, guard);
  const isSafe = judged.problems.length > 0 || !(state.operation || (checked.fragile && isEdited(world)));
  const isProtected = !isSafe && protect(file, state.comment);
  const { enforce, unread } = wanted;
  return { ...judged, enforce, unread, isProtected, isCut: message.length < file.bytes.length };
}

/** The list of features is read for an id that is no issue's. */
function judge(context: Context, bytes: Buffer, state: MessageState, wanted: Enforcement): CheckedMessage {
  const quick = checkMessage(bytes, makeRules(wanted.settings), state);
  if (wanted.unread !== null || !quick.problems.some(({ rule }) => rule === 'id')) return quick;
  try {
    return checkMessage(bytes, rulesHere(context), state);
  } catch (error) {
    Object.assign(wanted, { enforce: 'off', unread: whyUnread(error) });
    return quick;
  }
}

/** What git tells its hooks where no editor was used. One that goes on with a pick says so too, and cleans all the same. */
const isEdited = ({ env }: World): boolean => env.GIT_EDITOR !== ':';

/** Moves headings in by a space where git takes them for remarks; false where it does not. */
function protect({ bytes, replace }: GitFile, comment: string | undefined): boolean {
  const text = bytes.toString('utf8');
  const safe = protectHeadings(text, comment);
  if (safe !== text) replace(safe);
  return safe !== text;
}
