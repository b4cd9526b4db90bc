#!/bin/sh
# Gets this repository ready to work in. Run it from anywhere: sh .forge/init.sh
# This project has nothing to install. When that changes, add the steps below, so that
#   - it exits non-zero when something fails, with one clear line on stderr,
#   - it can be run twice,
#   - it asks nothing, and ends with a quick test that the project works.
set -eu

# The repository's root is the parent of the folder this script is in.
case $0 in
  */*) CDPATH='' cd -- "${0%/*}/.." ;;
  *) CDPATH='' cd -- .. ;;
esac

say() { printf 'init: %s\n' "$1"; }
warn() { printf 'init: warning: %s\n' "$1" >&2; }

say 'looking for git'
command -v git >/dev/null 2>&1 || warn 'git is not on PATH: forge works without it, but not checkpoints, commits and recovery'

# Steps of this project, each with a `say` before it, for example:
#   say 'installing dependencies'
#   make deps
#   say 'smoke test'
#   make check

say 'nothing to install; add steps to .forge/init.sh when there are some'
