# Completes names of timelines, and of what their programs define, beside what clap_complete does.

# What the program of the timeline on the command line defines.
function __fish_timeline_defined
    command timeline generate words $argv[1] -- (commandline -opc) 2>/dev/null | string split0
end

# Files, beside names in shared memory: in those, fish would take what follows a colon for a file.
function __fish_timeline_files
    string match -qr '^/[^/]*[:=]' -- (commandline -ct); or __fish_complete_path (commandline -ct)
end

# Whether the cursor is in the place of an argument of a verb: that of a number, or also any later
# one.
function __fish_timeline_at
    set -l words (commandline -opc)
    set -l verb (__fish_timeline_needs_command)
    test -n "$verb"; or return 1
    string match -q -- '-*' (commandline -ct); and return 1
    set -l at (contains -i -- $verb[1] $words); or return 1
    set -l place 1
    set -l is_value 0
    for word in $words[(math $at + 1)..-1]
        if test $is_value = 1
            set is_value 0
        else if contains -- "$verb[1],$word" OPTIONS
            set is_value 1
        else if not string match -q -- '-?*' $word
            set place (math $place + 1)
        end
    end
    test $is_value = 0; or return 1
    test $verb[1] = $argv[1]; or return 1
    test $place = $argv[2]; or test "$argv[3]" = on -a $place -gt $argv[2]
end

