#!/bin/sh
# Gets this project ready to work in: installs what it needs, then proves that it works.
#   sh .forge/init.sh            from anywhere, as often as you like; what did not change is left out
#   sh .forge/init.sh --fresh    all of it again
# It asks nothing and needs no sudo. The parts of the project stand at the end. All of it is yours to change.
set -u

# The project's root is the folder above the one that this script is in, whatever link it was started by. The dot keeps
# a line break at the end of a path.
script=$0
while [ -L "$script" ]; do
  target=$(readlink -- "$script" && printf .) || exit 1
  case $target in
    /*) script=${target%??} ;;
    *) script=$(dirname -- "$script" && printf .) && script=${script%??}/${target%??} ;;
  esac
done
case $script in */*) ;; *) script=./$script ;; esac
root=$(CDPATH='' cd -- "${script%/*}/.." 2>/dev/null && pwd -P && printf .)
root=${root%??}
# Sourced or piped into a shell, it would take another folder for the project.
if [ ! -f "$script" ] || [ ! -f "$root/.forge/init.sh" ]; then
  echo 'init: failed: this is not a folder with a .forge/init.sh; run it as: sh .forge/init.sh' >&2
  exit 1
fi
cd -- "$root" || exit 1

# What stands in the project's files must not move the cursor.
say() {
  case $1 in *[[:cntrl:]]*) set -- "$(printf '%s' "$1" | LC_ALL=C tr '\001-\037\177' '?')" ;; esac
  printf 'init: %s\n' "$1"
}
warn() { say "warning: $1" >&2; }
fail() {
  say "failed: $1" >&2
  exit 1
}

fresh=no
[ "$#" -lt 2 ] || set -- "$*"
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
unusable="$kept is not a folder of its own, or cannot be written to"
[ "$(cd -- "$kept" 2>/dev/null && pwd -P)" = "$kept" ] || fail "$unusable"
true 2>/dev/null >>"$kept/log" || fail "$unusable"

# One run at a time. The lock is a folder with one file: its name is the number of the run's process, its text what the
# run was called. One that was killed holds nobody up: its file is renamed by the next, which only one can.
is_running() {
  kill -0 "$1" 2>/dev/null || return 1
  # A number is given to other processes too, after a restart at the latest. Not every ps can tell.
  args=$(ps -o args= -p "$1" 2>/dev/null) || return 0
  case $args in *"$(cat "$kept/lock/$1" 2>/dev/null)"*) ;; *) return 1 ;; esac
}

take_lock() {
  tries=0 waiting=''
  until mkdir -- "$kept/lock" 2>/dev/null && sign_lock; do
    for owner in "$kept/lock"/*; do owner=${owner##*/}; done
    if [ "$owner" = '*' ]; then
      # It is only just made or given back; else a run was killed while it did that.
      tries=$((tries + 1))
      [ "$tries" -lt 10 ] || fail "$unusable"
      sleep 1
      rmdir -- "$kept/lock" 2>/dev/null
    elif [ "$owner" = "$$" ] || ! is_running "$owner"; then
      [ "$owner" = "$$" ] || mv -- "$kept/lock/$owner" "$kept/lock/$$" 2>/dev/null || continue
      sign_lock && return
    else
      [ "$owner" != "${FORGE_INIT_RUN-}" ] || fail 'a step of this script started it again'
      [ -n "$waiting" ] || say "waiting for another run of this script (process $owner)"
      waiting=yes
      sleep 1
    fi
  done
}
sign_lock() { { printf '%s\n' "${0##*/}" >"$kept/lock/$$"; } 2>/dev/null; }

take_lock
trap 'rm -f -- "$kept/lock/$$"; rmdir -- "$kept/lock" 2>/dev/null' EXIT
FORGE_INIT_RUN=$$
export FORGE_INIT_RUN

# Of what a step printed, the end; where it is long, its beginning too: some say there what is wrong, and at the end what they know.
excerpt() {
  lines=20
  if [ "$(wc -l <"$kept/log")" -gt 20 ]; then
    head -n 5 "$kept/log" | cut -c 1-300
    echo …
    lines=14
  fi
  tail -c 4000 "$kept/log" | tail -n "$lines"
}

# step LABEL COMMAND…: says what it does; when it fails, one clear line with a part of what it printed.
step() {
  label=$1
  shift
  say "$name: $label"
  "$@" >"$kept/log" 2>&1 && return
  code=$?
  [ "$code" != "${harmless-}" ] || return 0
  {
    say "failed: $name: $label (exit $code; all it printed is in .forge/local/init/log)"
    excerpt | sed 's/^/  | /'
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
count=0 tree=''
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
    [ -n "$tree" ] || tree=$(tree_state)
    if [ "$tree" = "$known_tree" ]; then
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
  tree=''
}
