/** For zsh 5 and later. It passes the program's output to zsh, which quotes it and evaluates nothing in it. */
export const zshScript = String.raw`#compdef rungate
# rungate completion for zsh: eval "$(rungate completion zsh)"

# $@: the command that starts the program.
__rungate_ask() {
  local response tab=$'\t' row
  local -a asked rows
  (( CURRENT > 2 )) && asked=("\${(@Q)words[2,CURRENT-1]}")
  response="$("$@" completion --complete zsh -- "\${asked[@]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)" || return 1
  rows=("\${(@f)response}")
  # --format=json: complete only the part after the =.
  [[ $rows[1] == *\ attached ]] && compset -P 1 '*='
  case $rows[1] in
    files*) _files ;;
    folders*) _files -/ ;;
    command\ *)
      local at=$(( \${rows[1]#command } + 1 ))
      words=("\${(@)words[at+1,-1]}")
      (( CURRENT -= at ))
      _normal
      ;;
    words*)
      local value about
      local -a described
      for row in "\${(@)rows[2,-1]}"; do
        value=\${row%%$tab*} about=
        [[ $row == *$tab* ]] && about=\${row#*$tab}
        value=\${value//\\/\\\\}
        described+=("\${value//:/\\:}\${about:+:$about}")
      done
      (( $#described )) && _describe -t values rungate described
      ;;
  esac
}

_rungate() {
  local program=\${(Q)words[1]}
  [[ $program == '~/'* ]] && program=$HOME/\${program#'~/'}
  (( $+commands[$program] || $+functions[$program] )) || [[ $program == */* ]] || program=rungate
  __rungate_ask $program
}

# npx rungate ...: completes with the installed package; never installs or downloads one.
_rungate_npx() {
  if [[ $words[2] != rungate ]] || (( CURRENT < 3 )); then
    _default
    return
  fi
  shift words
  (( CURRENT-- ))
  __rungate_ask npx --no --offline rungate
}

if [[ \${funcstack[1]} == _rungate ]]; then
  _rungate "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _rungate rungate
  (( $+_comps[npx] )) || compdef _rungate_npx npx
fi
`.replaceAll('\\$', '$');
