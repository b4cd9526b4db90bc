#!/bin/sh
# Gets this project ready to work in: installs what it needs, then proves that it works.
#   sh .forge/init.sh            from anywhere, as often as you like; what did not change is left out
#   sh .forge/init.sh --fresh    all of it again
# It asks nothing and needs no sudo. The parts of the project stand at the end. All of it is yours to change.
set -u

# The project's root is the folder above the one that this script is in.
case $0 in
  */*) CDPATH='' cd -- "${0%/*}/.." || exit 1 ;;
  *) CDPATH='' cd -- .. || exit 1 ;;
esac
# The dot keeps a line break at the end of the path.
root=$(pwd -P && printf .)
root=${root%??}

say() { printf 'init: %s\n' "$1"; }
warn() { printf 'init: warning: %s\n' "$1" >&2; }
fail() {
  printf 'init: failed: %s\n' "$1" >&2
  exit 1
}

fresh=no
case ${1-} in
  '') ;;
  --fresh) fresh=yes ;;
  *)
    printf 'init: unknown argument: %s\nUsage: sh .forge/init.sh [--fresh]\n' "$1" >&2
    exit 2
    ;;
esac

# No questions, and test runners end instead of watching for changes.
exec </dev/null
CI=${CI:-true}
export CI

# What is known of the last run, and all that its last step printed. Git ignores this folder.
kept=$root/.forge/local/init
mkdir -p -- "$kept" 2>/dev/null
unusable="$kept is no folder of its own, or cannot be written to"
[ "$(cd -- "$kept" 2>/dev/null && pwd -P)" = "$kept" ] || fail "$unusable"
true 2>/dev/null >"$kept/log" || fail "$unusable"

# step LABEL COMMAND…: says what it does; when it fails, one clear line with the end of what it printed.
step() {
  label=$1
  shift
  say "$name: $label"
  "$@" >"$kept/log" 2>&1 && return
  code=$?
  [ "$code" != "${harmless-}" ] || return 0
  {
    printf 'init: failed: %s: %s (exit %s; all it printed is in .forge/local/init/log)\n' "$name" "$label" "$code"
    tail -c 4000 "$kept/log" | tail -n 20 | sed 's/^/  | /'
  } >&2
  exit 1
}
run() { step "$*" "$@"; }

need() {
  command -v "$1" >/dev/null 2>&1 || fail "$name: $1 is not on PATH; $2"
}

# The files with these names in this folder and below, each with its checksum.
checksums() {
  find . -type d \( -name node_modules -o -name .git -o -name .forge -o -name .venv -o -name target \) -prune -o \
    -type f \( "$@" \) -exec cksum {} + | LC_ALL=C sort
}

# What git sees of the whole project: the commit, what differs from it, what is new. Where git cannot tell, it is never
# the same twice. What was installed, and forge's own folder, do not count.
tree_state() {
  cd -- "$root" && {
    git rev-parse -q --verify HEAD &&
      changed=$(git diff --no-ext-diff --no-textconv --full-index HEAD -- . ':(exclude).forge') &&
      new=$(git ls-files -o --exclude-standard -- . ':(exclude).forge' \
        ':(exclude,glob)**/node_modules/**' ':(exclude,glob)**/.venv/**' ':(exclude,glob)**/target/**') &&
      ! printf '%s\n' "$changed" | grep -q '^+Subproject commit .*-dirty' &&
      printf '%s\n' "$changed" "$new" &&
      { [ -z "$new" ] || printf '%s\n' "$new" | git hash-object --no-filters --stdin-paths; } ||
      printf 'unknown %s %s\n' "$$" "$(date)"
  } 2>/dev/null | cksum
}

# What installing depends on: this script, the version of the tool, the files that name dependencies.
needs_of() { { cksum <"$root/.forge/init.sh" && "$1_version" && "$1_files"; } 2>/dev/null | cksum; }

# part STACK FOLDER: installs when what that depends on has changed, proves when anything has.
count=0
part() {
  count=$((count + 1))
  name=$1
  [ "$2" = . ] || name="$1 in $2"
  cd -- "$root/$2" 2>/dev/null || fail "$name: the folder is gone; change .forge/init.sh"
  "$1_tools"
  needs=$(needs_of "$1")
  known_needs='' known_made='' known_tree=''
  if [ "$fresh" = no ] && [ -f "$kept/$count" ]; then
    { read -r known_needs && read -r known_made && read -r known_tree; } <"$kept/$count"
  fi
  if [ "$needs" = "$known_needs" ] && [ -e "$known_made" ]; then
    if [ "$(tree_state)" = "$known_tree" ]; then
      say "$name: nothing changed"
      return
    fi
    made=$known_made
    "$1_look"
  else
    rm -f -- "$kept/$count"
    made=.
    "$1_look"
    "$1_install"
    # It may have made a lock file.
    needs=$(needs_of "$1")
    printf '%s\n' "$needs" "$made" >"$kept/$count"
  fi
  tree=$(tree_state)
  "$1_prove"
  printf '%s\n' "$needs" "$made" "$tree" >"$kept/$count"
}
