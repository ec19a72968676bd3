//! Makes the completion scripts of shells.
//! They are those of clap_complete, and also offer the names of timelines in shared memory, and
//! what their programs define. What is in no script of clap_complete is in completions.bash,
//! completions.zsh and completions.fish.

use std::collections::BTreeSet;

use clap::{Arg, Command};
use clap_complete::Shell;

/// The command by which shells get the names, whatever a user calls `timeline`.
const ASK: &str = "command timeline list --names 2>/dev/null";

/// The script for a shell.
pub fn script(shell: Shell, command: Command) -> String {
    let (mut command, mut script) = (shown("timeline", &command), Vec::new());
    clap_complete::generate(shell, &mut command, "timeline", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => bash(&command, &script),
        Shell::Zsh => zsh(&command, &script),
        Shell::Fish => fish(&command, &script),
        _ => script,
    }
}

/// The command without the verbs that no help has.
fn shown(name: &'static str, command: &Command) -> Command {
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs = verbs.map(|verb| match verb.get_name() {
        "help" => shown("help", verb),
        _ => verb.clone(),
    });
    let shown = Command::new(name).args(command.get_arguments());
    let shown = shown.version(env!("CARGO_PKG_VERSION"));
    let shown = shown.disable_help_flag(true).disable_version_flag(true);
    let about = command.get_about().cloned().unwrap_or_default();
    let shown = shown.disable_help_subcommand(true).about(about);
    shown.subcommands(verbs)
}

/// What stands in the place of an argument.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    /// The name of a timeline, or a file.
    Timeline,
    /// A file, or anything else.
    File,
    /// Rules, which begin with a level.
    Rules(Vec<String>),
    /// One of these words.
    Words(Vec<String>),
    /// What a program defines: see [`super::words`].
    Defined(&'static str),
}

/// What stands in the place of an argument of a verb.
fn place(verb: &Command, arg: &Arg) -> Place {
    let values = arg.get_value_names().unwrap_or_default();
    let is_one_of = |names: &[&str]| values.iter().any(|value| names.contains(&value.as_str()));
    let words = arg.get_possible_values();
    let words = words.iter().map(|word| word.get_name().to_owned());
    match arg.get_long() {
        Some("category") => return Place::Defined("categories"),
        Some("event") => return Place::Defined("events"),
        Some("span") => return Place::Defined("spans"),
        _ => {}
    }
    match words.collect::<Vec<_>>() {
        // An index is one of an archive, which is a file.
        _ if is_one_of(&["PATH"]) && verb.get_name() == "index" => Place::File,
        // The words of a search end with its text.
        _ if is_one_of(&["PATH", "NAME", "QUERY"]) => Place::Timeline,
        _ if is_one_of(&["EVENT", "EVENTS"]) => Place::Defined("events"),
        _ if is_one_of(&["CHANNEL"]) => Place::Defined("channels"),
        levels if is_one_of(&["RULES"]) => Place::Rules(levels),
        words if words.is_empty() => Place::File,
        words => Place::Words(words),
    }
}

/// The places of a verb behind one another, and whether the last is that of all that follow.
fn places(verb: &Command) -> (Vec<Place>, bool) {
    let is_open = |arg: &Arg| match arg.get_num_args() {
        Some(range) => range.max_values() > 1,
        None => false,
    };
    let of_each = verb.get_positionals();
    let of_each: Vec<_> = of_each
        .map(|arg| (place(verb, arg), is_open(arg) || is_appended(arg)))
        .collect();
    let open = of_each.last().is_some_and(|(_, is_open)| *is_open);
    (of_each.into_iter().map(|(place, _)| place).collect(), open)
}

fn is_appended(arg: &Arg) -> bool {
    matches!(arg.get_action(), clap::ArgAction::Append)
}

/// The options of a verb whose values a program defines, and what these are.
fn defined(verb: &Command) -> impl Iterator<Item = (&Arg, &'static str)> {
    let options = verb.get_opts();
    options.filter_map(|option| match place(verb, option) {
        Place::Defined(what) => Some((option, what)),
        _ => None,
    })
}

/// A place of a verb, counted from 1.
struct VerbPlace<'a> {
    verb: &'a str,
    number: usize,
    /// Whether all that follow are like it.
    is_open: bool,
    place: Place,
}

/// The places of all verbs.
fn all_places(command: &Command) -> Vec<VerbPlace<'_>> {
    let of_verb = |verb| {
        let (places, is_open) = places(verb);
        let count = places.len();
        let numbered = (1..).zip(places);
        numbered.map(move |(number, place)| VerbPlace {
            verb: verb.get_name(),
            number,
            is_open: is_open && number == count,
            place,
        })
    };
    command.get_subcommands().flat_map(of_verb).collect()
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
    let function = include_str!("completions.bash")
        .replace("    OF_OPTIONS\n", &bash_options(command))
        .replace("    OF_PLACES\n", &bash_places(command))
        .replace("LISTS", &lists)
        .replace("GLOBAL", &global)
        .replace("OPTIONS", &options)
        .replace("ASK", ASK);
    let (before, registration) = script.rsplit_once("\nif [[").unwrap_or((script, ""));
    let registration = registration.replace("-F _timeline ", "-F _timeline_with_names ");
    format!("{before}\n{function}\nif [[{registration}")
}

