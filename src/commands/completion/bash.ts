/**
 * For bash 3.2 (macOS) and later, without bash-completion. It calls the program for every word and evaluates nothing in the
 * output: each line is an item of COMPREPLY, which bash inserts unchanged.
 */
export const bashScript = String.raw`# rungate completion for bash: eval "$(rungate completion bash)"

# Completes the other command in the rest of the line: with its own completion, or else file names. $1: its position.
__rungate_hand_over() {
  local at=0 first=0 rest=$COMP_LINE skipped
  while [[ $at -lt $1 && $first -lt $COMP_CWORD ]]; do
    skipped=\${rest%%"\${COMP_WORDS[first]}"*}
    rest=\${rest#"$skipped"}
    rest=\${rest#"\${COMP_WORDS[first]}"}
    first=$((first + 1))
    skipped=\${rest%%[^[:space:]]*}
    at=$((\${#COMP_LINE} - \${#rest} + \${#skipped}))
  done
  local name=\${COMP_WORDS[first]} current=\${COMP_WORDS[COMP_CWORD]} spec word option
  if [[ $first -eq $COMP_CWORD ]]; then
    while IFS= read -r word; do [[ -n $word ]] && COMPREPLY+=("$word"); done <<<"$(compgen -c -- "$current" | sort -u)"
    return
  fi
  COMP_LINE=\${COMP_LINE:$1}
  COMP_POINT=$((COMP_POINT - $1))
  COMP_WORDS=("\${COMP_WORDS[@]:first}")
  COMP_CWORD=$((COMP_CWORD - first))
  spec=$(__rungate_spec "$name")
  # The default completion may load the one for this command, as bash-completion does.
  if [[ -z $spec && $(complete -p -D 2>/dev/null) =~ \ -F\ ([^ ]+)\  ]]; then
    "\${BASH_REMATCH[1]}" "$name" "$current" "\${COMP_WORDS[COMP_CWORD - 1]}"
    spec=$(__rungate_spec "$name")
  fi
  __rungate_options default
  for option in nospace filenames; do
    [[ $spec == *" -o $option "* ]] && __rungate_options $option
  done
  [[ $spec =~ \ -F\ ([^ ]+)\  ]] || return
  "\${BASH_REMATCH[1]}" "$name" "$current" "\${COMP_WORDS[COMP_CWORD - 1]}"
}

__rungate_spec() {
  complete -p -- "$1" 2>/dev/null || complete -p -- "\${1##*/}" 2>/dev/null
}

# bash 3.2 has no compopt: there, bash adds a space after a file name.
__rungate_options() {
  local option
  type compopt >/dev/null 2>&1 && for option in "$@"; do compopt -o "$option" 2>/dev/null; done
}

__rungate_files() {
  local current=\${COMP_WORDS[COMP_CWORD]} word
  # bash passes = or : as a separate word.
  [[ $current == [=:] ]] && current=
  if type compopt >/dev/null 2>&1; then
    [[ $1 == -d ]] && compopt -o filenames -o dirnames || compopt -o filenames -o default
    return
  fi
  while IFS= read -r word; do [[ -n $word ]] && COMPREPLY+=("$word"); done <<<"$(compgen "$1" -- "$current")"
}

# $@: the command that starts the program.
__rungate_ask() {
  local response head= line
  COMPREPLY=()
  response=$("$@" completion --complete bash -- "$COMP_WORDBREAKS" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
  while IFS= read -r line; do
    if [[ -z $head ]]; then head=$line; else COMPREPLY+=("$line"); fi
  done <<<"$response"
  case $head in
    files) __rungate_files -f ;;
    folders) __rungate_files -d ;;
    command\ *) __rungate_hand_over "\${head#command }" ;;
  esac
}

__rungate() {
  local program=$1
  [[ $program == \~/* ]] && program=$HOME/\${program:2}
  case $(type -t -- "$program") in
    file | function) ;;
    *) program=rungate ;;
  esac
  __rungate_ask "$program"
}

# npx rungate ...: completes with the installed package; never installs or downloads one.
__rungate_npx() {
  COMPREPLY=()
  [[ $COMP_CWORD -gt 1 && \${COMP_WORDS[1]} == rungate ]] || { __rungate_options default; return; }
  local COMP_LINE=\${COMP_LINE#*[[:space:]]} COMP_POINT=$COMP_POINT whole=\${#COMP_LINE}
  COMP_LINE=\${COMP_LINE#"\${COMP_LINE%%[^[:space:]]*}"}
  COMP_POINT=$((COMP_POINT - whole + \${#COMP_LINE}))
  local COMP_CWORD=$((COMP_CWORD - 1)) COMP_WORDS=("\${COMP_WORDS[@]:1}")
  __rungate_ask npx --no --offline rungate
}

complete -F __rungate rungate
complete -p npx >/dev/null 2>&1 || complete -o bashdefault -o default -F __rungate_npx npx
`.replaceAll('\\$', '$');
