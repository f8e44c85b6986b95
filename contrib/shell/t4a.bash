# Shell integration for bash 4.4 or newer: reports prompts, commands, exit codes and the directory.
#
# By hand, at the end of ~/.bashrc (for nested shells and ssh):   eval "$(t4a shell-init bash)"
# By the server: bash --rcfile t4a.bash, with T4A_INJECT=rc|login|norc and T4A_KEY in the environment.
# A login shell is then played: `shopt login_shell` stays off, ~/.bash_logout is not read, and it is
# left with `exit`, not with `logout`.
#
# There is no `return` at this level: under `eval` it would end the file that has the eval.

if [ -n "${T4A_KEY+x}" ]; then
    __t4a_key=$T4A_KEY
    unset T4A_KEY
fi
if [ -n "${T4A_INJECT+x}" ]; then # First what bash would have read; it has read /etc/bash.bashrc.
    __t4a_files=()
    case $T4A_INJECT in
        rc) __t4a_files=(~/.bashrc) ;;
        login)
            [ ! -r /etc/profile ] || __t4a_files=(/etc/profile)
            for __t4a_file in ~/.bash_profile ~/.bash_login ~/.profile; do
                [ ! -r "$__t4a_file" ] || { __t4a_files+=("$__t4a_file") && break; }
            done
            ;;
    esac
    unset T4A_INJECT
    for __t4a_file in "${__t4a_files[@]}"; do
        [ ! -r "$__t4a_file" ] || . "$__t4a_file"
    done
    unset __t4a_file __t4a_files
fi

# An alias of the user's must not end up inside our functions, nor the functions in the environment.
__t4a_undo=:
if shopt -q expand_aliases; then
    __t4a_undo='shopt -s expand_aliases'
    shopt -u expand_aliases
fi
case $- in
    *a*)
        set +a
        __t4a_undo+='; set -a'
        ;;
esac

# Standard output and error may lead elsewhere, the terminal is where the prompt is.
__t4a_say() { { builtin printf "$@" >/dev/tty; } 2>/dev/null || builtin printf "$@" >&2; }

# Reports the command that ended with code $1, if one did. May be called twice: the second does nothing.
__t4a_report() {
    local count=${__t4a_number@P} ended=0
    if [ "$count" != "$__t4a_count" ] || [ "$__t4a_i" != 0 ]; then
        ended=1
    elif [ "$1" = 2 ]; then
        # Nothing ran. If a line was taken in, it was a syntax error: the history or the code tells.
        [ "${HISTCMD-0}" = "$__t4a_history" ] && [ "$__t4a_status" = 2 ] || ended=1
    fi
    [ "$ended" = 0 ] || __t4a_say "$__t4a_done" "$1" "$1"
    __t4a_count=$count __t4a_history=${HISTCMD-0} __t4a_status=$1 __t4a_i=0 __t4a_steps=()
}

# The first of PROMPT_COMMAND. Options like -u, -e and -x are off in here only.
__t4a_first() {
    { local status=$? -; set +aeuxTE; } 2>/dev/null
    __t4a_reported=1
    __t4a_report "$status"
    return "$status"
}

# The last of PROMPT_COMMAND, when all that rebuild PS1 have done so.
__t4a_last() {
    { local status=$? -; set +aeuxTE; } 2>/dev/null
    # PROMPT_COMMAND=… has put something else in the place of the first.
    [ "$__t4a_reported" = 1 ] || __t4a_report "$status"
    __t4a_reported=0
    __t4a_wrap
    __t4a_hook
    __t4a_directory
    __t4a_say '\e]7777;prompt;%s\a\e]7;%s\a' "$__t4a_ids" "$__t4a_url"
    return "$status"
}

# Puts the marks around the prompts. They are variables, so that a child that gets PS1 by the
# environment shows none.
__t4a_wrap() {
    local a='\[${__t4a_a-}\]' b='\[${__t4a_b-}\]' c='\[${__t4a_c-}\]'
    local code=$__t4a_ps0_code zero=$__t4a_ps0
    if ! shopt -q promptvars; then
        a='\['$__t4a_a'\]' b='\['$__t4a_b'\]' c='\['$__t4a_c'\]'
        code='' zero=$__t4a_ps0_plain
    fi
    case ${PS1-} in
        "$a"*"$b") ;;
        *)
            PS1=${PS1-}
            PS1=${PS1//"$a"} # "(venv) $PS1"
            PS1=$a${PS1//"$b"}$b
            ;;
    esac
    case ${PS2-} in
        "$c"*) ;;
        *) PS2=$c${PS2-}$b ;;
    esac
    case ${PS0-} in
        "$code"*"$zero") ;;
        *)
            PS0=${PS0-}
            PS0=${PS0//"$__t4a_ps0_code"}
            PS0=${PS0//"$__t4a_ps0_plain"}
            PS0=$code${PS0//"$__t4a_ps0"}$zero
            ;;
    esac
    export -n PS0
}

# Takes the first and last place in PROMPT_COMMAND.
__t4a_hook() {
    local all=() one
    if [ "${bash_preexec_imported-}${__bp_imported-}" = defined ]; then
        __t4a_hook_preexec
        return
    fi
    if [ "$__t4a_array" = 0 ]; then
        case ${PROMPT_COMMAND-} in
            *__t4a_first*__t4a_last*) ;;
            *) PROMPT_COMMAND=$'__t4a_first\n'${PROMPT_COMMAND-}$'\n__t4a_last' ;;
        esac
        return
    fi
    for one in "${PROMPT_COMMAND[@]}"; do
        case $one in
            __t4a_first | __t4a_last | '') ;;
            *) all+=("$one") ;;
        esac
    done
    all=(__t4a_first "${all[@]}" __t4a_last)
    [ "${all[*]}" = "${PROMPT_COMMAND[*]}" ] || PROMPT_COMMAND=("${all[@]}")
}

