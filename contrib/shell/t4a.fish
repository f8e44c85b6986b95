# Shell integration for fish 3.2 or newer: reports prompts, commands, exit codes and the directory.
#
# By hand, at the end of config.fish (for nested shells and ssh):   t4a shell-init fish | source
# By the server: fish -C 'source t4a.fish', with T4A_KEY in the environment.

function __t4a_say
    printf $argv >/dev/tty 2>/dev/null
    or printf $argv
end

function __t4a_report -a code
    __t4a_say '\e]7777;done;%s;%s\a' $code $__t4a_ids
    test $__t4a_native = 1
    or __t4a_say '\e]133;D;%s;%s\a' $code $__t4a_aid
end

# The mark after fish_prompt, which starship, tide and users define late, and again. Nothing comes
# before the user's own, so that it finds $status and $pipestatus as they were.
function __t4a_wrap
    functions fish_prompt 2>/dev/null | string match -q '*__t4a_users_prompt*'
    and return
    functions -e __t4a_users_prompt
    functions -q fish_prompt
    and functions -c fish_prompt __t4a_users_prompt
    and function fish_prompt
        __t4a_users_prompt
        printf '\e]133;B\a'
    end
end

function __t4a_load
    set -g __t4a_on $fish_pid
    set -g __t4a_aid aid=$fish_pid-(string replace -ar '[^A-Za-z0-9.-]' '' -- $hostname)
    set -g __t4a_ids $__t4a_aid
    set -q T4A_KEY
    and set -g __t4a_ids "key=$T4A_KEY;$__t4a_aid"
    set -e T4A_KEY
    set -g __t4a_ran 0
    # From 4.0 on fish itself sends A, C and D (and B in later ones, which may come twice).
    set -g __t4a_native 0
    string match -qr '^([4-9]|\d\d)' -- $version
    and set -g __t4a_native 1

    function __t4a_preexec --on-event fish_preexec
        set -g __t4a_ran 1
        test $__t4a_native = 1
        and return
        __t4a_say '\e]133;C;%s;cmdline_url=%s\a' $__t4a_aid \
            (string sub -l 24576 -- (string escape --style=url -- "$argv[1]"))
    end

    function __t4a_postexec --on-event fish_postexec
        set -l code $status
        test $__t4a_ran = 1
        or return
        set -g __t4a_ran 0
        __t4a_report $code
    end

    # A syntax error: the line was taken in but never ran, and stays in the line editor.
    function __t4a_posterror --on-event fish_posterror
        __t4a_report 127
    end

    # Ctrl-C at the prompt: it is only drawn again, but for whoever waits it is a new one.
    function __t4a_cancel --on-event fish_cancel
        __t4a_say '\e]7777;prompt;%s\a' $__t4a_ids
        test $__t4a_native = 1
        or __t4a_say '\e]133;A;%s\a' $__t4a_aid
        # An empty line is not drawn again by itself.
        commandline -f repaint
    end

    function __t4a_prompt --on-event fish_prompt
        __t4a_say '\e]7777;prompt;%s\a\e]7;file://%s%s\a' $__t4a_ids $hostname \
            (string escape --style=url -- $PWD)
        __t4a_wrap
        test $__t4a_native = 1
        or __t4a_say '\e]133;A;%s\a' $__t4a_aid
    end
end

# A child could have __t4a_on from the environment, but not with its own number in it.
if status is-interactive; and not test "$__t4a_on" = "$fish_pid"
    __t4a_load
end
