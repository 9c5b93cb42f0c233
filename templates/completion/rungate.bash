# rungate completion for bash: eval "$(rungate completion bash)"

# $1: -f for files, -d for folders. bash 3.2 has no compopt: there, bash adds a space after a file name.
__rungate_files() {
  local current=${COMP_WORDS[COMP_CWORD]} word
  # bash passes = or : as a separate word.
  [[ $current == [=:] ]] && current=
  if type compopt >/dev/null 2>&1; then
    [[ $1 == -d ]] && compopt -o filenames -o dirnames || compopt -o filenames -o default
    return
  fi
  while IFS= read -r word; do [[ -n $word ]] && COMPREPLY+=("$word"); done <<<"$(compgen "$1" -- "$current")"
}

__rungate() {
  local program=$1 response head= line
  [[ $program == \~/* ]] && program=$HOME/${program:2}
  case $(type -t -- "$program") in
    file | function) ;;
    *) program=rungate ;;
  esac
  COMPREPLY=()
  response=$("$program" completion --complete bash -- "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  while IFS= read -r line; do
    if [[ -z $head ]]; then head=$line; else COMPREPLY+=("$line"); fi
  done <<<"$response"
  case $head in
    files*) __rungate_files -f ;;
    folders*) __rungate_files -d ;;
  esac
}

complete -F __rungate rungate
