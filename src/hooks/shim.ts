/** The hooks of git that forge answers. */
export const GIT_HOOKS = ['commit-msg', 'post-checkout', 'post-commit', 'post-merge', 'pre-push'] as const;
/** Installed on request alone: who closes an editor to give up would commit what it filled in. */
export const PREPARE = 'prepare-commit-msg';
export const ALL_HOOKS = [...GIT_HOOKS, PREPARE] as const;
export type GitHook = (typeof ALL_HOOKS)[number];

export const isGitHook = (word: string): word is GitHook => (ALL_HOOKS as readonly string[]).includes(word);

/** Which Node and which forge a hook starts: those that installed it, as absolute paths. */
interface Runtime {
  node: string;
  forge: string;
}

/**
 * What `forge hook` ends with when started by a shim: nothing else is a refusal, whatever Node or a broken installation
 * ends with.
 */
export const SHIM_EXITS = { problems: 101, secret: 105 } as const;

const BEGIN = '# >>> forge >>> "forge hooks uninstall" removes these lines, FORGE_HOOKS=0 skips them.';
const END = '# <<< forge <<<';

/**
 * The lines that run forge from a hook file. In git's own folder of hooks (`isOwnFolder`) they find the script beside that
 * folder, which saves a process; elsewhere git names its place. They pass where forge is not installed, and hand on
 * what git says on stdin to the lines after them.
 */
export const block = (hook: GitHook, isOwnFolder = false): string =>
  markedLines([
    isOwnFolder
      ? `forge_script="\${0%/*}/../forge/hook"`
      : 'forge_script="$(git rev-parse --git-common-dir 2>/dev/null)/forge/hook"',
    ...(hook === 'pre-push' ? PUSH_LINES : [line(hook)]),
  ]);

/** Lines of forge's in a file of somebody else's. */
export const markedLines = (lines: readonly string[]): string => [BEGIN, ...lines, END, ''].join('\n');

const line = (hook: GitHook): string =>
  `if [ -f "$forge_script" ]; then sh "$forge_script" ${hook} "$@" </dev/null || exit $?; fi`;

/** Without a pipe: where one is closed early, a shell with pipefail would take that for a refusal. */
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

/** A path as one word of a shell. */
export const quoted = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`;

/**
 * What all hooks do. During a rebase nothing is kept, which would cost time for each commit, and messages are not judged:
 * they were when they were made. Where one is edited, which is when git runs commit-msg, its headings are saved from git's
 * clean-up. A push is one at any time. What follows a commit, a switch or a merge is kept by the shell alone.
 */
export const script = ({ node, forge }: Runtime): string => `# forge's hooks, run by the hooks in ../hooks.
forge_node=${quoted(node)}
forge_program=${quoted(forge)}
${SCRIPT}`;

/** What a script was told, in its own words; null for what is no script of forge's. */
export function runtimeOf(text: string): Runtime | null {
  const [node, forge] = ['node', 'program'].map((name) =>
    new RegExp(`^forge_${name}='(.*)'$`, 'm').exec(text)?.[1]?.replaceAll("'\\''", "'"),
  );
  return node !== undefined && forge !== undefined ? { node, forge } : null;
}

const SCRIPT = `[ "\${FORGE_HOOKS-}" = 0 ] && exit 0
forge_hook=$1
shift
forge_git=\${GIT_DIR:-.git}
case $forge_hook in
  post-*) if [ -d "$forge_git/rebase-merge" ] || [ -d "$forge_git/rebase-apply" ]; then exit 0; fi ;;
esac

# Starts forge: the one that was installed, else the one in PATH; without one nobody is held up.
forge_check() {
  [ -n "\${FORGE_NODE-}" ] && forge_node=$FORGE_NODE
  [ -x "$forge_node" ] || forge_node=$(command -v node 2>/dev/null)
  if [ -n "$forge_node" ] && [ -f "$forge_program" ]; then
    FORGE_SHIM=1 "$forge_node" "$forge_program" hook "$forge_hook" "$@"
  elif command -v forge >/dev/null 2>&1; then
    FORGE_SHIM=1 forge hook "$forge_hook" "$@"
  else
    echo "forge: not found, so nothing was $forge_aim; to have it back: forge hooks install" >&2
    exit 0
  fi
  forge_exit=$?
  case $forge_exit in
    0) exit 0 ;;
    ${SHIM_EXITS.problems}) exit 1 ;;
    ${SHIM_EXITS.secret}) exit 5 ;;
    *) echo "forge: its $forge_hook hook failed (exit $forge_exit), so nothing was $forge_aim" >&2; exit 0 ;;
  esac
}

# Writes what can be derived from git, in one step; never through a link that somebody put there, nor into a folder.
forge_keep() {
  [ -d ".forge/git/$1" ] && return
  set -C
  forge_temp=".forge/git/.$1.$$.tmp"
  if cat >"$forge_temp" 2>/dev/null && [ -s "$forge_temp" ]; then mv -f "$forge_temp" ".forge/git/$1"
  else rm -f "$forge_temp"; fi
}

