# shellcheck shell=sh disable=SC2154 # forge_node and forge_program stand above, in .git/forge/hook
[ "${FORGE_HOOKS-}" = 0 ] && exit 0
forge_hook=$1
shift
forge_git=${GIT_DIR:-.git}
case $forge_hook in
  post-*) if [ -d "$forge_git/rebase-merge" ] || [ -d "$forge_git/rebase-apply" ]; then exit 0; fi ;;
esac

# Starts the installed forge, or else the one in PATH. Without forge, nothing is blocked.
forge_check() {
  [ -n "${FORGE_NODE-}" ] && forge_node=$FORGE_NODE
  [ -x "$forge_node" ] || forge_node=$(command -v node 2>/dev/null)
  if [ -n "$forge_node" ] && [ -f "$forge_program" ]; then
    FORGE_SHIM=1 "$forge_node" "$forge_program" hook "$forge_hook" "$@"
  elif command -v forge >/dev/null 2>&1; then
    FORGE_SHIM=1 forge hook "$forge_hook" "$@"
  else
    echo "forge: not found, so nothing was $forge_aim; to fix this: forge hooks install" >&2
    exit 0
  fi
  forge_exit=$?
  case $forge_exit in
    0) exit 0 ;;
    101) exit 1 ;;
    105) exit 5 ;;
    *) echo "forge: its $forge_hook hook failed (exit $forge_exit), so nothing was $forge_aim" >&2; exit 0 ;;
  esac
}

# Replaces a file in one step. Never writes through a symlink, which could have come with a clone.
forge_keep() {
  [ -d ".forge/git/$1" ] && return
  set -C
  forge_temp=".forge/git/.$1.$$.tmp"
  if cat >"$forge_temp" 2>/dev/null && [ -s "$forge_temp" ]; then mv -f "$forge_temp" ".forge/git/$1"
  else rm -f "$forge_temp"; fi
}

forge_derive() {
  if [ -L .forge ] || [ -L .forge/git ] || [ ! -d .forge ]; then exit 0; fi
  mkdir -p .forge/git 2>/dev/null || exit 0
  git log -50 --no-show-signature --format='%h %cI %s' HEAD -- 2>/dev/null | forge_keep commits.log
  git for-each-ref --count=200 --sort=-committerdate refs/heads \
    --format='%(HEAD)%09%(objectname)%09%(committerdate:iso-strict)%09%(upstream:short)%09%(refname:short)' |
    awk -F '\t' '
      function text(value) { gsub(/"/, "\\\"", value); return "\"" value "\"" }
      BEGIN { printf "{\n  \"schema_version\": \"1.0\",\n  \"branches\": [" }
      {
        printf "%s\n    { \"name\": %s, \"head\": %s, \"committed_at\": %s, \"upstream\": %s, \"current\": %s }",
          (NR > 1 ? "," : ""), text($5), text($2), text($3), ($4 == "" ? "null" : text($4)), ($1 == "*" ? "true" : "false")
      }
      END { printf "\n  ]\n}\n" }' | forge_keep branches.json
  exit 0
}

forge_aim=checked
case $forge_hook in
  commit-msg) forge_check "$@" ;;
  pre-push) [ -t 0 ] || forge_check "$@" ;;
  prepare-commit-msg)
    # Only for an editor without a given message. Lefthook passes {2} for no argument.
    [ "${GIT_EDITOR-}" = : ] && exit 0
    case ${2-} in '' | '{2}') ;; *) exit 0 ;; esac
    forge_aim='filled in'
    forge_check "$1"
    ;;
  # A checkout of files moves no branch.
  post-checkout) [ "${3-1}" = 0 ] || forge_derive ;;
  post-commit | post-merge) forge_derive ;;
esac
exit 0
