import { basename } from 'node:path';
import { oneOf } from '../core/text.js';
import { schemaNames, schemaOf } from '../index.js';
import { command, type Group } from './spec.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Completion {
  /** Null: the current shell is not supported. */
  shell: Shell | null;
  /** Only if a shell was named. */
  script?: string;
  install: { shell: Shell; file: string; line: string }[];
}

/** The line that sets up completion, and the file that it belongs in. */
const INSTALLS: Record<Shell, { file: string; line: string }> = {
  bash: { file: '~/.bashrc', line: 'eval "$(forge complete bash)"' },
  zsh: { file: '~/.zshrc, after compinit', line: 'eval "$(forge complete zsh)"' },
  fish: { file: '~/.config/fish/completions/forge.fish', line: 'forge complete fish | source' },
};

/** The scripts call the `forge` of the PATH: a `./forge` may have come with a clone. */
const SCRIPTS: Record<Shell, string> = {
  bash: String.raw`# forge: completion for bash 4 and later.
_forge_complete() {
  local kind= line
  COMPREPLY=()
  {
    IFS= read -r kind
    while IFS= read -r line; do COMPREPLY+=("$line"); done
  } < <(command forge complete --shell=bash --current="$2" \
    -- "${'$'}{COMP_WORDS[@]:1:COMP_CWORD-1}" </dev/null 2>/dev/null)
  case $kind in
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
  esac 2>/dev/null
}
complete -o nosort -F _forge_complete forge 2>/dev/null || complete -F _forge_complete forge
`,
  zsh: `#compdef forge
# forge: completion for zsh, after compinit.
_forge() {
  local kind= value
  local -a values words_before
  words_before=("\${(@Q)words[2,CURRENT-1]}")
  {
    IFS= read -r kind
    while IFS= read -r value; do values+=("$value"); done
  } < <(command forge complete --shell=zsh --current="$PREFIX" -- "\${words_before[@]}" </dev/null 2>/dev/null)
  [[ $PREFIX == --*=* ]] && compset -P 1 '*=' && values=("\${(@)values#--*=}")
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
`,
  fish: String.raw`# forge: completion for fish.
function __forge_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -e before[1]
    set -l answer (command forge complete --shell=fish --current="$current" -- $before </dev/null 2>/dev/null)
    switch "$answer[1]"
        case files folders
            set -l flag (string match -r -- '^--[^=]*=' $current)
            set -l paths (complete -C "'' "(string replace -r -- '^--[^=]*=' '' $current))
            test $answer[1] = folders; and set paths (string match -r -- '^[^\\t]*/(?:\\t.*)?$' $paths)
            for path in $paths
                echo "$flag$path"
            end
        case words
            set -e answer[1]
            printf '%s\n' $answer
    end
end
complete -c forge -e
complete -c forge -f -k -a '(__forge_complete)'
`,
};

export const completeGroup: Group = {
  commands: [
    command<Completion>({
      name: 'complete',
      args: ['[shell]'],
      values: { shell: { words: SHELLS } },
      summary: 'Print the completion script of a shell; without a shell, where to put it',
      example: 'forge complete bash',
      run: async ({ world }, name) => {
        const wanted = name ?? basename(world.env.SHELL ?? '');
        const shell = SHELLS.find((known) => known === wanted) ?? null;
        const install = (shell ? [shell] : SHELLS).map((each) => ({ shell: each, ...INSTALLS[each] }));
        if (name === undefined) return { shell, install };
        const named = oneOf(SHELLS, name, 'Shell', 'complete.shell', { hint: 'forge complete' });
        return { shell, script: SCRIPTS[named], install };
      },
      render: ({ script, install }, style) =>
        script ??
        install
          .map(({ shell, file, line }) => `${shell}: put this into ${file}:\n  ${style.command(line)}`)
          .join('\n'),
    }),
  ],
};

export const schemaGroup: Group = {
  commands: [
    command<Record<string, unknown>>({
      name: 'schema',
      args: ['[name]'],
      summary: 'Print the JSON Schema of a file format, or the names of all formats',
      example: 'forge schema features',
      run: async (_call, name) => (name === undefined ? { schemas: await schemaNames() } : schemaOf(name)),
      render: (value) =>
        Array.isArray(value.schemas) ? value.schemas.join('\n') : JSON.stringify(value, null, 2),
    }),
  ],
};