# bash-preexec takes what comes after its own last command for the user's.
__t4a_hook_preexec() {
    local mode=__bp_interactive_mode i
    case " ${precmd_functions[*]-} " in
        *' __t4a_first '*) ;;
        *) precmd_functions=(__t4a_first "${precmd_functions[@]}" __t4a_last) ;;
    esac
    for i in "${!PROMPT_COMMAND[@]}"; do
        case ${PROMPT_COMMAND[i]} in
            *__t4a_last*) ;;
            *"$mode"*)
                precmd_functions=("${precmd_functions[@]/%__t4a_last/:}") # Once is enough.
                PROMPT_COMMAND[i]=${PROMPT_COMMAND[i]/"$mode"/__t4a_last$'\n'"$mode"}
                ;;
        esac
    done
}

__t4a_directory() {
    [ "$PWD" != "$__t4a_pwd" ] || return 0
    local path=${PWD//%/%25}
    path=${path//;/%3B} path=${path// /%20} path=${path//$'\n'/%0A} path=${path//$'\t'/%09}
    __t4a_pwd=$PWD __t4a_url=file://${HOSTNAME-}${path//[[:cntrl:]]}
}

# The newest entry of the history, with its number.
__t4a_entry() { { HISTTIMEFORMAT='' builtin history 1; } 2>/dev/null; }

# PS0 is expanded before each command, in the shell itself but without running any of its commands.
# Its $(…) is a fork, the only one (none from bash 5.3 on); the rest is done by expansions: := fills
# one element of __t4a_steps from the one before, inside the subscript of a table that is empty.
__t4a_build() {
    local step text='' k=0 capture='$(__t4a_entry)'
    (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 503 )) || capture='${ __t4a_entry; }'
    for step in "$capture" '#*[0-9][* ] ' ':0:8192' '//%/%25' '//;/%3B' '//$__t4a_newline/%0A' \
        '//$__t4a_tab/%09' '//[[:cntrl:]]'; do
        [ "$k" = 0 ] || step='${__t4a_steps[__t4a_i+'$k']'$step'}'
        k=$((k + 1))
        text+='${__t4a_void[x${__t4a_steps[__t4a_i+'$k']:='$step'}]-}'
    done
    text+=';cmdline_url=${__t4a_steps[__t4a_i+'$k']}'
    # Two commands of a pasted block have no prompt between them: the second reports the first.
    __t4a_ps0_code='${__t4a_nil:$((__t4a_code=$?)):0}'
    __t4a_ps0='${__t4a_nil:$((__t4a_i+=16)):0}'
    __t4a_ps0+='${__t4a_yes[__t4a_i>16]+'${__t4a_done//%s/'$__t4a_code'}'}'
    # HISTCONTROL may keep a command out of the history, or `shopt -u cmdhist` tear it apart: the
    # screen has to tell it then.
    __t4a_ps0+="\\e]133;C;$__t4a_aid"'${__t4a_yes[HISTCMD==__t4a_history+1]+'$text'}\a'
    __t4a_ps0+='${__t4a_nil:$((__t4a_history=HISTCMD)):0}'
    __t4a_ps0_plain="\\e]133;C;$__t4a_aid\\a"
}

__t4a_load() {
    { local -; set +aeuxTE; } 2>/dev/null
    __t4a_on=$$ __t4a_aid=aid=$$-${HOSTNAME//[!A-Za-z0-9.-]}
    __t4a_ids=${__t4a_key:+key=$__t4a_key;}$__t4a_aid
    __t4a_done="\\e]7777;done;%s;$__t4a_ids\\a\\e]133;D;%s;$__t4a_aid\\a"
    __t4a_a=$'\e]133;A;'$__t4a_aid$'\a' __t4a_b=$'\e]133;B\a' __t4a_c=$'\e]133;A;k=s\a'
    __t4a_number='\#' __t4a_count=${__t4a_number@P} __t4a_history=${HISTCMD-0} __t4a_status=0
    __t4a_nil='' __t4a_newline=$'\n' __t4a_tab=$'\t' __t4a_i=0 __t4a_code=0 __t4a_reported=0
    __t4a_pwd='' __t4a_url='' __t4a_array=0
    (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501 )) || __t4a_array=1
    unset __t4a_void __t4a_yes __t4a_steps
    declare -gA __t4a_void=()
    declare -ga __t4a_yes=([1]='') __t4a_steps=()
    __t4a_build
    __t4a_hook
}

case $- in
    *i*)
        # A child could have __t4a_on from the environment, but not with its own number in it.
        if [ "${__t4a_on-}" != "$$" ] && [ -n "${BASH_VERSINFO-}" ] &&
            [ "$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))" -ge 404 ]; then
            __t4a_load
        fi
        ;;
esac
eval "unset __t4a_undo; $__t4a_undo"
