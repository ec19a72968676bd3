# Completes names of timelines, and of what their programs define, beside what clap_complete does.
(( $+functions[_timeline_names] )) ||
_timeline_names() {
    local expl ret=1
    local -a names
    names=(${(0)"$(ASK)"})
    _wanted names expl 'timeline' compadd -a names && ret=0
    # Of files, zsh would complete such a word to another one.
    [[ $PREFIX == *\\* ]] && return ret
    _files && ret=0
    return ret
}
(( $+functions[_timeline_defined] )) ||
_timeline_defined() {
    local expl what=${@[-1]}
    local -a names
    names=(${(0)"$(command timeline generate words $what -- ${(Q)words[1,CURRENT-1]} 2>/dev/null)"})
    _wanted $what expl $what compadd -a names
}
