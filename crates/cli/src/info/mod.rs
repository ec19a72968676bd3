//! `timeline info`: shows everything that is known about one timeline or archive.
//!
//! object.rs has the facts about a timeline, for people and for programs; processes.rs, rules.rs
//! and steps.rs are parts of them, and archive.rs has those of an archive.

mod archive;
mod object;
mod processes;
mod rules;
mod steps;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use timeline::internal::DEFAULT_ENTRIES;
use timeline::{Bound, ClockKind, ClockReason, Info, Level, WriterProcess};
use timeline_reading::json::write_line;
use timeline_reading::{Extent, Holder, unmatched};

use crate::args::Example;
use crate::channel;
use crate::failure::{Failure, Result};
use crate::fetch::Excerpt;
use crate::format::{self, Bytes, Count, MetricNumber, things};
use crate::output::{self, TextLine};
use crate::recovery::Executables;
use crate::style::Theme;
use crate::target::Target;
use crate::time::{self, HumanDuration, TimeFormat, WallClock};
use crate::verb::Verb;
pub use object::object;
use object::{complete_part, is_known, since_known};

/// Show size, level, clock, writers and dropped events of timelines
///
/// For an archive, it shows the size, the time span, the programs, and the entries that were missed
/// or damaged. Of several PATHs, all that can be read are shown.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// More of them
    #[arg(value_name = "PATH")]
    others: Vec<PathBuf>,

    /// Print one JSON object, for each PATH a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Writers, fill and time span of /timeline",
        "timeline info /timeline",
    ),
    (
        "Events that were dropped, by cause",
        "timeline info snapshot.timeline --json | jq .dropped",
    ),
    (
        "Contents and programs of an archive",
        "timeline info flight.tla",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let others = args.others.iter().cloned().map(Target::named);
    let others: Vec<_> = others.collect();
    let (mut shown, mut last) = (0, None);
    for target in [&args.target].into_iter().chain(&others) {
        match show(target, args.json, shown > 0) {
            Ok(()) => shown += 1,
            Err(failure) => {
                if let Some(Failure::Message(message)) = last.replace(failure) {
                    output::say(message);
                }
            }
        }
    }
    last.map_or(Ok(()), Err)
}