# What two branches changed, and git committed or checked out with the marks of it.
forge_conflict() {
  for forge_file in .forge/memory/long-term/features.d/*.json .forge/linear/active.json; do
    if [ -f "$forge_file" ] && grep -q '^<<<<<<< ' "$forge_file" 2>/dev/null; then
      echo "forge: $forge_file has a merge conflict; to merge both sides: forge doctor --fix" >&2
      return
    fi
  done
}

forge_derive() {
  [ -L .forge ] || forge_conflict
  if [ -L .forge ] || [ -L .forge/git ] || [ ! -d .forge ]; then exit 0; fi
  mkdir -p .forge/git 2>/dev/null || exit 0
  git log -50 --no-show-signature --format='%h %cI %s' HEAD -- 2>/dev/null | forge_keep commits.log
  git for-each-ref --count=200 --sort=-committerdate refs/heads \\
    --format='%(HEAD)%09%(objectname)%09%(committerdate:iso-strict)%09%(upstream:short)%09%(refname:short)' |
    awk -F '\\t' '
      function text(value) { gsub(/"/, "\\\\\\"", value); return "\\"" value "\\"" }
      BEGIN { printf "{\\n  \\"schema_version\\": \\"1.0\\",\\n  \\"branches\\": [" }
      {
        printf "%s\\n    { \\"name\\": %s, \\"head\\": %s, \\"committed_at\\": %s, \\"upstream\\": %s, \\"current\\": %s }",
          (NR > 1 ? "," : ""), text($5), text($2), text($3), ($4 == "" ? "null" : text($4)), ($1 == "*" ? "true" : "false")
      }
      END { printf "\\n  ]\\n}\\n" }' | forge_keep branches.json
  exit 0
}

forge_aim=checked
case $forge_hook in
  commit-msg) forge_check "$@" ;;
  pre-push)
    # When remotes have it all, which git answers in a fraction of what Node takes, there is nothing to check.
    [ -t 0 ] && exit 0
    forge_refs=$(cat)
    forge_new=$(printf '%s\\n' "$forge_refs" |
      awk '{ if ($2 !~ /^0*$/) print $2; if ($4 !~ /^0*$/) print "^" $4 }' |
      git rev-list --max-count=1 --ignore-missing --stdin --not --remotes 2>&1) && [ -z "$forge_new" ] && exit 0
    forge_check "$@" <<FORGE_REFS
$forge_refs
FORGE_REFS
    ;;
  prepare-commit-msg)
    # An editor on a message that nobody gave, while git is in the middle of nothing. Lefthook says {2} for no word.
    [ "\${GIT_EDITOR-}" = : ] && exit 0
    case \${2-} in '' | '{2}') ;; *) exit 0 ;; esac
    for forge_path in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD; do
      [ -e "$forge_git/$forge_path" ] && exit 0
    done
    forge_aim='filled in'
    forge_check "$1"
    ;;
  # A checkout of files moves nothing.
  post-checkout) [ "\${3-1}" = 0 ] || forge_derive ;;
  post-commit | post-merge) forge_derive ;;
esac
exit 0
`;

/** Wherever it lies, by `env` or not, with whatever flags. */
const SHELL =
  /^#![ \t]*(?:\S*\/env[ \t]+(?:-\S+[ \t]+)*|\S*\/)(?:busybox[ \t]+)?(?:a|ba|da|k|mk|z)?sh(?:\s|$)/;

/**
 * Somebody's hook with the block behind its first line, so that an \`exit\` or \`exec\` further down does not keep it from
 * being run; null for what is not a shell script. A file without a first line for the system (husky's) is one.
 */
export function withBlock(text: string, hook: GitHook, isOwnFolder = false): string | null {
  const plain = withoutBlock(text);
  const lines = block(hook, isOwnFolder);
  if (plain.includes('\0')) return null;
  if (!plain.startsWith('#!')) return `${lines}${plain}`;
  const end = plain.indexOf('\n') + 1;
  if (end === 0 || !SHELL.test(plain)) return null;
  return `${plain.slice(0, end)}${lines}${plain.slice(end)}`;
}

export const SHEBANG = '#!/bin/sh\n';

/** A hook file that forge makes. A person may add lines to it. */
export const newHook = (hook: GitHook): string => `${SHEBANG}${block(hook, true)}`;

/** The file runs forge by lines that forge added. */
export const hasBlock = (text: string): boolean => withoutBlock(text) !== text;

/** Somebody's hook as it was. */
export function withoutBlock(text: string): string {
  const from = text.indexOf('# >>> forge >>>');
  const to = text.indexOf(END, from);
  if (from < 0 || to < 0) return text;
  return text.slice(0, from) + text.slice(to + END.length).replace(/^\n/, '');
}
