/**
 * Scripts that complete commands and options in a shell. That of yargs calls `orrery` by its name,
 * which fails where the package is installed in a project only.
 */

/** Finds the command: on the path, or in the nearest `node_modules` above the current folder. */
const FIND = `_orrery_program() {
  local folder="$PWD"
  command -v orrery && return
  while [ -n "$folder" ] && [ ! -x "$folder/node_modules/.bin/orrery" ]; do
    folder="\${folder%/*}"
  done
  [ -n "$folder" ] && printf '%s\\n' "$folder/node_modules/.bin/orrery"
}`;

const BASH = `# Completion of orrery and npx orrery in bash: npx orrery completion >> ~/.bashrc
${FIND}
_orrery_complete() {
  local program word="\${COMP_WORDS[COMP_CWORD]}" reply at=0
  COMPREPLY=()
  if [ "\${COMP_WORDS[0]##*/}" = npx ]; then
    at=1
    if [ "$COMP_CWORD" -eq 1 ]; then
      mapfile -t COMPREPLY < <(compgen -W orrery -- "$word")
      return
    fi
    [ "\${COMP_WORDS[1]}" = orrery ] || return
  fi
  program="$(_orrery_program)" || return
  mapfile -t reply < <("$program" --get-yargs-completions "\${COMP_WORDS[@]:at}" 2> /dev/null)
  mapfile -t COMPREPLY < <(compgen -W "$(printf '%q ' "\${reply[@]}")" -- "$word")
}
complete -o bashdefault -o default -F _orrery_complete orrery
# Another completion of npx is kept.
complete -p npx > /dev/null 2>&1 || complete -o bashdefault -o default -F _orrery_complete npx
`;

const ZSH = `#compdef orrery npx
# Completion of orrery and npx orrery in zsh: npx orrery completion >> ~/.zshrc
${FIND}
_orrery_complete() {
  local program at=1
  local -a reply
  if [[ "\${words[1]:t}" == npx ]]; then
    at=2
    if [[ $CURRENT -eq 2 ]]; then
      compadd orrery
      return
    fi
    if [[ "\${words[2]}" != orrery ]]; then
      _default
      return
    fi
  fi
  program="$(_orrery_program)" || { _default; return }
  reply=("\${(@f)$("$program" --get-yargs-completions "\${(@)words[at,-1]}" 2> /dev/null)}")
  if [[ -n "\${reply[1]}" ]]; then
    _describe 'values' reply
  else
    _default
  fi
}
if (( ! \${+functions[compdef]} )); then
  autoload -Uz compinit && compinit
fi
compdef _orrery_complete orrery
# Another completion of npx is kept.
(( \${+_comps[npx]} )) || compdef _orrery_complete npx
`;

const FISH = `# Completion of orrery and npx orrery in fish: npx orrery completion >> ~/.config/fish/config.fish
function _orrery_program
    if command -q orrery
        command -s orrery
        return
    end
    set -l folder $PWD
    while test -n "$folder"; and not test -x "$folder/node_modules/.bin/orrery"
        set folder (string replace -r '/[^/]*$' '' -- $folder)
    end
    test -n "$folder"; and echo "$folder/node_modules/.bin/orrery"
end
function _orrery_complete
    set -l words (commandline -opc) (commandline -ct)
    if string match -qr '(^|/)npx$' -- $words[1]
        set -e words[1]
    end
    set -l program (_orrery_program); or return
    $program --get-yargs-completions $words 2> /dev/null | string replace -r ':' \\t
end
function _orrery_is_npx
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = orrery
end
complete -c orrery -f -a '(_orrery_complete)'
complete -c npx -n 'test (count (commandline -opc)) -eq 1' -a orrery
complete -c npx -n _orrery_is_npx -f -a '(_orrery_complete)'
`;

/** The script for the shell of \`$SHELL\`: zsh or fish, else bash. */
export function completionScript(shell = ''): string {
  if (/\bfish$/.test(shell)) return FISH;
  return /\bzsh$/.test(shell) ? ZSH : BASH;
}
