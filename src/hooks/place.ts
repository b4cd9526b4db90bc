import {
  ALL_HOOKS,
  block,
  GIT_HOOKS,
  type GitHook,
  hasBlock,
  markedLines,
  newHook,
  PREPARE,
  SHEBANG,
  withBlock,
  withoutBlock,
} from './shim.js';

/** Who runs the hooks of a repository; forge adds itself to what is somebody else's only when it was asked to. */
export const MANAGERS = ['husky', 'lefthook', 'scripts'] as const;
export type Manager = (typeof MANAGERS)[number];

/** Where git looks for hooks, and what stands there. */
export interface Surroundings {
  /** `core.hooksPath` as it was set, by whom (git's scope); null when it was not. `isThere`: it is a folder. */
  hooksPath: { value: string; scope: string; isThere: boolean } | null;
  /** The file that would be forge's, or would take forge in. */
  files: Readonly<Record<GitHook, HookFile>>;
  /** What lefthook reads of this machine alone; null when there is no such file. */
  lefthookLocal: { path: string; text: string } | null;
}

export interface HookFile {
  /** From the top folder; what people are shown. */
  path: string;
  /** Null where there is none. */
  text: string | null;
  /** `git`: in the git dir's own folder of hooks; `repository`: elsewhere in it; `others`: not this repository's alone. */
  owner: 'git' | 'repository' | 'others';
  /** Git passes over a file that is not executable. */
  isRun: boolean;
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
  /** Why it is refused, and what to do. */
  why?: string;
  fix?: string;
}

/** What runs husky's hooks lies in a folder beside them, which git looks in. */
export const isHusky = (hooksPath: string): boolean => /(^|[\\/])\.husky([\\/]_)?[\\/]?$/.test(hooksPath);

/** Shims of lefthook name it; so does no other. */
const isLefthook = (text: string): boolean =>
  /\blefthook\b/i.test(text) && /LEFTHOOK|call_lefthook/.test(text);

/** Whoever put forge's script into a hook by hand wants it run. */
const isByHand = (text: string | null): boolean => /\bforge\/hook\b/.test(text ?? '');

/** lefthook reads one of these, its own name first. */
export const LEFTHOOK_LOCALS = ['lefthook-local', '.lefthook-local', '.config/lefthook-local'].flatMap(
  (name) => ['yml', 'yaml', 'toml', 'json', 'jsonc'].map((ending) => `${name}.${ending}`),
);
export const LEFTHOOK_LOCAL = 'lefthook-local.yml';

/** Of those that forge always has; of `prepare-commit-msg` where it is wanted, or there already. */
export function planHooks(surroundings: Surroundings, prepare = false): HookPlan[] {
  const extra = planHook(PREPARE, surroundings);
  const plans = GIT_HOOKS.map((hook) => planHook(hook, surroundings));
  return prepare || isWired(extra) ? [...plans, extra] : plans;
}

/** Git runs forge there. */
export const isWired = ({ state }: { state: string }): boolean =>
  state === 'installed' || state === 'renewed';

type Keep = Pick<HookPlan, 'hook' | 'path' | 'text' | 'into'>;

function planHook(hook: GitHook, surroundings: Surroundings): HookPlan {
  const { hooksPath, files } = surroundings;
  const { path, text, owner, isRun } = files[hook];
  const keep = { hook, path, text: null, into: null };
  if (hooksPath && !hooksPath.isThere) return refuseNoFolder(hooksPath, keep);
  if (text !== null && !isRun)
    return {
      ...keep,
      state: 'refused',
      why: `${path} is not executable, so git passes over it`,
      fix: `chmod +x ${path} && forge hooks install`,
    };
  if (owner === 'others') return planOthers(hooksPath, text, keep);
  if (text === null && owner === 'git') return { ...keep, state: 'new', text: newHook(hook) };
  if (text !== null && isLefthook(text)) return planLefthook(hook, surroundings, keep);
  return planBlock(text, hooksPath !== null && isHusky(hooksPath.value), owner, keep);
}

const refuseNoFolder = ({ value, scope }: { value: string; scope: string }, keep: Keep): HookPlan => ({
  ...keep,
  state: 'refused',
  why: `core.hooksPath (${scope}) is ${JSON.stringify(value)}, which is not a folder, so git runs no hooks`,
  fix: `git config --${scope} --unset core.hooksPath   # or make that folder`,
});

const refuse = (why: string, keep: Keep): HookPlan => ({
  ...keep,
  state: 'refused',
  why,
  fix: `to have it all the same, let your ${keep.hook} hook do what these lines of sh do; then: forge hooks install\n${block(keep.hook)}`,
});

/** Not written to, whatever is agreed to. */
function planOthers(hooksPath: Surroundings['hooksPath'], text: string | null, keep: Keep): HookPlan {
  if (isByHand(text)) return { ...keep, state: 'installed' };
  const way = hooksPath
    ? `core.hooksPath (${hooksPath.scope}) leads to ${hooksPath.value}`
    : `a link leads to ${keep.path}`;
  return refuse(`${way}, which belongs to more than this repository`, keep);
}

function planBlock(text: string | null, husky: boolean, owner: HookFile['owner'], keep: Keep): HookPlan {
  const added = withBlock(text ?? (husky ? '' : SHEBANG), keep.hook, owner === 'git');
  const isOurs = text !== null && hasBlock(text);
  if (added === text || (!isOurs && isByHand(text))) return { ...keep, state: 'installed' };
  if (added === null) return refuse(`${keep.path} is not a shell script`, keep);
  return {
    ...keep,
    state: isOurs ? 'renewed' : 'added',
    text: added,
    into: isOurs ? null : husky ? 'husky' : 'scripts',
  };
}

/** A file of the person's own for this machine stays theirs: they get the lines to add. */
function planLefthook(hook: GitHook, { files, lefthookLocal: local }: Surroundings, keep: Keep): HookPlan {
  const { path, text } = local ?? { path: LEFTHOOK_LOCAL, text: '' };
  const place = { ...keep, path };
  if (new RegExp(`\\bforge/hook\\W+${hook}\\b`).test(text)) return { ...place, state: 'installed' };
  if (local && !hasBlock(text)) {
    const fix = `add to it, in its form, what follows; then: forge hooks install\n${lefthookEntry(hook)}`;
    return { ...place, state: 'refused', why: `${path} is what lefthook reads of this machine`, fix };
  }
  const isWanted = (one: GitHook): boolean => one !== PREPARE || hook === PREPARE || text.includes(PREPARE);
  const hooks = ALL_HOOKS.filter((one) => isLefthook(files[one].text ?? '') && isWanted(one));
  const added = `${markedLines(hooks.map(lefthookEntry))}${withoutBlock(text)}`;
  return { ...place, state: 'added', text: added, into: 'lefthook' };
}

/** What each hook is told that it needs: lefthook puts words in as they are, and git says more. */
const WORDS: Partial<Record<GitHook, string>> = {
  'commit-msg': ' "{1}"',
  'pre-push': ' "{1}"',
  'post-checkout': ' {0}',
  'prepare-commit-msg': ' "{1}" "{2}"',
};

/** A hook's lines in lefthook's file of this machine, which it lays over the one that is shared. */
export const lefthookEntry = (hook: GitHook): string =>
  [
    `${hook}:`,
    '  commands:',
    '    forge:',
    `      run: sh "$(git rev-parse --git-common-dir)/forge/hook" ${hook}${WORDS[hook] ?? ''}`,
    ...(hook === 'pre-push' ? ['      use_stdin: true'] : []),
  ].join('\n');
