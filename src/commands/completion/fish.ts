/** For fish 3 and later. The program prints lines of `value TAB description`; fish quotes the value. */
export const fishScript = String.raw`# rungate completion for fish: rungate completion fish | source

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
`.replaceAll('\\$', '$');
