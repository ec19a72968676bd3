//! Makes the completion scripts of shells.
//! They are those of clap_complete, and also offer the names of timelines in shared memory.

use std::collections::BTreeSet;

use clap::{Arg, Command, Id};
use clap_complete::Shell;

/// The command by which shells get the names, whatever a user calls `timeline`.
const ASK: &str = "command timeline list --names 2>/dev/null";

/// How bash quotes a word.
const QUOTED: &str = r#"
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
"#;

/// The script for a shell.
pub fn script(shell: Shell, mut command: Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "timeline", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&command, &script),
        Shell::Zsh => zsh(&command, &script),
        Shell::Fish => fish(&command, &script),
        _ => script,
    }
}

/// The arguments of a verb that may be names in shared memory.
fn names_of(verb: &Command) -> impl Iterator<Item = &Arg> {
    let is_name = |arg: &&Arg| {
        let values = arg.get_value_names().unwrap_or_default();
        let mut values = values.iter().map(|value| value.as_str());
        // The words of a search end with its text.
        values.any(|value| ["PATH", "NAME", "QUERY"].contains(&value))
    };
    verb.get_positionals().filter(is_name)
}

/// The verbs that have one.
fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    let verbs = command.get_subcommands();
    verbs.filter(|verb| names_of(verb).next().is_some())
}

/// The options behind which a value stands.
fn with_values(command: &Command) -> Vec<String> {
    let options = command.get_opts();
    let names = options.flat_map(|option| {
        let short = option.get_short().map(|short| format!("-{short}"));
        short
            .into_iter()
            .chain(option.get_long().map(|long| format!("--{long}")))
    });
    names.collect()
}

/// The options with a list of words and commas between. Some verbs may have the same.
fn lists(command: &Command) -> impl Iterator<Item = &str> {
    let options = command.get_subcommands().flat_map(Command::get_opts);
    let lists = options.filter(|option| option.get_value_delimiter().is_some());
    lists.filter_map(Arg::get_long)
}

/// The options of verbs behind which a value stands: one option may have a value for one verb, and
/// none for another.
fn options(command: &Command) -> BTreeSet<String> {
    let of_verb = |verb: &Command| {
        let name = verb.get_name().to_owned();
        let options = with_values(verb).into_iter();
        options.map(move |option| format!("{name},{option}"))
    };
    command.get_subcommands().flat_map(of_verb).collect()
}

/// Names as the shell quotes them, with files, as soon as something of a path is there.
fn bash(command: &Command, script: &str) -> String {
    let joined = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join("|");
    let options = joined(options(command));
    let lists = joined(lists(command).map(|long| format!("--{long}")).collect());
    let global = with_values(command).join("|");
    let verbs = joined(verbs(command).map(|verb| verb.get_name().into()).collect());
    let function = format!(
        r#"_timeline_with_names() {{
    local name verb="" place=1 before=""
    # Of a list with commas, its last word is completed.
    case "$3" in
        {lists}) [[ $2 == *,* ]] && before=${{2%,*}}, ;;
    esac
    _timeline "$1" "${{2#"$before"}}" "$3"
    COMPREPLY=("${{COMPREPLY[@]/#/$before}}")
    while (( place < COMP_CWORD )); do
        case "${{COMP_WORDS[place]}}" in
            {global})
                (( place += 1 ))
                [[ ${{COMP_WORDS[place]}} == = ]] && (( place += 1 )) ;;
            -*) ;;
            *) verb=${{COMP_WORDS[place]}}; break ;;
        esac
        (( place += 1 ))
    done
    [[ $2 != -* ]] || return 0
    # Options are for those who begin one.
    local words=("${{COMPREPLY[@]}}")
    COMPREPLY=()
    for name in "${{words[@]}}"; do
        [[ $name == [-\[\<]* || -z $name ]] || COMPREPLY+=("$name")
    done
    case "$verb,$3" in
        {options}) return 0 ;;
    esac
    case "$verb" in
        {verbs}) ;;
        *) return 0 ;;
    esac
    # Behind an opening quote the word is as it stands, and else without backslashes.
    local begun=$2 quote=${{COMP_WORDS[COMP_CWORD]:0:1}} plain=1 names=() files=()
    [[ $quote == \' ]] || IFS= read -d '' begun < <(printf '%s\0' "$2")
    while IFS= read -r -d '' name; do
        [[ $name == "$begun"* ]] || continue
        names+=("$(_timeline_quoted "$quote" "$name"; printf .)")
        names[-1]=${{names[-1]%.}}
        [[ ${{names[-1]}} == "$name" ]] || plain=""
    done < <({ASK})
    [[ -z $2 ]] || while IFS= read -r name; do
        files+=("$name")
    done < <(compgen -f -- "$2")
    if [[ -n $plain ]]; then
        COMPREPLY+=("${{names[@]}}" "${{files[@]}}")
        [[ -z $2 ]] || compopt -o filenames 2>/dev/null
        return 0
    fi
    # As the names of files, bash would quote them, but not a dollar.
    COMPREPLY+=("${{names[@]}}")
    for name in "${{files[@]}}"; do
        [[ ! -d $name ]] || name+=/
        COMPREPLY+=("$(_timeline_quoted "$quote" "$name")")
    done
    return 0
}}
{QUOTED}"#
    );
    let (before, registration) = script.rsplit_once("\nif [[").unwrap_or((script, ""));
    let registration = registration.replace("-F _timeline ", "-F _timeline_with_names ");
    format!("{before}\n{function}\nif [[{registration}")
}

