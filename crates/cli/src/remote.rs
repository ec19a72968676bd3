//! `timeline remote`: asks the agent of another machine.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};
use timeline::dump::printable;
use timeline_client::{Client, ClientOptions, place_of};
use timeline_net::{AGENT_PORT, to_connect_to};

use crate::access::{Access, token_for};
use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::Count;
use crate::output;
use crate::output_file::{OutputFile, Readers};
use crate::record::{parse_file_size, parse_label};
use crate::remote_list;
use crate::time::parse_duration;
use crate::verb::Verb;

/// Look at and control the timelines of another machine, where `timeline agent` runs
///
/// VERB and the words behind it are those of this command on that machine:
///
///   list                            the timelines that there are
///   priority NAME [RULES]           show or set which events are logged
///   enable NAME EVENTS…             enable events by name
///   disable NAME EVENTS…            disable them
///   channel NAME [CHANNEL on|off]   show channels, or switch one
///   sample NAME                     raise the level in bursts: --level, --for, …
///   save NAME FILE                  copy the timeline to a file here
///   record NAME                     record it there: --file in the agent's directory, or --to
///   recordings                      what is being recorded
///   stop NUMBER                     end a recording
///   watch NAME                      print the moments at which a condition is met: --when
///
/// All verbs that read take store://HOST:1985/NAME as PATH.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The machine, with the port of the agent if it is not 1985
    #[arg(value_name = "HOST[:PORT]", value_parser = |text: &str| to_connect_to(text, AGENT_PORT))]
    host: String,

    /// What to do
    #[arg(value_name = "VERB", value_enum)]
    verb: RemoteVerb,

    /// A timeline (/timeline), and what is to be done with it
    #[arg(value_name = "WORD")]
    about: Vec<String>,

    /// With enable, disable, priority and channel: names that are like others are of events that
    /// are defined later
    #[arg(long)]
    later: bool,

    /// With sample: the level of the bursts
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,

    /// With sample: how long a burst is (100us)
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    length: Option<Duration>,

    /// With sample: how often there is one (10ms)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    every: Option<Duration>,

    /// With sample: how long all of it lasts (5s); an hour at most
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,

    /// With record: the file, below the directory of the agent; with / at the end a directory of
    /// numbered files
    #[arg(long, value_name = "NAME", conflicts_with = "to")]
    file: Option<String>,

    /// With record: the store, as the agent reaches it
    #[arg(long, value_name = "HOST[:PORT]")]
    to: Option<String>,

    /// With record --file: begin a new file before one becomes larger than this (64M)
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    rotate_size: Option<u64>,

    /// With record --file: remove the oldest files when all are larger than this
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    keep_size: Option<u64>,

    /// With record --to: something that the store keeps with it, such as service=db
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_label)]
    label: Vec<(String, String)>,

    /// With watch: the condition to wait for, as `timeline help watch` says. Of several, any is
    /// enough
    #[arg(long, value_name = "CONDITION")]
    when: Vec<String>,

    /// With watch: stop after N firings
    #[arg(short = 'n', long, value_name = "N")]
    max_firings: Option<u64>,

    /// With watch: ignore others of the same condition for this time after a firing (10s)
    #[arg(long, value_name = "TIME")]
    cooldown: Option<String>,

    /// Print JSON, as the agent answers
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    access: Access,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RemoteVerb {
    List,
    Priority,
    Enable,
    Disable,
    Channel,
    Sample,
    Save,
    Record,
    Recordings,
    Stop,
    Watch,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "The timelines of another machine",
        "timeline remote db1 list",
    ),
    (
        "Log packets as well, and look at them",
        "timeline remote db1 priority /timeline packet",
    ),
    (
        "Have all of it recorded in a store",
        "timeline remote db1 record /timeline --to store1",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

/// Which events of a timeline are logged.
#[derive(Deserialize)]
struct RemoteControl {
    level: String,
    channels: Vec<RemoteChannel>,
}

#[derive(Deserialize)]
struct RemoteChannel {
    name: String,
    on: bool,
}

#[derive(Deserialize)]
struct RemoteRecording {
    number: u64,
    timeline: String,
    file: Option<String>,
    store: Option<String>,
    automatic: bool,
    state: String,
    events: u64,
    missed: u64,
    trouble: Option<String>,
}

#[derive(Deserialize)]
struct RemoteRecordings {
    recordings: Vec<RemoteRecording>,
}

/// The words, as many as the verb needs.
impl Args {
    fn name(&self) -> Result<&str> {
        match self.about.first() {
            Some(name) => Ok(name),
            None => Err(self.misuse("the NAME of a timeline is missing, such as /timeline")),
        }
    }

    fn misuse(&self, what: &str) -> Failure {
        Failure::misuse(format!("{what}; `timeline help remote` shows the words"))
    }

    /// The words behind the name, so many at most.
    fn rest(&self, most: usize) -> Result<&[String]> {
        let rest = self.about.get(1..).unwrap_or_default();
        match rest.get(most) {
            Some(word) => Err(self.misuse(&format!("unexpected word {word}"))),
            None => Ok(rest),
        }
    }

    /// The place of a timeline's part.
    fn place(&self, part: &str) -> Result<String> {
        Ok(format!("logs/{}/{part}", place_of(self.name()?)))
    }
}

fn run(args: &Args) -> Result {
    let client = Client::new(ClientOptions {
        address: args.host.clone(),
        trust: args.access.trust()?,
        token: token_for(&args.host, args.access.token_file())?,
    });
    match args.verb {
        RemoteVerb::List => remote_list::show(&client, args.json),
        RemoteVerb::Priority => match args.rest(1)? {
            [] => show(args, client.get(&args.place("control")?, &[])),
            rules => switch(args, &client, rules.to_vec()),
        },
        RemoteVerb::Enable => switch(args, &client, by_name(args, '+')?),
        RemoteVerb::Disable => switch(args, &client, by_name(args, '-')?),
        RemoteVerb::Channel => channel(args, &client),
        RemoteVerb::Sample => sample(args, &client),
        RemoteVerb::Save => save(args, &client),
        RemoteVerb::Record => record(args, &client),
        RemoteVerb::Recordings => recordings(args, &client),
        RemoteVerb::Stop => stop(args, &client),
        RemoteVerb::Watch => watch(args, &client),
    }
}

fn told(error: timeline_client::Error) -> Failure {
    // The agent speaks of its requests, and this of its options.
    let message = error.to_string();
    Failure::Message(message.replace("add \"later\": true", "add --later"))
}

/// Prints which events are logged.
fn show(args: &Args, control: timeline_client::Result<Value>) -> Result {
    let control = control.map_err(told)?;
    let mut out = output::stdout();
    match args.json {
        true => writeln!(out, "{control}")?,
        false => {
            let level = control["level"].as_str().unwrap_or_default();
            writeln!(out, "{}", printable(level))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Rules for the events of these names.
fn by_name(args: &Args, sign: char) -> Result<Vec<String>> {
    let names = args.rest(usize::MAX - 1)?;
    match names {
        [] => Err(args.misuse("the names of EVENTS are missing, such as 'engine.*'")),
        names => Ok(names.iter().map(|name| format!("{sign}{name}")).collect()),
    }
}

fn switch(args: &Args, client: &Client, rules: Vec<String>) -> Result {
    let asked = json!({ "rules": rules.join(","), "later": args.later });
    let now: RemoteControl = client.post(&args.place("rules")?, &asked).map_err(told)?;
    let (name, host) = (printable(args.name()?), &args.host);
    output::say(format_args!(
        "{name} of {host}: level {}",
        printable(&now.level)
    ));
    Ok(())
}

fn channel(args: &Args, client: &Client) -> Result {
    let now: RemoteControl = match args.rest(2)? {
        [] => {
            let control = client.get(&args.place("control")?, &[]);
            let control: RemoteControl = control.map_err(told)?;
            let mut out = output::stdout();
            for RemoteChannel { name, on } in &control.channels {
                writeln!(out, "{}  {}", printable(name), word(*on))?;
            }
            out.flush()?;
            return Ok(());
        }
        [name, state] if state == "on" || state == "off" => {
            let asked = json!({ "name": name, "on": state == "on", "later": args.later });
            client
                .post(&args.place("channels")?, &asked)
                .map_err(told)?
        }
        _ => return Err(args.misuse("expected a CHANNEL, and on or off behind it")),
    };
    let changed = now
        .channels
        .iter()
        .find(|one| Some(&one.name) == args.about.get(1));
    if let Some(RemoteChannel { name, on }) = changed {
        let (of, host) = (printable(args.name()?), &args.host);
        output::say(format_args!(
            "{of} of {host}: channel {name} is {}",
            word(*on)
        ));
    }
    Ok(())
}

fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn sample(args: &Args, client: &Client) -> Result {
    args.rest(0)?;
    let missing = || args.misuse("sample needs --level, --for, --every and --duration");
    let nanos = |time: Option<Duration>| {
        let nanos = time.and_then(|time| u64::try_from(time.as_nanos()).ok());
        nanos.ok_or_else(missing)
    };
    let asked = json!({
        "level": args.level.as_ref().ok_or_else(missing)?,
        "for_ns": nanos(args.length)?,
        "every_ns": nanos(args.every)?,
        "duration_ns": nanos(args.duration)?,
    });
    let _: Value = client.post(&args.place("sample")?, &asked).map_err(told)?;
    let (name, host) = (printable(args.name()?), &args.host);
    output::say(format_args!(
        "{name} of {host}: sampling has begun, and ends by itself"
    ));
    Ok(())
}

fn save(args: &Args, client: &Client) -> Result {
    let [file] = args.rest(1)? else {
        return Err(args.misuse("the FILE to write is missing"));
    };
    let bytes = client.post_for_bytes(&args.place("snapshot")?, &json!({}));
    let mut bytes = bytes.map_err(told)?;
    if file == "-" {
        return bytes.copy(&mut output::stdout(), |_| true).map_err(told);
    }
    let out = OutputFile::begin(Path::new(file), Readers::Owner)?;
    bytes.copy(&mut out.file(), |_| true).map_err(told)?;
    out.finish()?;
    let (name, host) = (printable(args.name()?), &args.host);
    output::say(format_args!("saved {name} of {host} to {file}"));
    Ok(())
}

fn record(args: &Args, client: &Client) -> Result {
    args.rest(0)?;
    if args.file.is_none() && args.to.is_none() {
        return Err(args.misuse("record needs --file NAME or --to STORE"));
    }
    let labels: BTreeMap<_, _> = args.label.iter().cloned().collect();
    let asked = json!({
        "timeline": args.name()?,
        "file": args.file,
        "store": args.to,
        "rotate_size": args.rotate_size,
        "keep_size": args.keep_size,
        "labels": labels,
    });
    print(args, client.post("recordings", &asked))
}

fn recordings(args: &Args, client: &Client) -> Result {
    if args.json {
        return print(args, client.get("recordings", &[]));
    }
    let all: RemoteRecordings = client.get("recordings", &[]).map_err(told)?;
    let mut out = output::stdout();
    for one in &all.recordings {
        line(one, &mut out)?;
    }
    out.flush()?;
    if all.recordings.is_empty() {
        output::say(format_args!("{} records nothing", args.host));
    }
    Ok(())
}

/// Prints what fires, as it comes.
fn watch(args: &Args, client: &Client) -> Result {
    args.rest(0)?;
    if args.when.is_empty() {
        return Err(args.misuse("watch needs --when CONDITION"));
    }
    let asked = json!({
        "when": args.when,
        "max_firings": args.max_firings,
        "cooldown": args.cooldown,
        "duration_ns": args.duration.map(|time| time.as_nanos() as u64),
        "json": args.json,
    });
    let mut fired = client
        .post_for_bytes(&args.place("watch")?, &asked)
        .map_err(told)?;
    let mut out = output::stdout();
    fired.copy(&mut out, |_| true).map_err(|error| match error {
        timeline_client::Error::Output { reason, .. } => reason.into(),
        other => told(other),
    })
}

fn stop(args: &Args, client: &Client) -> Result {
    args.rest(0)?;
    let number = args.about.first().and_then(|word| word.parse::<u64>().ok());
    let number = number.ok_or_else(|| {
        args.misuse("the NUMBER of a recording is missing; `recordings` shows them")
    })?;
    print(args, client.delete(&format!("recordings/{number}")))
}

/// Prints a recording.
fn print(args: &Args, answer: timeline_client::Result<Value>) -> Result {
    let answer = answer.map_err(told)?;
    let mut out = output::stdout();
    match args.json {
        true => writeln!(out, "{answer}")?,
        false => {
            let recording = RemoteRecording::deserialize(answer);
            let recording = recording.map_err(|error| {
                let host = &args.host;
                Failure::Message(format!("expected a recording from {host}: {error}"))
            })?;
            line(&recording, &mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn line(one: &RemoteRecording, out: &mut impl Write) -> Result {
    let to = one.file.as_ref().or(one.store.as_ref());
    write!(
        out,
        "{}  {}  {}  to {}  {} events, {} missed",
        one.number,
        printable(&one.timeline),
        one.state,
        printable(to.map_or("", |to| to)),
        Count(one.events),
        Count(one.missed)
    )?;
    if one.automatic {
        write!(out, "  by itself")?;
    }
    if let Some(trouble) = &one.trouble {
        write!(out, "  ({})", printable(trouble))?;
    }
    writeln!(out)?;
    Ok(())
}
