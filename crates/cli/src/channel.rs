//! `timeline channel`: shows or switches the channels of a timeline.

use std::path::Path;

use clap::ValueEnum;
use timeline::Attached;
use timeline::internal::Unknown;

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::{Align, Cell, Count, agree, table};
use crate::misspelt::Later;
use crate::output;
use crate::target::Target;
use crate::trust::TrustArgs;
use crate::verb::Verb;

/// Show the channels of a timeline, or switch one on or off
///
/// An event may belong to channels, besides its priority. It is logged only while all of them are
/// on. A channel is off until somebody switches it on, unless its definition says
/// on. Switching takes
/// effect at once, in every process that writes to the timeline. A channel need not be defined:
/// events that are defined later follow. TIMELINE=itv,bbc:packet in the environment of a program
/// switches channels on when it starts, or when it defines events of them, and sets rules behind
/// the colon; see `timeline help priority`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Channel to switch
    #[arg(value_name = "CHANNEL")]
    channel: Option<String>,

    /// Whether it is to be on
    #[arg(value_name = "STATE")]
    state: Option<State>,

    #[command(flatten)]
    later: Later,

    #[command(flatten)]
    trusted: TrustArgs,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum State {
    On,
    Off,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("Which channels are there?", "timeline channel /timeline"),
    (
        "Log the events of the channel itv",
        "timeline channel /timeline itv on",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    // The timeline. If there is only one, its name may be left out.
    fn target(&mut self) -> Option<&mut Target> {
        let state = self.channel.as_ref().filter(|_| self.state.is_none());
        let state = state.and_then(|word| State::from_str(word, false).ok());
        let is_channel = |word: &str| !word.starts_with('/') && !Path::new(word).exists();
        if state.is_some()
            && let Some(word) = self.target.take_if(is_channel)
        {
            self.channel = Some(word);
            self.state = state;
        }
        Some(&mut self.target)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    match (&args.channel, args.state) {
        (Some(channel), Some(state)) => switch(args, channel, state == State::On),
        (Some(channel), None) => {
            let message = format!("expected `on` or `off` behind the channel {channel}");
            Err(Failure::misuse(message))
        }
        (None, _) => show(&args.target.attach()?),
    }
}

fn switch(args: &Args, channel: &str, on: bool) -> Result {
    let control = args.target.control(&args.trusted)?;
    let before = args.target.attach()?.info().channels;
    let names = before.into_iter().map(|channel| channel.name).collect();
    let unknown = Unknown::of("channel", channel, &names);
    args.later.refuse(unknown.as_slice())?;
    control.channel(channel, on).map_err(|error| match error {
        timeline::Error::BadChannel { .. } => Failure::misuse(error.to_string()),
        _ => error.into(),
    })?;
    output::say(format_args!(
        "{}: channel {channel} is {}",
        args.target.path().display(),
        word(on)
    ));
    let at = args.target.attach()?;
    if count(&at, channel) == 0 {
        let none = match at.definitions().count() as u64 {
            0 => "no event is defined so far".into(),
            1 => "the only event defined so far is not in this channel".into(),
            events => format!(
                "none of the {} events defined so far is in this channel (`timeline events` prints \
                 them)",
                Count(events)
            ),
        };
        let used = at.info().channels.len() as u64;
        let are = agree(used, "is", "are");
        output::say(format_args!(
            "{none}; it waits for events that are defined later. {used} of 64 channels {are} used"
        ));
    }
    Ok(())
}

/// How many definitions belong to a channel.
fn count(at: &Attached, channel: &str) -> usize {
    let belongs = |text: &str| text.split('|').any(|name| name == channel);
    at.definitions().filter(|d| belongs(&d.channels)).count()
}

/// The state of a channel.
pub fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn show(at: &Attached) -> Result {
    let channels = at.info().channels;
    if channels.is_empty() {
        output::say("no event has a channel, and none was switched");
        return Ok(());
    }
    let (mut out, theme) = (output::stdout(), output::theme());
    let rows: Vec<_> = channels
        .iter()
        .map(|channel| {
            let by = if channel.switched {
                "switched"
            } else {
                "definition"
            };
            vec![
                Cell::new(theme.name, &channel.name),
                word(channel.on).to_owned().into(),
                by.to_owned().into(),
                Count(count(at, &channel.name) as u64).to_string().into(),
            ]
        })
        .collect();
    let columns = [
        ("CHANNEL", Align::Left),
        ("STATE", Align::Left),
        ("BY", Align::Left),
        ("EVENTS", Align::Right),
    ];
    table(&mut out, theme.bold, &columns, &rows)?;
    std::io::Write::flush(&mut out)?;
    Ok(())
}
