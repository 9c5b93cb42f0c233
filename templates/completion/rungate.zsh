#compdef rungate
# rungate completion for zsh: eval "$(rungate completion zsh)"

_rungate() {
  local program=${(Q)words[1]} response tab=$'\t' row value about
  local -a asked rows described
  [[ $program == '~/'* ]] && program=$HOME/${program#'~/'}
  (( $+commands[$program] || $+functions[$program] )) || [[ $program == */* ]] || program=rungate
  (( CURRENT > 2 )) && asked=("${(@Q)words[2,CURRENT-1]}")
  response="$($program completion --complete zsh -- "${asked[@]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)" || return 1
  rows=("${(@f)response}")
  # --format=json: complete only the part after the =.
  [[ $rows[1] == *\ attached ]] && compset -P 1 '*='
  case $rows[1] in
    files*) _files ;;
    folders*) _files -/ ;;
    words*)
      for row in "${(@)rows[2,-1]}"; do
        value=${row%%$tab*} about=
        [[ $row == *$tab* ]] && about=${row#*$tab}
        value=${value//\\/\\\\}
        described+=("${value//:/\\:}${about:+:$about}")
      done
      (( $#described )) && _describe -t values rungate described
      ;;
  esac
}

if [[ ${funcstack[1]} == _rungate ]]; then
  _rungate "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _rungate rungate
fi