/// What the values of options are, as branches of `case`.
fn bash_options(command: &Command) -> String {
    let verbs = command.get_subcommands();
    let branches = verbs.flat_map(|verb| {
        defined(verb).filter_map(|(option, what)| {
            let (verb, long) = (verb.get_name(), option.get_long()?);
            Some(format!("        {verb},--{long}) what={what} ;;\n"))
        })
    });
    branches.collect()
}

/// What the places of verbs are, as branches of `case`.
fn bash_places(command: &Command) -> String {
    let branches = all_places(command).into_iter().map(|of| {
        let what = match of.place {
            Place::Timeline => "what=timelines".into(),
            Place::File => "what=files".into(),
            Place::Rules(levels) => format!("what=rules list=\"{}\"", levels.join(" ")),
            Place::Words(words) => format!("what=list list=\"{}\"", words.join(" ")),
            Place::Defined(what) => format!("what={what}"),
        };
        let VerbPlace { verb, number, .. } = of;
        let others = if of.is_open {
            format!("|{verb},*")
        } else {
            String::new()
        };
        format!("        {verb},{number}{others}) {what} ;;\n")
    });
    branches.collect()
}

fn zsh(command: &Command, script: &str) -> String {
    let function = include_str!("completions.zsh").replace("ASK", ASK);
    let lists: Vec<_> = lists(command).map(|long| format!("*--{long}=[")).collect();
    let (mut verb, mut is_list): (Option<&Command>, bool) = (None, false);
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
            verb = Some(begun);
        }
        let place = verb.and_then(|verb| zsh_place(verb, line));
        let action = match place {
            Some(Place::Timeline) => ":_timeline_names'".to_owned(),
            Some(Place::Defined(what)) => format!(":_timeline_defined {what}'"),
            _ => return line.to_owned(),
        };
        line.replace(":_files'", &action)
            .replace(":_default'", &action)
    });
    let lines: Vec<_> = lines.collect();
    let script = lines.join("\n") + "\n";
    let (before, registration) = script.rsplit_once("\nif [ ").unwrap_or((&script, ""));
    format!("{before}\n{function}\nif [ {registration}")
}

/// What stands in the place of the argument that a line of the script is about.
fn zsh_place(verb: &Command, line: &str) -> Option<Place> {
    let line = line.strip_prefix('\'')?.trim_start_matches([':', '*']);
    let arg = match line.strip_prefix("--") {
        Some(option) => {
            let (long, _) = option.split_once('=')?;
            verb.get_opts().find(|arg| arg.get_long() == Some(long))
        }
        None => {
            let (id, _) = line.split_once(" -- ")?;
            verb.get_positionals().find(|arg| arg.get_id() == id)
        }
    };
    arg.map(|arg| place(verb, arg))
}

fn fish(command: &Command, script: &str) -> String {
    let options: Vec<_> = options(command).into_iter().collect();
    let function = include_str!("completions.fish").replace("OPTIONS", &options.join(" "));
    // That of clap wants to know that no `help` was seen behind `help`.
    let seen = "__fish_timeline_using_subcommand help; and not __fish_seen_subcommand_from";
    let lines = script.lines().map(|line| match line.contains(seen) {
        true => line.replacen(" help\" ", "\" ", 1) + "\n",
        false => format!("{line}\n"),
    });
    let mut script: String = lines.collect();
    script += &function;
    script.extend(command.get_subcommands().map(fish_lists));
    for of in all_places(command) {
        let what = match &of.place {
            Place::Timeline => format!("-f -a \"({ASK} | string split0)\" -d Timeline"),
            Place::File => continue,
            Place::Rules(words) | Place::Words(words) => format!("-f -a '{}'", words.join(" ")),
            Place::Defined(what) => format!("-f -a '(__fish_timeline_defined {what})'"),
        };
        let VerbPlace { verb, number, .. } = of;
        let others = if of.is_open { " on" } else { "" };
        let at = format!("__fish_timeline_at {verb} {number}{others}");
        script += &format!("complete -c timeline -n \"{at}\" {what}\n");
        if of.place == Place::Timeline {
            let files = "-f -a '(__fish_timeline_files)'";
            script += &format!("complete -c timeline -n \"{at}\" {files}\n");
        }
    }
    for verb in command.get_subcommands() {
        for (option, what) in defined(verb) {
            let (verb, long) = (verb.get_name(), option.get_long().unwrap_or_default());
            script += &format!(
                "complete -c timeline -n \"__fish_timeline_using_subcommand {verb}\" -l {long} -r \
                 -f -a '(__fish_timeline_defined {what})'\n"
            );
        }
    }
    script
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
