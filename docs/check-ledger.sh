#!/bin/sh
# check-ledger.sh [FORGE_DIR]: checks the ledger without forge (docs/ledger.md, "Check it without forge"). FORGE_DIR is .forge by
# default. Exit 0: whole. 1: something is wrong. 2: usage.
#
# Each file of memory/ledger/ is a chain: a line's "prev" is the SHA-256 of the line before it, null in the first. So an edited
# or removed line is found when another one follows it. Nothing else is looked at: not the journal, git's history, "seen", "n",
# or who wrote a record. `forge memory verify` looks at all of that.
set -eu
export LC_ALL=C
dir=${1:-.forge} hex='[0-9a-f]{64}'
[ -d "$dir/memory/ledger" ] || { echo "usage: check-ledger.sh [FORGE_DIR]; $dir/memory/ledger is not a folder" >&2; exit 2; }
cd "$dir/memory/ledger"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lines"
set -- *.jsonl
[ -f "$1" ] || { echo 'there is no file' >&2; exit 1; }
{
  for file; do [ -z "$(tail -c 1 "$file")" ] || echo "X $file: it does not end in a line feed"; done
  # Each line, without indentation and line end, is a file of its own, so that few processes hash them all.
  awk -v lines="$work/lines/" 'BEGIN { ORS = "" } { sub(/^ +/, ""); sub(/\r$/, ""); print > (lines NR); close(lines NR) }' "$@"
  (cd "$work/lines" && ls | xargs sha256sum) | sed 's/^/H /'
  # M NUMBER FILE LINE ID-OR-record PREV SEEN…
  awk '{ sub(/^ +/, ""); sub(/\r$/, ""); print "M " NR " " FILENAME " " FNR " " $0 }' "$@" | sed -E '
    s/^([^{]*) \{"v":1,"tier":"[a-z]+","n":[1-9][0-9]*,"seg":"[0-9a-f]{8}","prev":([^,]*),"seen":\[([^]]*)\],.*"kind":"[^"]+".*\}$/\1 record \2 \3/; t links
    s/^([^{]*) \{"v":1,"redacted":"('"$hex"')","n":[1-9][0-9]*,"seg":"[0-9a-f]{8}","prev":([^,]*),"seen":\[([^]]*)\].*\}$/\1 \2 \3 \4/; t links
    s/^(M [^ ]* [^ ]* [^ ]*) .*/\1 bad/
    :links
    s/[",]+/ /g'
} | awk '
  function wrong(text) { print text; failed = 1 }
  $1 == "X" { wrong(substr($0, 3)) }
  $1 == "H" { hash[$3] = $2 }
  $1 == "M" {
    if ($4 == 1) before = "null"
    if ($5 == "bad") { wrong($3 ":" $4 ": it is no record"); before = hash[$2]; next }
    id = $5 == "record" ? hash[$2] : $5
    if ($6 != before) wrong($3 ":" $4 ": it does not follow the line before it")
    before = id
    if (!(id in here)) { here[id] = 1; records++ }
    for (i = 6; i <= NF; i++) followed[$i] = 1
  }
  END {
    for (id in here) if (!(id in followed)) { heads++; list = list "\n  " id }
    print records + 0 " records, heads: " heads + 0 list
    exit failed
  }'
