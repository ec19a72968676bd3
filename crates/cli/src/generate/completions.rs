//! Makes the completion scripts of shells.
//! They are those of clap_complete, and also offer the names of timelines in shared memory.

use std::collections::BTreeSet;

use clap::{Arg, Command};
use clap_complete::Shell;

/// The command by which shells get the names.
const ASK: &str = "timeline list --names 2>/dev/null";

/// The script for a shell.
pub fn script(shell: Shell, mut command: Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "timeline", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&command, &script),
        Shell::Zsh => zsh(&script),
        Shell::Fish => fish(&command, &script),
        _ => script,
    }
}

/// The argument of a verb that may be a name in shared memory.
fn name_of(verb: &Command) -> Option<&Arg> {
    let is_name = |arg: &&Arg| {
        let values = arg.get_value_names().unwrap_or_default();
        values
            .iter()
            .any(|value| ["PATH", "NAME"].contains(&value.as_str()))
    };
    verb.get_positionals().find(is_name)
}

/// The verbs that have one.
fn verbs(command: &Command) -> Vec<&str> {
    let verbs = command.get_subcommands();
    let named = verbs.filter(|verb| name_of(verb).is_some());
    named.map(Command::get_name).collect()
}

/// The options behind which a value stands.
fn with_values(command: &Command) -> Vec<String> {
    let options = command.get_subcommands().flat_map(Command::get_opts);
    let names = options.flat_map(|option| {
        let short = option.get_short().map(|short| format!("-{short}"));
        short
            .into_iter()
            .chain(option.get_long().map(|long| format!("--{long}")))
    });
    let names: BTreeSet<_> = names.collect();
    names.into_iter().collect()
}

/// Words as the shell quotes them, with files, as soon as something of a path is there.
fn bash(command: &Command, script: &str) -> String {
    let (verbs, options) = (verbs(command).join("|"), with_values(command).join("|"));
    let function = format!(
        r#"_timeline_with_names() {{
    local name
    _timeline "$@"
    [[ ${{COMP_CWORD}} -ge 2 && $2 != -* ]] || return 0
    case "$3" in
        {options}) return 0 ;;
    esac
    case "${{COMP_WORDS[1]}}" in
        {verbs}) ;;
        *) return 0 ;;
    esac
    while IFS= read -r name; do
        [[ $name == "$2"* ]] && COMPREPLY+=("$name")
    done < <({ASK})
    if [[ -n $2 ]]; then
        while IFS= read -r name; do
            COMPREPLY+=("$name")
        done < <(compgen -f -- "$2")
        compopt -o filenames 2>/dev/null
    fi
    return 0
}}
"#
    );
    let (before, registration) = script.rsplit_once("\nif [[").unwrap_or((script, ""));
    let registration = registration.replace("-F _timeline ", "-F _timeline_with_names ");
    format!("{before}\n{function}\nif [[{registration}")
}

fn zsh(script: &str) -> String {
    let function = format!(
        r#"(( $+functions[_timeline_names] )) ||
_timeline_names() {{
    local expl ret=1
    local -a names
    names=(${{(f)"$({ASK})"}})
    _wanted names expl 'timeline' compadd -a names && ret=0
    _files && ret=0
    return ret
}}
"#
    );
    let is_name = |line: &str| {
        ["'::path -- ", "'*::names -- ", "'::name -- "]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let lines = script.lines().map(|line| match is_name(line) {
        true => line
            .replace(":_files'", ":_timeline_names'")
            .replace(":_default'", ":_timeline_names'"),
        false => line.to_owned(),
    });
    let lines: Vec<_> = lines.collect();
    let script = lines.join("\n") + "\n";
    let (before, registration) = script.rsplit_once("\nif [ ").unwrap_or((&script, ""));
    format!("{before}\n{function}\nif [ {registration}")
}

fn fish(command: &Command, script: &str) -> String {
    let verbs = verbs(command).join(" ");
    format!(
        "{script}complete -c timeline -n \"__fish_timeline_using_subcommand {verbs}\" -a \
         \"({ASK})\" -d 'Live timeline'\n"
    )
}
