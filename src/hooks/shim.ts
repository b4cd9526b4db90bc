import { template } from '../core/templates.js';

/** The git hooks that forge installs. */
export const GIT_HOOKS = ['commit-msg', 'post-checkout', 'post-commit', 'post-merge', 'pre-push'] as const;
/** Only on request: closing the editor to give up would commit the text that forge filled in. */
export const PREPARE = 'prepare-commit-msg';
export const ALL_HOOKS = [...GIT_HOOKS, PREPARE] as const;
export type GitHook = (typeof ALL_HOOKS)[number];

export const isGitHook = (word: string): word is GitHook => (ALL_HOOKS as readonly string[]).includes(word);

/** Added to the exit codes that templates/hooks/hook.sh passes on. Any other code is a crash, which must not block a commit. */
export const SHIM_EXIT = 100;

const BEGIN = '# >>> forge >>> "forge hooks uninstall" removes these lines, FORGE_HOOKS=0 skips them.';
const END = '# <<< forge <<<';
export const SHEBANG = '#!/bin/sh\n';

/**
 * The lines of a hook file that run forge's script. They pass if it is missing. In git's own folder, where only
 * `hooks install` puts them, they need no git, and a check reports that.
 */
export const block = (hook: GitHook, isOwnFolder = false): string =>
  [
    BEGIN,
    isOwnFolder
      ? `forge_script="\${0%/*}/../forge/hook"`
      : 'forge_script="$(git rev-parse --git-common-dir 2>/dev/null)/forge/hook"',
    ...(hook === 'pre-push'
      ? PUSH_LINES
      : [`if [ -f "$forge_script" ]; then sh "$forge_script" ${hook} "$@" </dev/null || exit $?; fi`]),
    ...(isOwnFolder && (hook === 'pre-push' || hook === 'commit-msg') ? [REPORT_LINE] : []),
    END,
    '',
  ].join('\n');

const REPORT_LINE = `if [ ! -f "$forge_script" ] && [ -d .forge ] && [ "\${FORGE_HOOKS-}" != 0 ]; then echo "forge: .git/forge/hook is missing, so nothing was checked; to fix this: forge hooks install" >&2; fi`;

/** Passes stdin on to the lines after the block. Not by a pipe: one that is closed early fails under `pipefail`. */
const PUSH_LINES = [
  'if [ -f "$forge_script" ] && [ ! -t 0 ] && forge_refs=$(cat) && [ -n "$forge_refs" ]; then',
  'sh "$forge_script" pre-push "$@" <<FORGE_REFS || exit $?',
  '$forge_refs',
  'FORGE_REFS',
  'exec <<FORGE_REFS',
  '$forge_refs',
  'FORGE_REFS',
  'fi',
];

/** Arguments that lefthook passes: its placeholders. */
const LEFTHOOK_ARGS: Partial<Record<GitHook, string>> = {
  'commit-msg': ' "{1}"',
  'pre-push': ' "{1}"',
  'post-checkout': ' {0}',
  'prepare-commit-msg': ' "{1}" "{2}"',
};

/** The lines for `lefthook-local.yml`. */
export const lefthookEntry = (hook: GitHook): string =>
  [
    `${hook}:`,
    '  commands:',
    '    forge:',
    `      run: f="$(git rev-parse --git-common-dir)/forge/hook"; [ ! -f "$f" ] || sh "$f" ${hook}${LEFTHOOK_ARGS[hook] ?? ''}`,
    ...(hook === 'pre-push' ? ['      use_stdin: true'] : []),
  ].join('\n');

/** A path as one word of a shell. */
export const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

/**
 * The script that all hooks run, with the paths of Node and forge that installed them. During a rebase it does not judge
 * messages, which were checked before, but commit-msg still protects headings. After a commit, a switch or a merge the
 * shell alone does the work.
 */
export const script = ({
  node,
  forge,
}: Record<'node' | 'forge', string>): string => `# forge's hooks, run by the hooks in ../hooks.
forge_node=${quoted(node)}
forge_program=${quoted(forge)}
${template('hooks', 'hook.sh')}`;

const SHELL =
  /^#![ \t]*(?:\S*\/env[ \t]+(?:-\S+[ \t]+)*|\S*\/)(?:busybox[ \t]+)?(?:a|ba|da|k|mk|z)?sh(?:\s|$)/;

/**
 * A hook with the block after its first line, so that an `exit` or `exec` below does not skip it. Null if it is not a
 * shell script. Husky's files have no shebang.
 */
export function withBlock(text: string, hook: GitHook, isOwnFolder = false): string | null {
  const plain = withoutBlock(text);
  if (plain.includes('\0')) return null;
  const end = plain.startsWith('#!') ? plain.indexOf('\n') + 1 : 0;
  if (plain.startsWith('#!') && (end === 0 || !SHELL.test(plain))) return null;
  return plain.slice(0, end) + block(hook, isOwnFolder) + plain.slice(end);
}

/** True if forge added its lines to the file. */
export const hasBlock = (text: string): boolean => withoutBlock(text) !== text;

export function withoutBlock(text: string): string {
  const from = text.indexOf('# >>> forge >>>');
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) return text;
  return text.slice(0, from) + text.slice(to + END.length).replace(/^\n/, '');
}