/// Shows one of them. `follows`: whether it stands behind another one.
fn show(target: &Target, as_json: bool, follows: bool) -> Result {
    let path = target.path().display().to_string();
    let log = target.open_wanted(Extent::Whole, &Excerpt::Growing)?;
    let (object, kind, lines) = match log.holder() {
        Holder::Ring(at) => {
            let info = at.info();
            at.intact()?;
            let has_writer = info.writers.iter().any(|writer| writer.alive);
            let kind = match (info.snapshot, has_writer) {
                (true, _) => "snapshot",
                (false, true) => "live",
                (false, false) => "no writer",
            };
            let forgotten = at.forgotten();
            let mut object = object(&path, &info);
            object["threads"] = info.threads.into();
            object["threads_remembered"] = info.thread_capacity.into();
            object["events_of_forgotten_threads"] = forgotten.into();
            let unmatched = unmatched(&info.rules, &**at);
            object["rules_without_events"] = rules::objects(&unmatched);
            let processes = processes::of_ring(at);
            object["processes"] = processes::objects(&processes).into();
            let mut lines = lines(&info, forgotten, &output::theme());
            let told = unmatched.iter().map(rules::line);
            lines.splice(1..1, told.map(|rule| ("rule", rule.into())));
            let told = processes.iter().map(processes::line);
            lines.extend(told.map(|process| ("process", process.into())));
            (object, kind, lines)
        }
        Holder::Archive(found) => {
            let found = archive::ArchiveFacts::of(found);
            let lines = found.lines().into_iter();
            let lines = lines.map(|(label, text)| (label, text.into())).collect();
            (found.object(&path), "archive", lines)
        }
    };
    let mut out = output::stdout();
    if as_json {
        write_line(&object, &mut out)?;
    } else {
        if follows {
            writeln!(out)?;
        }
        let theme = output::theme();
        let title = TextLine::new().styled(theme.name, path);
        title.text("  ").text(kind).write(&mut out)?;
        for (label, text) in lines {
            let line = TextLine::from("  ").styled(theme.bold, format_args!("{label:<12}"));
            line.text(" ").then(&text).write(&mut out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn lines(info: &Info, forgotten: u64, theme: &Theme) -> Vec<(&'static str, TextLine)> {
    let mut lines = vec![
        ("level", level(info).into()),
        ("channels", channels(info).into()),
        ("entries", entries(info).into()),
        ("important", important(info).into()),
        ("complete", complete(info).into()),
        ("reach", reach(info).into()),
        ("dropped", dropped(info, theme)),
        ("writers", writers(info, theme)),
        ("threads", threads(info, forgotten, theme)),
        ("created", created(info).into()),
        ("clock", clock(info).into()),
    ];
    let steps = info.steps.iter().map(steps::line);
    lines.extend(steps.map(|line| ("clock set", line.into())));
    lines.extend([
        ("ring", ring(info).into()),
        ("lanes", lanes(info).into()),
        ("definitions", definitions(info).into()),
        ("interned", interned(info).into()),
        ("boot", boot(info).into()),
        ("format", format(info).into()),
    ]);
    lines
}

fn format(info: &Info) -> String {
    let (major, minor) = info.version;
    format!("{major}.{minor}, {}", Bytes(info.size))
}

/// The level with all rules, and the level that a sampler sets at the moment.
pub fn level(info: &Info) -> String {
    match info.boost {
        Level::NONE => info.rules.to_string(),
        boost if info.boost_is_stale => format!(
            "{} (a sampler that was killed left it at {boost})",
            info.rules
        ),
        boost => format!("{} (sampled up to {boost})", info.rules),
    }
}

/// The level, and how many rules follow it.
pub fn level_in_short(info: &Info) -> String {
    match info.rules.words().count() as u64 {
        0 => level(info),
        rules => format!("{} and {}", info.level, things(rules, "rule")),
    }
}

/// The channels as `itv on, bbc off`.
fn channels(info: &Info) -> String {
    let channels = info.channels.iter();
    let shown: Vec<_> = channels
        .map(|channel| format!("{} {}", channel.name, channel::word(channel.on)))
        .collect();
    match shown.is_empty() {
        true => "none".into(),
        false => shown.join(", "),
    }
}

/// A writer as `name (pid)`.
pub fn writer(writer: &WriterProcess) -> String {
    format!("{} ({})", writer.name, writer.pid)
}

/// The creator of the timeline, as `name (pid)`.
pub fn creator(info: &Info) -> String {
    let name = info.creator_exe.rsplit('/').next().unwrap_or_default();
    format!("{name} ({})", info.creator_pid)
}

/// The numbers of entries in the ring: an event with a payload takes several.
fn entries(info: &Info) -> String {
    format!(
        "{} written, {} held ({} of {})",
        Count(info.entries_written),
        Count(info.entries_held),
        format::percent(info.entries_held, info.entries),
        Count(info.entries),
    )
}

/// The entries that important events take, apart from the ring.
fn important(info: &Info) -> String {
    let (used, capacity) = (info.important_used.into(), info.important_capacity.into());
    format!("{} of {} held", Count(used), things(capacity, "entry"))
}

/// The time since which nothing is missing, and how many entries are older.
fn complete(info: &Info) -> String {
    let Some(since) = info.complete_since else {
        return "from the first event on".into();
    };
    let older = match info.entries_older {
        0 => String::new(),
        1 => "; 1 entry is older, and others of its time are missing".into(),
        older => format!(
            "; {} entries are older, and others of their time are missing",
            Count(older)
        ),
    };
    if info.newest_ticks.is_none_or(|newest| newest < since) {
        return format!("never{older}");
    }
    let mut clock = WallClock::new(TimeFormat::DateTime);
    match since_known(info) {
        Some(nanos) => format!("since {}{older}", clock.format(nanos)),
        None => format!("since {since} ticks{older}"),
    }
}

fn reach(info: &Info) -> String {
    let Some((reach, held)) = complete_part(info) else {
        return match info.entries_held {
            0 => "no events yet".into(),
            _ => "no time without a gap".into(),
        };
    };
    let rate = held as f64 / reach.as_secs_f64();
    let rate = match rate.is_finite() {
        true => format!(", {} on average", format::rate(rate, "entry")),
        false => String::new(),
    };
    let from = match info.complete_since {
        None => "from the oldest to the newest event",
        Some(_) => "without a gap up to the newest event",
    };
    format!("{} {from}{rate}", HumanDuration(reach))
}

fn dropped(info: &Info, theme: &Theme) -> TextLine {
    let dropped = &info.dropped;
    if dropped.total() == 0 {
        return TextLine::new().styled(theme.good, "nothing");
    }
    let causes = [
        (
            dropped.interrupted,
            "by signal handlers that interrupted a log call",
        ),
        (dropped.no_lane, "because no lane was free"),
        (
            dropped.not_joined,
            "because their process or thread could not join",
        ),
        (dropped.no_chunk, "because no chunk was free"),
        (dropped.bad_event, "with an event number out of range"),
        (
            dropped.undefined,
            "by statements that could not be defined at that time",
        ),
        (
            dropped.important,
            "because there was no room for more important events",
        ),
        (
            dropped.refused,
            "by statements whose definition was refused (events of the category timeline say why)",
        ),
        (
            dropped.closed,
            "by threads that went on after their program had closed the timeline",
        ),
    ];
    let causes: Vec<_> = causes
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} {why}", Count(*count)))
        .collect();
    let total = TextLine::new().styled(theme.bad, things(dropped.total(), "event"));
    total.text(": ").text(causes.join(", "))
}

fn writers(info: &Info, theme: &Theme) -> TextLine {
    let mut names = TextLine::from(if info.writers.is_empty() { "none" } else { "" });
    for (number, each) in info.writers.iter().enumerate() {
        names = names.text(if number > 0 { ", " } else { "" });
        names = match each.alive {
            true => names.styled(theme.good, writer(each)),
            false => names.styled(theme.dim, writer(each) + ", gone"),
        };
    }
    names
}

/// How many threads have logged, and how many events are of those that are forgotten.
fn threads(info: &Info, forgotten: u64, theme: &Theme) -> TextLine {
    let kept = Count(info.thread_capacity.into());
    let line = TextLine::from(format!(
        "{}; the names of {kept} are kept",
        Count(info.threads)
    ));
    match forgotten {
        0 => line,
        1 => line
            .text("; ")
            .styled(theme.bad, "1 event is of a thread that is forgotten"),
        events => {
            let events = format!("{} events are of threads that are forgotten", Count(events));
            line.text("; ").styled(theme.bad, events)
        }
    }
}

fn created(info: &Info) -> String {
    let age = Duration::from_nanos(time::now().saturating_sub(info.created_unix_nanos));
    let mut clock = WallClock::new(TimeFormat::DateTime);
    let (date, _) = clock
        .format(info.created_unix_nanos)
        .split_once('.')
        .unwrap_or_default();
    let (exe, pid) = (&info.creator_exe, info.creator_pid);
    format!("{date}, {} ago, by {exe} ({pid})", HumanDuration(age))
}

fn clock(info: &Info) -> String {
    let why = match info.clock_reason {
        Some(ClockReason::Kernel) if !info.clock_source.is_empty() => {
            format!(
                "; no tsc: the kernel's clock source is {}",
                info.clock_source
            )
        }
        Some(reason) => format!("; no tsc: {reason}"),
        None => String::new(),
    };
    match info.ticks_per_second {
        Some(rate) => format!("{} at {}Hz{why}", info.clock, spaced(MetricNumber(rate))),
        None => format!("{}, rate not known yet{why}", info.clock),
    }
}

/// A number and its unit with a space between, with a prefix of the unit or without.
fn spaced(rate: MetricNumber) -> String {
    let text = rate.to_string();
    if text.contains(' ') { text } else { text + " " }
}

fn ring(info: &Info) -> String {
    let why = match info.bound {
        Some((bound, room)) => {
            let beside = match bound {
                Bound::FileSystem | Bound::ControlGroup | Bound::Machine => {
                    " beside two of earlier runs"
                }
                _ => "",
            };
            format!("{beside}, {} were {}", Bytes(room), bound.leaves())
        }
        None => String::new(),
    };
    let reduced = match info.reduced {
        true => format!("; {} did not fit{why}", Count(DEFAULT_ENTRIES)),
        false => String::new(),
    };
    format!(
        "{} of 64 bytes ({}), in {} of {}{reduced}",
        things(info.entries, "entry"),
        Bytes(info.entries * 64),
        things(info.chunks.into(), "chunk"),
        Count(info.chunk_entries.into()),
    )
}

fn lanes(info: &Info) -> String {
    let why = own_lanes(info).map_or(String::new(), |(_, why)| format!("; {why}"));
    format!(
        "{} of {} for CPUs in use, and {} of {} for threads{why}",
        Count(info.cpu_lanes_in_use.into()),
        Count(info.cpu_lanes.into()),
        Count(info.thread_lanes_in_use.into()),
        Count(info.thread_lanes.into()),
    )
}

/// Why threads have lanes of their own, if they have: its name in JSON, and in words.
fn own_lanes(info: &Info) -> Option<(&'static str, String)> {
    if info.clock != ClockKind::Tsc {
        let why = "only tsc can be read in a restartable sequence, which a lane of a CPU needs";
        return Some(("clock", why.to_owned()));
    }
    (info.thread_lanes_in_use > 0).then(|| {
        let why = format!(
            "threads have their own without restartable sequences (glibc 2.35 has them), or on a \
             CPU from {} on",
            info.cpu_lanes
        );
        ("threads", why)
    })
}

fn definitions(info: &Info) -> String {
    format!(
        "{} of {}, with {} of {} of strings",
        Count(info.definitions.into()),
        Count(info.definition_capacity.into()),
        Bytes(info.string_bytes),
        Bytes(info.string_capacity),
    )
}

fn interned(info: &Info) -> String {
    let copied = match info.not_interned {
        0 => String::new(),
        copied => format!("; {} copied because there was no room", Count(copied)),
    };
    format!(
        "{} of {}, with {} of {}{copied}",
        Count(info.interned.into()),
        things(info.interned_most.into(), "string"),
        Bytes(info.interned_bytes),
        Bytes(info.interned_capacity),
    )
}

fn boot(info: &Info) -> String {
    let id = &info.boot_id;
    if !is_known(id) {
        return "not known: its creator had no /proc".to_owned();
    }
    match std::fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(present) if present.trim_end() == id => format!("{id}, the present one"),
        Ok(_) => format!("{id}, an earlier one or another machine's"),
        Err(_) => format!("{id}; the present one is not known without /proc"),
    }
}
