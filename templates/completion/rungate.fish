# rungate completion for fish: rungate completion fish | source

function __rungate_complete
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l token (commandline -ct)
    # FOO=bar rungate ...
    while string match -qr '^[A-Za-z_]\w*=' -- $words[1]
        set -e words[1]
    end
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q -- $program; or set program rungate
    type -q -- $program; or return
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
        case 'words*'
            set -q response[2]; and string join \n -- $response[2..-1]
    end
end

complete -c rungate -f -a '(__rungate_complete)'
