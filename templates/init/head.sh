#!/bin/sh
# Gets this project ready to work in: installs what it needs, then checks that it works.
#   sh .forge/init.sh            as often as you like; a part in which nothing changed is left out
#   sh .forge/init.sh --fresh    all of it again
# It asks nothing and needs no sudo. The parts of the project are at the end. All of it is yours to change.
set -u

# Text from the project's files must not move the cursor.
say() { printf 'init: %s\n' "$(printf '%s' "$1" | LC_ALL=C tr '\001-\037\177' '?')"; }
fail() {
  say "failed: $1" >&2
  exit 1
}

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." 2>/dev/null && pwd -P)
[ -f "$root/.forge/init.sh" ] || fail 'this is not a folder with a .forge/init.sh; run it as: sh .forge/init.sh'
[ -z "${FORGE_INIT_RUN-}" ] || fail 'a step of this script started it again'
case ${1-} in
  '' | --fresh) ;;
  *)
    say 'the only option is --fresh' >&2
    exit 2
    ;;
esac

# No questions, and test runners end instead of watching for changes.
exec </dev/null
FORGE_INIT_RUN=$$ CI=${CI:-true}
export FORGE_INIT_RUN CI

# The last run's checksums of each part, and the output of its last step. Git ignores this folder.
kept=$root/.forge/local/init
mkdir -p -- "$kept" 2>/dev/null
unusable="$kept is not a folder of its own, or cannot be written to"
[ "$(cd -- "$kept" 2>/dev/null && pwd -P)" = "$kept" ] || fail "$unusable"
true 2>/dev/null >>"$kept/log" || fail "$unusable"
[ "${1-}" != --fresh ] || rm -f -- "$kept"/[0-9]*

# step LABEL COMMAND…: says what it does; when it fails, the end of what it printed.
step() {
  label=$1
  shift
  say "$name: $label"
  "$@" >"$kept/log" 2>&1 && return
  say "failed: $name: $label (exit $?; all it printed is in .forge/local/init/log)" >&2
  tail -n 20 "$kept/log" | cut -c 1-300 | sed 's/^/  | /' >&2
  exit 1
}
run() { step "$*" "$@"; }

need() { command -v "$1" >/dev/null 2>&1 || fail "$name: $1 is not on PATH; $2"; }

# The files with these names in this folder and below, each with its checksum.
checksums() {
  find . -type d \( -name node_modules -o -name .git -o -name .forge -o -name .venv -o -name target \) -prune -o \
    -type f \( "$@" \) -exec cksum {} + | LC_ALL=C sort
}

# What installing depends on: this script, the version of the tool, the files that name dependencies.
needs_of() { { cksum <"$root/.forge/init.sh" && "$1_version" && "$1_files"; } 2>/dev/null | cksum; }

# A checksum of the commit, the changes since, and the new files. Without git it is never the same.
tree_state() {
  set -- . ':(exclude).forge' ':(exclude,glob)**/node_modules/**' ':(exclude,glob)**/.venv/**' ':(exclude,glob)**/target/**'
  {
    cd -- "$root" && git rev-parse HEAD && git diff HEAD -- "$@" &&
      git ls-files -o --exclude-standard -- "$@" | git hash-object --no-filters --stdin-paths || echo "unknown $(date) $$"
  } 2>/dev/null | cksum
}

# part STACK FOLDER: installs when what that depends on has changed, checks when anything has.
count=0
part() {
  count=$((count + 1))
  name=$1
  [ "$2" = . ] || name="$1 in $2"
  cd -- "$root/$2" 2>/dev/null || fail "$name: the folder is gone; change .forge/init.sh"
  "$1_tools"
  needs=$(needs_of "$1")
  known_needs='' made='' known_tree=''
  [ ! -f "$kept/$count" ] || { read -r known_needs && read -r made && read -r known_tree; } <"$kept/$count"
  if [ "$needs" != "$known_needs" ] || [ ! -e "$made" ]; then
    rm -f -- "$kept/$count"
    made=.
    "$1_install"
    # It may have made a lock file.
    needs=$(needs_of "$1")
    printf '%s\n' "$needs" "$made" >"$kept/$count"
  elif [ "$(tree_state)" = "$known_tree" ]; then
    say "$name: nothing changed"
    return
  fi
  "$1_check"
  printf '%s\n' "$needs" "$made" "$(tree_state)" >"$kept/$count"
}
