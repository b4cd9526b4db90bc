import { basename } from 'node:path';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type CommandSpec, command, type Group } from './spec.js';
import type { Style } from './style.js';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

interface Completion {
  /** Null: the current shell is not supported. */
  shell: Shell | null;
  /** The script; only where a shell was named. */
  script?: string;
  install: { shell: Shell; file: string; line: string; note?: string }[];
}

const complete: CommandSpec<Completion> = {
  name: 'complete',
  args: ['[shell]'],
  values: { shell: { words: SHELLS } },
  summary: 'Print the script by which a shell completes forge at TAB; without a shell, where to put it',
  example: 'forge complete bash',
  run: async ({ world }, name) => {
    if (name !== undefined) return scriptOf(name);
    const here = shellIn(world.env);
    return { shell: here, install: (here ? [here] : SHELLS).map(installOf) };
  },
  render: ({ script, shell, install }, style) => script ?? renderInstall(shell, install, style),
};

function scriptOf(name: string): Completion {
  const shell = SHELLS.find((known) => known === name);
  if (shell) return { shell, script: SCRIPTS[shell], install: [installOf(shell)] };
  throw usage(
    'complete.shell',
    `Shell: found ${JSON.stringify(oneLine(name, 40))}, allowed: ${SHELLS.join(' | ')}.`,
    { field: 'shell', hint: 'forge complete' },
  );
}

const installOf = (shell: Shell): Completion['install'][number] => ({ shell, ...INSTALLS[shell] });

/** The shell that a person works with, as far as the environment says. */
function shellIn(env: NodeJS.ProcessEnv): Shell | null {
  const name = basename(env.SHELL ?? '').replace(/^pwsh$/, 'powershell');
  return SHELLS.find((known) => known === name) ?? null;
}

const renderInstall = (shell: Shell | null, install: Completion['install'], style: Style): string =>
  [
    ...install.map(
      ({ shell: name, file, line, note }) =>
        `${name}: put this into ${file}:\n  ${style.command(line)}${note ? `\n  ${style.dim(`(${note})`)}` : ''}`,
    ),
    ...(shell === null ? [] : [style.dim(`Another shell: forge complete ${SHELLS.join(' | ')}`)]),
  ].join('\n');

/**
 * What each shell loads. It asks `forge complete --shell=…` at each TAB and puts the answer to the shell's own use; all that
 * is to be known about commands is in forge. `forge` is the one in PATH, whatever the typed word leads to: a
 * `./forge` may have come with a clone.
 */
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
    open) compopt -o nospace ;;
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
  local -a values words_before space
  words_before=("\${(@Q)words[2,CURRENT-1]}")
  {
    IFS= read -r kind
    while IFS= read -r value; do values+=("$value"); done
  } < <(command forge complete --shell=zsh --current="$PREFIX" -- "\${words_before[@]}" </dev/null 2>/dev/null)
  [[ $PREFIX == --*=* ]] && compset -P 1 '*=' && values=("\${(@)values#--*=}")
  [[ $kind == open ]] && space=(-S '')
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    *) (( $#values )) && compadd "\${space[@]}" -o nosort -a values ;;
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
        case words open
            set -e answer[1]
            printf '%s\n' $answer
    end
end
complete -c forge -e
complete -c forge -f -k -a '(__forge_complete)'
`,
  powershell: `# forge: completion for PowerShell.
Register-ArgumentCompleter -Native -CommandName forge -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements |
        Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.Extent.Text } })
    $forge = Get-Command forge -CommandType Application, ExternalScript | Select-Object -First 1
    & $forge complete --shell=powershell "--current=$wordToComplete" -- @before 2>$null |
        Select-Object -Skip 1 |
        ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
};

/** The line that makes a shell complete forge, and the file that it belongs into. */
const INSTALLS: Record<Shell, { file: string; line: string; note?: string }> = {
  bash: { file: '~/.bashrc', line: 'eval "$(forge complete bash)"' },
  zsh: {
    file: '~/.zshrc',
    line: 'eval "$(forge complete zsh)"',
    note: 'behind the line that runs compinit: autoload -Uz compinit && compinit',
  },
  fish: { file: '~/.config/fish/completions/forge.fish', line: 'forge complete fish | source' },
  powershell: { file: '$PROFILE', line: 'forge complete powershell | Out-String | Invoke-Expression' },
};

export const group: Group = { commands: [command(complete)] };
