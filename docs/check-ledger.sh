#!/bin/sh
# check-ledger.sh TIER [FORGE_DIR]: checks one ledger without forge (docs/format.md, "Checking by hand"). TIER is execution,
# evaluation, knowledge, audit or notes; FORGE_DIR is .forge by default. Exit 0: whole. 1: something is wrong. 2: usage.
#
# Every line must be one record; what it names as "prev" must be the SHA-256 of a line that is here or in an archive; an
# archive's name must be the SHA-256 of its bytes. So an edited or removed line is found when another record of its segment
# follows it. Lines that a repair record names in "bytes", and records that it names in "lost", count as settled; what it
# declares void does not. Nothing else is looked at: not the journal, git's history, "seen", "n", or who wrote a record.
# `forge memory verify` looks at all of that.
set -eu
export LC_ALL=C
tier=${1:-} dir=${2:-.forge} fixed=memory/${1:-}.jsonl hex='[0-9a-f]{64}'
case $tier in
  execution | evaluation | knowledge | audit) ;;
  notes) fixed=memory/long-term/notes.jsonl ;;
  *) echo 'usage: check-ledger.sh execution|evaluation|knowledge|audit|notes [FORGE_DIR]' >&2; exit 2 ;;
esac
[ -d "$dir/memory" ] || { echo "$dir/memory is no folder" >&2; exit 2; }
cd "$dir"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/lines"
set --
for file in "./$fixed" "./memory/$tier.d"/*.jsonl ./memory/archive/*.jsonl; do
  [ -f "$file" ] || continue
  case $file in ./memory/archive/*)
    grep -q "^{\"v\":1,\"tier\":\"$tier\"" "$file" || continue
    sha256sum "$file" | sed -E "/^($hex)  .*\/\1\.jsonl\$/d; s|.*|X $file: its bytes are not those that its name was made of|" ;;
  esac >>"$work/facts"
  set -- "$@" "$file"
done
[ $# -gt 0 ] || { echo "$tier: no such ledger in $dir" >&2; exit 1; }

{
  cat "$work/facts"
  # A last line without a line feed is a line for awk and none for tr.
  [ "$(cat "$@" | tr -dc '\n' | wc -c)" -eq "$(awk 'END { print NR }' "$@")" ] ||
    echo "X $tier: a file does not end in a line feed"
  # Each line, without its line feed, is a file of its own, so that few processes hash them all.
  awk -v lines="$work/lines/" 'BEGIN { ORS = "" } { print > (lines NR); close(lines NR) }' "$@"
  (cd "$work/lines" && ls | xargs sha256sum) | sed 's/^/H /'
  grep -h '"kind":"repair"' "$@" | sed -nE 's/.*"lost":\[([^]]*)\].*/\1/p' | tr -d '"' | tr ',' '\n' | sed 's/^/L /'
  grep -h '"kind":"repair"' "$@" | tr '{,' '\n\n' | sed -nE "s/^\"sha256\":\"($hex)\".*/B \1/p"
  # M NUMBER FILE:LINE KIND PREV SEEN…
  awk '{ print "M " NR " " FILENAME ":" FNR " " $0 }' "$@" | sed -E '
    /\}\{"v":1,/b bad
    s/^([^{]*) \{"v":1,"tier":"'"$tier"'","n":[1-9][0-9]*,"prev":([^,]*),"seen":\[([^]]*)\],.*"kind":"[^"]+".*\}$/\1 record \2 \3/; t links
    s/^([^{]*) \{"v":1,("tier":"'"$tier"'",)?"redacted":"('"$hex"')","n":[1-9][0-9]*,"prev":([^,]*),"seen":\[([^]]*)\].*\}$/\1 \3 \4 \5/; t links
    # Padding beside records that were put back holds nothing.
    / \{"v":1,"pad":"'"$hex"'","noise":"[A-Za-z0-9+\/=]*"\}$/d
    :bad
    s/^(M [^ ]* [^ ]*) .*/\1 bad/
    :links
    s/[",]+/ /g'
} | awk -v tier="$tier" '
  function wrong(text) { print text; failed = 1 }
  $1 == "X" { wrong(substr($0, 3)) }
  $1 == "H" { hash[$3] = $2 }
  $1 == "L" { known[$2] = 1 }
  $1 == "B" { vouched[$2] = 1 }
  $1 == "M" && $4 == "bad" { if (!(hash[$2] in vouched)) wrong($3 ": it is no record"); next }
  $1 == "M" {
    id = $4 == "record" ? hash[$2] : $4
    if (id in here) next
    here[id] = known[id] = 1
    records++
    if ($5 != "null") { prev[id] = $5; at[id] = $3 }
    for (i = 5; i <= NF; i++) followed[$i] = 1
  }
  END {
    for (id in prev) if (!(prev[id] in known)) wrong(at[id] ": the record that it follows is not here: " prev[id])
    for (id in here) if (!(id in followed)) { heads++; list = list "\n  " id }
    print tier ": " records + 0 " records, heads: " heads + 0 list
    exit failed
  }'
