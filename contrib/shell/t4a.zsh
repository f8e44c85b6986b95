# Shell integration for zsh 5.1 or newer: reports prompts, commands, exit codes and the directory.
#
# By hand, at the end of ~/.zshrc (for nested shells and ssh):   eval "$(t4a shell-init zsh)"
# By the server: through ZDOTDIR, see zshenv beside this file.
#
# There is no `return` at this level: under `eval` it would end the file that has the eval.

# An alias of the user's must not end up inside our functions.
__t4a_undo=:
if [[ -o aliases ]]; then
    __t4a_undo='setopt aliases'
    setopt no_aliases
fi

# Percent-encodes $1 into REPLY.
__t4a_encode() {
    emulate -L zsh
    REPLY=${1[1,8192]}
    REPLY=${REPLY//\%/%25} REPLY=${REPLY//;/%3B} REPLY=${REPLY//$'\n'/%0A}
    REPLY=${REPLY//$'\t'/%09} REPLY=${REPLY//[[:cntrl:]]/}
}

__t4a_say() {
    print -rnu $__t4a_fd -- "$1" 2>/dev/null
}

# The first of precmd_functions: what ended, and how.
__t4a_report() {
    local -i code=$?
    emulate -L zsh
    zle && return # Some plugins call the hooks from the line editor.
    # A line was taken in but nothing ran: a syntax error. An older code than its own may be in $?.
    (( __t4a_ran || ! code || code == 130 || HISTCMD == __t4a_history )) || __t4a_ran=1 code=1
    if (( __t4a_ran )); then
        __t4a_say $'\e]7777;done;'"$code;$__t4a_ids"$'\a\e]133;D;'"$code;$__t4a_aid"$'\a'
    fi
    __t4a_ran=0 __t4a_history=$HISTCMD
}

# The last of precmd_functions, when all that rebuild the prompt have done so.
__t4a_prompt() {
    emulate -L zsh
    zle && return
    local REPLY
    __t4a_encode $PWD
    __t4a_say $'\e]7777;prompt;'$__t4a_ids$'\a\e]7;file://'$HOST${REPLY// /%20}$'\a'
    __t4a_wrap
    # Before the mark that zsh draws after output without a line end, and before all hooks.
    [[ ${PROMPT_EOL_MARK-} == "$__t4a_end"* ]] ||
        PROMPT_EOL_MARK=$__t4a_end${PROMPT_EOL_MARK-%B%S%#%s%b}
    if [[ $precmd_functions[1] != __t4a_report || $precmd_functions[-1] != __t4a_prompt ]]; then
        local -a others=(${precmd_functions:#__t4a_(report|prompt)})
        precmd_functions=(__t4a_report $others __t4a_prompt)
    fi
}

__t4a_wrap() {
    emulate -L zsh
    [[ $PS1 == "$__t4a_a"*"$__t4a_b" ]] && return 1
    PS1=${${PS1//"$__t4a_a"}//"$__t4a_b"} # "(venv) $PS1"
    PS2=${${PS2//"$__t4a_c"}//"$__t4a_b"}
    __t4a_ps1=$PS1 __t4a_ps2=$PS2
    # A lone % at the end would take our %{ for its own.
    [[ ${PS1//\%\%} == *% ]] && PS1+=%
    PS1=$__t4a_a$PS1$__t4a_b
    PS2=$__t4a_c$PS2$__t4a_b
}

# What rebuilt the prompt after us at the first one is seen here; from then on we are the last.
__t4a_line_init() {
    __t4a_wrap && zle reset-prompt
    return 0
}

# $1 is the line as it went into the history, $3 the whole text when there is no history.
__t4a_preexec() {
    emulate -L zsh
    local REPLY
    # Themes that build on PS1 find their own.
    [[ $PS1 == "$__t4a_a"*"$__t4a_b" ]] && PS1=$__t4a_ps1 PS2=$__t4a_ps2
    __t4a_encode "${1:-${3-}}"
    __t4a_say $'\e]133;C;'$__t4a_aid${REPLY:+;cmdline_url=$REPLY}$'\a'
    __t4a_ran=1
}

__t4a_load() {
    local mode=$(emulate)
    emulate -L zsh
    typeset -g +x __t4a_on=$$ __t4a_aid=aid=$$-${HOST//[^A-Za-z0-9.-]/} __t4a_key=${__t4a_key-}
    typeset -g +x __t4a_ids=${__t4a_key:+key=$__t4a_key;}$__t4a_aid
    typeset -g +x __t4a_a=$'%{\e]133;A;'$__t4a_aid$'\a%}' __t4a_b=$'%{\e]133;B\a%}'
    typeset -g +x __t4a_end=$'%{\e]7777;end;'$__t4a_ids$'\a%}'
    typeset -g +x __t4a_c=$'%{\e]133;A;k=s\a%}' __t4a_ps1=$PS1 __t4a_ps2=$PS2
    typeset -gi +x __t4a_ran=0 __t4a_fd=1 __t4a_history=$HISTCMD
    # Hooks may run with their output redirected; children do not get this one.
    zmodload zsh/system 2>/dev/null &&
        sysopen -o cloexec -wu __t4a_fd -- ${TTY:-/dev/tty} 2>/dev/null || __t4a_fd=1
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__t4a_report $precmd_functions __t4a_prompt)
    preexec_functions=(__t4a_preexec $preexec_functions)
    # zsh's own function for this does not work in a shell that emulates another.
    [[ $mode == zsh ]] && autoload -Uz add-zle-hook-widget &&
        add-zle-hook-widget line-init __t4a_line_init 2>/dev/null
    return 0
}

# A child could have __t4a_on from the environment, but not with its own number in it.
if [[ -o interactive && ${__t4a_on-} != $$ ]]; then
    if [[ -n ${T4A_KEY+x} ]]; then
        typeset -g +x __t4a_key=$T4A_KEY
        unset T4A_KEY
    fi
    __t4a_load
fi
eval "unset __t4a_undo; $__t4a_undo"
