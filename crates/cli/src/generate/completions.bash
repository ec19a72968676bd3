# Completes names of timelines, and of what their programs define, beside what clap_complete does.

# Whether this is only of characters at which readline begins another word.
_timeline_is_break() {
    [[ -n $1 && -z ${1//[:=@]/} ]]
}

# A word without its backslashes, and unless it is the one that is completed, without its quotes.
_timeline_plain() {
    IFS= read -r -d '' REPLY < <(printf '%s\0' "$1")
    [[ $2 == \' ]] || IFS= read -d '' REPLY < <(printf '%s\0' "$1")
}

# A word as it is read back, behind this opening quote, if it is one.
_timeline_quoted() {
    local rest=$2 end=""
    # Bash closes the quotes, unless they seem to be closed.
    [[ $rest != *"$1" ]] || end=$1
    case "$1" in
        \') printf %s "${rest//\'/\'\\\'\'}$end" ;;
        \")
            rest=${rest//\\/\\\\} rest=${rest//\"/\\\"}
            rest=${rest//\$/\\\$}
            printf %s "${rest//\`/\\\`}$end" ;;
        *)
            while [[ $rest == *$'\n'* ]]; do
                printf '%q%s' "${rest%%$'\n'*}" "\$'\\n'"
                rest=${rest#*$'\n'}
            done
            printf %q "$rest" ;;
    esac
}

# The words before the cursor that name a timeline, without quotes.
_timeline_defined() {
    local what=$1 word REPLY words=()
    shift
    for word; do
        _timeline_plain "${word#[\'\"]}" "${word:0:1}"
        words+=("${REPLY%[\'\"]}")
    done
    command timeline generate words "$what" -- "${words[@]}" 2>/dev/null
}

_timeline_with_names() {
    # Readline begins a word behind each `:` and `=`, and a shell does not.
    local words=() piece before="" kept current=$2 prev REPLY
    for piece in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if [[ -n $before ]] && { _timeline_is_break "$piece" || _timeline_is_break "$before"; }; then
            words[-1]+=$piece
        else
            words+=("$piece")
        fi
        before=$piece
    done
    local raw=$before
    kept=${words[-1]}
    _timeline_is_break "$before" || kept=${kept%"$before"}
    current=$kept$2
    if [[ $current == --*=* ]]; then
        words[-1]=${current%%=*}
        words+=("${current#*=}")
        kept=${kept#*=} current=${current#*=}
    fi
    prev=${words[-2]}
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$(( ${#words[@]} - 1 ))

    # Of a list with commas, its last word is completed.
    before=""
    case "$prev" in
        LISTS) [[ $current == *,* ]] && before=${current%,*}, ;;
    esac
    _timeline "$1" "${current#"$before"}" "$prev"
    COMPREPLY=("${COMPREPLY[@]/#/$before}")

    local verb="" at=1 place=1 what="" list="" word
    while (( at < COMP_CWORD )); do
        case "${words[at]}" in
            GLOBAL) (( at += 1 )) ;;
            -*) ;;
            *) verb=${words[at]}; break ;;
        esac
        (( at += 1 ))
    done
    # The number of the argument: neither options count, nor their values.
    for (( at += 1; at < COMP_CWORD; at++ )); do
        case "$verb,${words[at]}" in
            OPTIONS) (( at += 1 )) ;;
            *,-?*) ;;
            *) (( place += 1 )) ;;
        esac
    done
    case "$verb,$prev" in
    OF_OPTIONS
        OPTIONS) return 0 ;;
    esac
    [[ -n $what || $current != -* ]] || return 0
    # Options are for those who begin one.
    local found=("${COMPREPLY[@]}")
    COMPREPLY=()
    for word in "${found[@]}"; do
        [[ $word == [-\[\<]* || -z $word ]] || COMPREPLY+=("$word")
    done
    [[ -n $what ]] || case "$verb,$place" in
    OF_PLACES
        *) return 0 ;;
    esac
    COMPREPLY=()
    case "$what" in
        list)
            compopt +o default +o bashdefault 2>/dev/null
            COMPREPLY=($(compgen -W "$list" -- "$current"))
            return 0 ;;
        rules)
            compopt +o default +o bashdefault 2>/dev/null
            before=${current%"${current##*[,=]}"}
            for word in $(compgen -W "$list" -- "${current##*[,=]}"); do
                word=$before$word
                COMPREPLY+=("${word#"$kept"}")
            done
            return 0 ;;
    esac

    # Behind an opening quote the word is as it stands, and else without backslashes.
    local begun begun_kept quote=${raw:0:1} name plain=1 names=() files=()
    [[ $quote == [\'\"] ]] || quote=""
    _timeline_plain "$current" "$quote"; begun=$REPLY
    _timeline_plain "$kept" "$quote"; begun_kept=$REPLY
    [[ -z $kept ]] || plain=""
    [[ $what == files ]] || while IFS= read -r -d '' name; do
        [[ $name == "$begun"* ]] || continue
        name=${name#"$begun_kept"}
        names+=("$(_timeline_quoted "$quote" "$name"; printf .)")
        names[-1]=${names[-1]%.}
        [[ ${names[-1]} == "$name" ]] || plain=""
    done < <(case "$what" in
        timelines) ASK ;;
        *) _timeline_defined "$what" "${words[@]:1:COMP_CWORD-1}" ;;
    esac)
    COMPREPLY=("${names[@]}")
    case "$what" in
        timelines|files) ;;
        *) compopt +o default +o bashdefault 2>/dev/null; return 0 ;;
    esac
    [[ -z $current ]] || while IFS= read -r name; do
        files+=("$name")
    done < <(compgen -f -- "$current")
    if [[ -n $plain ]]; then
        COMPREPLY+=("${files[@]}")
        [[ -z $current ]] || compopt -o filenames 2>/dev/null
        return 0
    fi
    # As the names of files, bash would quote them, but not a dollar.
    for name in "${files[@]}"; do
        [[ ! -d $name ]] || name+=/
        COMPREPLY+=("$(_timeline_quoted "$quote" "${name#"$begun_kept"}")")
    done
    return 0
}
