#compdef forge
# forge: completion for zsh, after compinit.
# It calls the forge of the PATH: a ./forge may have come with a clone.
_forge() {
  local kind= value
  local -a values words_before
  words_before=("${(@Q)words[2,CURRENT-1]}")
  {
    IFS= read -r kind
    while IFS= read -r value; do values+=("$value"); done
  } < <(command forge complete --shell=zsh --current="$PREFIX" -- "${words_before[@]}" </dev/null 2>/dev/null)
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    *) (( $#values )) && compadd -o nosort -a values ;;
  esac
}
if [ "$funcstack[1]" = _forge ]; then
  _forge "$@"
elif (( $+functions[compdef] )); then
  compdef _forge forge
fi
