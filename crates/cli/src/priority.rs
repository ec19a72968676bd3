//! `timeline priority`, `enable` and `disable`: show or set which events are logged.

use std::io::Write;
use std::path::Path;

use timeline::{Attached, Control, Definition, Error, Level, Rules};
use timeline_reading::unknown_in;

use crate::args::{self, Example};
use crate::failure::{Failure, Result};
use crate::format::things;
use crate::info;
use crate::misspelt::{Later, without_category};
use crate::output;
use crate::target::{Target, meant};
use crate::trust::TrustArgs;
use crate::verb::Verb;

/// Show or set the level: which events a program logs
///
/// The priorities are, from the fewest events to the most: error, warning, info, trace, app,
/// packet, library. A level enables the events of its own priority and of those before it; `all`
/// enables all events, and `none` disables all. A new level takes effect at once, in every process
/// that writes to the timeline, also for events that are defined later.
///
/// Rules may follow the level, with commas between: engine=packet is the level of the category
/// engine, +engine.got_* enables the events of these names, -engine.* disables them. In categories
/// and names, * is any text and ? is any character. Each event follows the last rule that speaks of
/// it. Rules without a level are added to those in force; a level ends those. A category or an
/// event may be defined later; a name that is like an existing one then needs --later.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Level to set, or rules such as info,engine=packet. Without it, those in force are printed
    #[arg(value_name = "RULES", value_parser = args::RulesParser, allow_hyphen_values = true)]
    rules: Option<Rules>,

    /// Why the only word that was given is no level, which it is like.
    #[arg(skip)]
    misspelt: Option<Error>,

    #[command(flatten)]
    later: Later,

    #[command(flatten)]
    trusted: TrustArgs,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("Which events are logged?", "timeline priority /timeline"),
    ("Log everything", "timeline priority /timeline all"),
    (
        "Errors, warnings and infos, and all of the engine down to packets",
        "timeline priority /timeline info,engine=packet",
    ),
];

/// Enable events by name, whatever their priority
///
/// The name of an event is its category and the words of its message up to the first argument:
/// engine.got_packet for "got packet $len". `timeline events` prints all names. The events stay
/// enabled, also those that are defined later, until a later rule speaks of them; see `timeline
/// help priority`.
#[derive(clap::Args)]
pub struct EnableArgs {
    #[command(flatten)]
    pub names: EventNames,
}

/// Disable events by name, whatever their priority
///
/// The names are those of `timeline enable`. The events stay disabled, also those that are defined
/// later, until a later rule speaks of them; see `timeline help priority`.
#[derive(clap::Args)]
pub struct DisableArgs {
    #[command(flatten)]
    pub names: EventNames,
}

/// The events that `enable` and `disable` speak of.
#[derive(clap::Args)]
pub struct EventNames {
    #[command(flatten)]
    target: Target,

    /// Names of events, in which * is any text and ? is any character
    #[arg(value_name = "EVENTS")]
    events: Vec<String>,

    /// Whether the only word that was given may have been meant for PATH.
    #[arg(skip)]
    may_be_path: bool,

    #[command(flatten)]
    later: Later,

    #[command(flatten)]
    trusted: TrustArgs,
}

/// Shown by `--help`.
const ENABLE_EXAMPLES: &[Example] = &[
    (
        "Log all events of the engine",
        "timeline enable /timeline 'engine.*'",
    ),
    (
        "Log one event besides what the level allows",
        "timeline enable /timeline net.sent",
    ),
];

/// Shown by `--help`.
const DISABLE_EXAMPLES: &[Example] = &[
    (
        "Log no idle events of any category",
        "timeline disable /timeline '*.idle_*'",
    ),
    (
        "Log nothing of two categories",
        "timeline disable /timeline 'net.*' 'engine.*'",
    ),
];

impl EventNames {
    /// The timeline. If there is only one, its name may be left out.
    pub fn target(&mut self) -> &mut Target {
        let is_glob = |word: &str| {
            !word.starts_with('/') && Rules::events(word, true).is_ok() && !Path::new(word).exists()
        };
        if self.events.is_empty()
            && let Some(word) = self.target.take_if(is_glob)
        {
            self.events.push(word);
            self.may_be_path = true;
        }
        &mut self.target
    }

