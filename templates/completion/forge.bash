# forge: completion for bash 4 and later.
# It calls the forge of the PATH: a ./forge may have come with a clone.
_forge_complete() {
  local kind= line
  COMPREPLY=()
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <(command forge complete --shell=bash --current="$2" \
    -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" </dev/null 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
  esac 2>/dev/null
}
complete -o nosort -F _forge_complete forge 2>/dev/null || complete -F _forge_complete forge
