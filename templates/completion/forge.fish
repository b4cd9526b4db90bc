# forge: completion for fish.
# It calls the forge of the PATH: a ./forge may have come with a clone.
function __forge_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    set -l answer (command forge complete --shell=fish --current="$current" -- $before </dev/null 2>/dev/null)
    switch "$answer[1]"
        case files folders
            set -l paths (complete -C "'' $current")
            test $answer[1] = folders; and set paths (string match -r -- '^[^\\t]*/(?:\\t.*)?$' $paths)
            string join \n -- $paths
        case words
            set -e answer[1]
            printf '%s\n' $answer
    end
end
complete -c forge -e
complete -c forge -f -k -a '(__forge_complete)'