fn zsh(command: &Command, script: &str) -> String {
    let function = format!(
        r#"(( $+functions[_timeline_names] )) ||
_timeline_names() {{
    local expl ret=1
    local -a names
    names=(${{(0)"$({ASK})"}})
    _wanted names expl 'timeline' compadd -a names && ret=0
    _files && ret=0
    return ret
}}
"#
    );
    let lists: Vec<_> = lists(command).map(|long| format!("*--{long}=[")).collect();
    let (mut names, mut is_list): (Vec<&Id>, bool) = (Vec::new(), false);
    let lines = script.lines().map(|line| {
        // Of a list with commas, its last word is completed.
        if lists.iter().any(|list| line.contains(list)) {
            is_list = true;
            let begin = ":{compset -P \"*,\"; local -a words; words=(";
            return line.replace(":((", begin);
        }
        if is_list && line.contains("))' \\") {
            is_list = false;
            return line.replace("))' \\", "); _describe -t words word words}' \\");
        }
        let begun = line
            .strip_prefix('(')
            .and_then(|line| line.strip_suffix(')'));
        if let Some(begun) = begun.and_then(|name| command.find_subcommand(name)) {
            names = names_of(begun).map(Arg::get_id).collect();
        }
        let argument = line
            .trim_start_matches(['\'', ':', '*'])
            .split(" -- ")
            .next();
        let is_name = line.starts_with('\'')
            && argument.is_some_and(|argument| names.iter().any(|name| *name == argument));
        match is_name {
            true => line
                .replace(":_files'", ":_timeline_names'")
                .replace(":_default'", ":_timeline_names'"),
            false => line.to_owned(),
        }
    });
    let lines: Vec<_> = lines.collect();
    let script = lines.join("\n") + "\n";
    let (before, registration) = script.rsplit_once("\nif [ ").unwrap_or((&script, ""));
    format!("{before}\n{function}\nif [ {registration}")
}

fn fish(command: &Command, script: &str) -> String {
    let verbs: Vec<_> = verbs(command).map(Command::get_name).collect();
    let verbs = verbs.join(" ");
    let lists: String = command.get_subcommands().map(fish_lists).collect();
    format!(
        "{script}{lists}complete -c timeline -n \"__fish_timeline_using_subcommand {verbs}\" -a \
         \"({ASK} | string split0)\" -d 'Live timeline'\n"
    )
}

/// The words of lists behind those that are there, with commas between.
fn fish_lists(verb: &Command) -> String {
    let lists = verb
        .get_opts()
        .filter(|option| option.get_value_delimiter().is_some());
    let line = |option: &Arg| {
        let (verb, long) = (verb.get_name(), option.get_long()?);
        let words = option.get_possible_values();
        let words: Vec<_> = words.iter().map(|word| word.get_name()).collect();
        Some(format!(
            "complete -c timeline -n \"__fish_timeline_using_subcommand {verb}; and string match \
             -q '*,*' -- (commandline -ct)\" -l {long} -r -f -a \"(__fish_append , {})\"\n",
            words.join(" ")
        ))
    };
    lists.filter_map(line).collect()
}
