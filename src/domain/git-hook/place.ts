import { GIT_HOOKS, type GitHook, isShim, shim, withBlock, withoutBlock } from './shim.js';

/** Who runs the hooks of a repository; forge adds itself to what is somebody else's only when it was asked to. */
export const MANAGERS = ['husky', 'lefthook', 'scripts'] as const;
export type Manager = (typeof MANAGERS)[number];

/** Where git looks for hooks, and what stands there. */
export interface Surroundings {
  /** `core.hooksPath` as it was set, by whom (git's scope); null when it was not. */
  hooksPath: { value: string; scope: string; isInside: boolean } | null;
  /** The text of the file that would be forge's, or would take forge in; null where there is none. */
  files: Readonly<Record<GitHook, HookText>>;
  /** What lefthook's own file of this machine holds; null when there is none. */
  lefthookLocal: string | null;
}

export interface HookText {
  /** From the top folder; what people are shown. */
  path: string;
  text: string | null;
}

/** What becomes of one hook. */
export interface HookPlan {
  hook: GitHook;
  path: string;
  state: 'installed' | 'new' | 'renewed' | 'added' | 'refused';
  /** The whole file as it is to be; null: it stays. */
  text: string | null;
  /** Whose file it is, when forge was not there yet. */
  into: Manager | null;
  /** Why it is refused. */
  why?: string;
}

export const isHusky = (hooksPath: string): boolean => /(^|[\\/])\.husky([\\/]_)?[\\/]?$/.test(hooksPath);

/** Shims of lefthook name it; so does no other. */
const isLefthook = (text: string): boolean =>
  /\blefthook\b/i.test(text) && /LEFTHOOK|call_lefthook/.test(text);

export const LEFTHOOK_LOCAL = 'lefthook-local.yml';

export const planHooks = (surroundings: Surroundings): HookPlan[] =>
  GIT_HOOKS.map((hook) => planHook(hook, surroundings));

function planHook(hook: GitHook, { hooksPath, files, lefthookLocal }: Surroundings): HookPlan {
  const { path, text } = files[hook];
  const keep = { hook, path, text: null, into: null };
  if (hooksPath && !hooksPath.isInside)
    return {
      ...keep,
      state: 'refused',
      why: `core.hooksPath (${hooksPath.scope}) leads to ${hooksPath.value}, which belongs to more than this repository`,
    };
  if (text !== null && isShim(text))
    return text === shim(hook)
      ? { ...keep, state: 'installed' }
      : { ...keep, state: 'renewed', text: shim(hook) };
  if (text === null && !hooksPath) return { ...keep, state: 'new', text: shim(hook) };
  if (text !== null && isLefthook(text)) return planLefthook(hook, lefthookLocal, keep);
  return planBlock(hook, text, hooksPath !== null && isHusky(hooksPath.value), keep);
}

type Keep = Pick<HookPlan, 'hook' | 'path' | 'text' | 'into'>;

function planBlock(hook: GitHook, text: string | null, husky: boolean, keep: Keep): HookPlan {
  const added = withBlock(text ?? (husky ? '' : '#!/bin/sh\n'), hook);
  if (added === null) return { ...keep, state: 'refused', why: `${keep.path} is no shell script` };
  if (added === text) return { ...keep, state: 'installed' };
  const isOurs = text !== null && withoutBlock(text) !== text;
  return {
    ...keep,
    state: isOurs ? 'renewed' : 'added',
    text: added,
    into: isOurs ? null : husky ? 'husky' : 'scripts',
  };
}

function planLefthook(hook: GitHook, local: string | null, keep: Keep): HookPlan {
  const place = { ...keep, path: LEFTHOOK_LOCAL };
  if (local?.includes(lefthookEntry(hook))) return { ...place, state: 'installed' };
  if (local !== null && new RegExp(`^${hook}:`, 'm').test(local))
    return { ...place, state: 'refused', why: `${LEFTHOOK_LOCAL} has ${hook} already` };
  return { ...place, state: 'added', text: lefthookEntry(hook), into: 'lefthook' };
}

/** What each hook is told that it needs: lefthook puts words in as they are, and git says more. */
const WORDS: Partial<Record<GitHook, string>> = {
  'commit-msg': ' "{1}"',
  'pre-push': ' "{1}"',
  'post-checkout': ' {0}',
};

/** A hook's lines in lefthook's file of this machine, which it lays over the one that is shared. */
export const lefthookEntry = (hook: GitHook): string =>
  [
    `# >>> forge >>> ${hook}`,
    `${hook}:`,
    '  commands:',
    '    forge:',
    `      run: sh "$(git rev-parse --git-common-dir)/forge/hook" ${hook}${WORDS[hook] ?? ''}`,
    ...(hook === 'pre-push' ? ['      use_stdin: true'] : []),
    `# <<< forge <<< ${hook}`,
    '',
  ].join('\n');

/** lefthook's file without what forge put there. */
export const withoutLefthookEntries = (text: string): string =>
  GIT_HOOKS.reduce((rest, hook) => rest.replace(lefthookEntry(hook), ''), text);
