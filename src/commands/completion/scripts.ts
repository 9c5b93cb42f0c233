import type { Shell } from './completes.ts';

/**
 * For bash 3.2 (macOS) and later, without bash-completion. It calls the program for every word and evaluates nothing in the
 * output: each line is an item of COMPREPLY, which bash inserts unchanged.
 */
const bashScript = String.raw`# rungate completion for bash: eval "$(rungate completion bash)"

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
`;

/** For zsh 5 and later. It passes the program's output to zsh, which quotes it and evaluates nothing in it. */
const zshScript = String.raw`#compdef rungate
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
`;

/** For fish 3 and later. The program prints lines of `value TAB description`; fish quotes the value. */
const fishScript = String.raw`# rungate completion for fish: rungate completion fish | source

# $argv: the command that starts the program; by default the one on the line.
function __rungate_complete
    set -l program $argv
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l token (commandline -ct)
    # FOO=bar rungate ...
    while string match -qr '^[A-Za-z_]\w*=' -- $words[1]
        set -e words[1]
    end
    if set -q program[1]
        # npx rungate ...
        set -e words[1]
    else
        set program (string replace -r '^~/' "$HOME/" -- $words[1])
        type -q -- $program; or set program rungate
        type -q -- $program; or return
    end
    set -e words[1]
    # An open quote is not part of the word.
    set -l current (string unescape -- $token; or string replace -r '^["\']' '' -- $token)
    set -l response ($program completion --complete fish -- $words "$current" 2>/dev/null </dev/null)
    set -l attached ''
    if string match -q '* attached' -- $response[1]
        set attached (string replace -r '=.*' '=' -- $current)
        set current (string replace -r '^[^=]*=' '' -- $current)
    end
    switch "$response[1]"
        case 'files*'
            string join \n -- $attached(__fish_complete_path "$current")
        case 'folders*'
            string join \n -- $attached(__fish_complete_directories "$current" '')
        case 'command *'
            set -l at (math (string replace 'command ' '' -- $response[1]) + 1)
            set -l rest (string escape -- $words[$at..-1]) $token
            complete -C (string join ' ' -- $rest)
        case 'words*'
            set -q response[2]; and string join \n -- $response[2..-1]
    end
end

function __rungate_after_npx
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    test (count $words) -gt 1; and test $words[2] = rungate
end

complete -c rungate -f -a '(__rungate_complete)'
# npx rungate ...: completes with the installed package; never installs or downloads one.
complete -c npx -n __rungate_after_npx -f -a '(__rungate_complete npx --no --offline rungate)'
`;

// In the raw templates, each dollar sign before a brace has a backslash.
const unescaped = (script: string) => script.replaceAll('\\$', '$');
export const scripts: Readonly<Record<Shell, string>> = {
  bash: unescaped(bashScript),
  zsh: unescaped(zshScript),
  fish: unescaped(fishScript),
};