    /// Whether the names are patterns, or those of events that are defined.
    fn is_known(&self, at: &Attached) -> bool {
        let is_pattern = |name: &String| name.contains(['*', '?']);
        let names: Vec<String> = at.definitions().map(|one| one.name()).collect();
        let mut wanted = self.events.iter();
        wanted.all(|name| is_pattern(name) || names.contains(name))
    }
}

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    // The timeline. If only rules are given, they are for the only timeline there is.
    fn target(&mut self) -> Option<&mut Target> {
        let are_rules = |word: &str| word.parse::<Rules>().is_ok();
        // A level that is misspelt is no name of a timeline either, unless it is one.
        let is_level = |word: &str| {
            let is_path = word.contains('/') || Path::new(word).exists();
            Level::meant_by(word).is_some() && !is_path && meant(Path::new(word)).is_none()
        };
        if self.rules.is_none()
            && let Some(word) = self
                .target
                .take_if(|word| are_rules(word) || is_level(word))
        {
            match word.parse() {
                Ok(rules) => self.rules = Some(rules),
                Err(error) => self.misspelt = Some(error),
            }
        }
        self.misspelt.is_none().then_some(&mut self.target)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if let Some(error) = &args.misspelt {
        return Err(Failure::misuse(error.to_string()));
    }
    let Some(rules) = &args.rules else {
        return show(args);
    };
    let control = args.target.control(&args.trusted)?;
    switch(&args.target, &control, rules, &args.later).map(|_| ())
}

fn show(args: &Args) -> Result {
    let info = args.target.attach()?.info();
    let mut out = output::stdout();
    writeln!(out, "{}", info.rules)?;
    out.flush()?;
    if info.boost != Level::NONE {
        output::say(info::level(&info));
    }
    Ok(())
}

/// Puts rules in force. Returns whether it was told that some wait for events.
fn switch(target: &Target, control: &Control, rules: &Rules, later: &Later) -> Result<bool> {
    let unknown = unknown_in(rules, &target.attach()?);
    later.refuse(&unknown)?;
    let before = control.rules();
    control.switch(rules)?;
    output::say(format_args!(
        "{}: level {}, was {before}",
        control.path().display(),
        control.rules()
    ));
    let is_by_name = rules.words().all(|word| word.starts_with(['+', '-']));
    let told = unknown.iter().filter(|one| one.has_near() || !is_by_name);
    for one in told.clone() {
        let until = "the rule waits for events that are defined later";
        output::say(format_args!("{one}; {until}"));
    }
    Ok(told.count() > 0)
}

impl Verb for EnableArgs {
    fn examples() -> &'static [Example] {
        ENABLE_EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(self.names.target())
    }

    fn run(&self) -> Result {
        by_name(&self.names, true)
    }
}

impl Verb for DisableArgs {
    fn examples() -> &'static [Example] {
        DISABLE_EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(self.names.target())
    }

    fn run(&self) -> Result {
        by_name(&self.names, false)
    }
}

fn by_name(names: &EventNames, on: bool) -> Result {
    if names.events.is_empty() {
        let message = "the names of EVENTS are missing, such as 'engine.*'";
        return Err(Failure::misuse(message));
    }
    if let Some(level) = names
        .events
        .iter()
        .find(|word| word.parse::<Level>().is_ok())
    {
        let message = format!(
            "expected names of events, which have a dot, and {level} is a level; `timeline \
             priority {level}` sets that"
        );
        return Err(Failure::misuse(message));
    }
    let mut rules = Rules::default();
    for glob in &names.events {
        let rule = Rules::events(glob, on).map_err(|error| {
            // It only lacks a part with a dot.
            let is_word = Rules::events(&format!("{glob}.*"), on).is_ok();
            match names.target.attach() {
                Ok(at) if is_word => Failure::misuse(without_category(glob, &at)),
                _ => Failure::misuse(error.to_string()),
            }
        });
        rules.add(&rule?);
    }
    let control = names.target.control(&names.trusted)?;
    let at = names.target.attach()?;
    if names.may_be_path && !names.is_known(&at) {
        let word = names.events.join(" ");
        let message = format!(
            "{word} is neither a timeline nor an event that is defined so far; name the PATH \
             as well if it is one that comes later"
        );
        return Err(Failure::misuse(message));
    }
    let is_told = switch(&names.target, &control, &rules, &names.later)?;
    let concerns = |definition: &&Definition| rules.speak_of(definition);
    if !is_told && at.definitions().filter(concerns).count() == 0 {
        let defined = things(at.definitions().count() as u64, "event");
        output::say(format_args!(
            "none of the {defined} defined so far has such a name (`timeline events` prints them); \
             the rule waits for events that are defined later"
        ));
    }
    Ok(())
}
