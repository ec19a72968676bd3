//! `timeline record`: follows a timeline into an archive.
//!
//! runs.rs waits for the next run of a program, report.rs and progress.rs say what happens, core.rs
//! pins the recorder to a core, size.rs reads sizes. remote.rs has the options of a recording that
//! is sent to a store, and open.rs opens what is written to.

mod core;
mod open;
mod progress;
mod remote;
mod report;
mod runs;
mod size;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ArgGroup;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use timeline::{Attached, Event};
use timeline_archive::{ArchiveOutput, Form, Fsync, Keeping, Totals};
use timeline_reading::Log;
use timeline_worker::{EventChoice, Pause, Pump, PumpStep};

use crate::args::{ANY, Example, number};
use crate::failure::{Failure, Result};
use crate::filters::{FilterQuery, Filters};
use crate::format::Bytes;
use crate::permission;
use crate::restart::{self, FollowEnd};
use crate::signals::{self, Signals, WakeReason};
use crate::target::Target;
use crate::time::parse_duration;
use crate::unknown_names;
use crate::unread_lines;
use crate::verb::Verb;
use crate::waiting;
use open::open_output;
use progress::{RecordProgress, RecordStatus};
use remote::Remote;
pub use remote::parse_label;
use report::ToldTroubles;
use runs::Watch;
pub use size::parse_file_size;

/// For this time the ring is still read after a signal. The rest of two seconds is for writing the
/// last events.
const REST: Duration = Duration::from_millis(1500);
/// The longest pause while somebody watches the archive.
const WATCHED: Duration = Duration::from_millis(10);
/// After so many signals, a recorder ends without reading on.
const AT_ONCE: usize = 2;

/// Record a timeline into an archive, until interrupted
///
/// The recorder waits until the timeline exists. It begins with the oldest event in the ring, and
/// continues when the program restarts. If the archive holds an earlier recording, the recorder
/// continues it, even if the earlier recorder was killed: it repeats no event, and misses no event
/// that is still in the ring. Entries that were overwritten before they could be recorded are
/// counted, and the count is recorded; an event takes one entry, an event with a payload takes
/// several. If the disk is full or read-only, the recorder waits until that is over, also before it
/// begins. It does not wait behind the end of the program for a limit on the size of files.
///
/// If the newest file of a directory is no archive, as after a power cut, the recorder leaves it as
/// it is, says so, and goes on in the next one.
///
/// A signal (Ctrl-C, SIGTERM) ends the recorder within two seconds. It first records the events
/// that are in the ring. If two seconds are too short, it says how many entries it leaves, and the
/// next recording takes them. A second signal ends it at once.
///
/// A snapshot and the ring of the previous run (/timeline.prev) are recorded to their end. A
/// program that logs to a ring of such a name is recorded like any other.
///
/// With filters, only the wanted events are recorded, also of the important ones. The others are
/// not missed: the recorder says how many it left out. Entries that were overwritten before they
/// could be read count as missed, because nobody knows whether they were wanted. The next recording
/// may have other filters; it begins where this one ended.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("destination").args(["output", "to"]).required(true))]
pub struct Args {
    #[command(flatten)]
    pub target: Target,

    /// Archive to write: a file, or a directory of numbered files. A path is a directory if a
    /// directory exists there, or if it ends with /
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,

    #[command(flatten)]
    remote: Remote,

    /// End when the program ends, instead of waiting for its next run
    #[arg(long)]
    once: bool,

    /// Write each event by itself, without compression
    #[arg(long)]
    plain: bool,

    /// Begin a new file before a file becomes larger than this (64M, 1GiB; at least 64K)
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    rotate_size: Option<u64>,

    /// Begin a new file after this time (10m, 1h)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    rotate_every: Option<Duration>,

    /// Remove the oldest files when all files together become larger than this (at least 64K).
    /// Indexes beside them count, and go first. The file that is being written is never removed
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    keep_size: Option<u64>,

    /// When to sync the archive to disk: after every write, when a file is finished, or never
    #[arg(long, value_name = "WHEN", value_parser = fsync(), default_value = "rotate")]
    fsync: Fsync,

    /// Record on core N only, so that programs have the other cores to themselves
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<usize>(ANY),
        allow_negative_numbers = true
    )]
    cpu: Option<usize>,

    #[command(flatten)]
    filters: Filters,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Record all events of a program, even after it restarts; Ctrl-C stops",
        "timeline record /timeline -o flight.tla",
    ),
    (
        "Keep the last gigabyte, in files of at most 64 MiB",
        "timeline record /timeline -o flights/ --rotate-size 64M --keep-size 1G",
    ),
    (
        "Record only what is said of more than 1500 bytes",
        "timeline record /timeline -o flight.tla --where 'bytes > 1500'",
    ),
    (
        "Send it to a store on another machine, through ssh (ssh -L 1980:localhost:1980 HOST)",
        "timeline record /timeline --to localhost --label service=db",
    ),
    (
        "Keep up to 4 GiB on the disk while the store is away, also if this machine starts again",
        "timeline record /timeline --to localhost --spool spool/ --spool-size 4G",
    ),
    (
        "Record the ring of the previous run",
        "timeline record /timeline.prev -o before.tla",
    ),
];

/// Parses an option of `--fsync`, and offers all of them in the help, in errors and to the shell.
fn fsync() -> impl TypedValueParser<Value = Fsync> {
    PossibleValuesParser::new(["every", "rotate", "never"]).map(|when| match when.as_str() {
        "every" => Fsync::Every,
        "never" => Fsync::Never,
        _ => Fsync::Rotate,
    })
}

impl Args {
    /// The archive that is written, or the address of the store that it is sent to.
    fn destination(&self) -> &Path {
        let address = self.remote.address().map(Path::new);
        let path = self.output.as_deref().or(address);
        path.unwrap_or(Path::new(""))
    }

    /// The options of the archive, checked against each other.
    fn keeping(&self) -> Result<Keeping> {
        let keeping = Keeping {
            rotate_size: self.rotate_size,
            rotate_every: self.rotate_every,
            keep_size: self.keep_size,
            fsync: self.fsync,
        };
        if keeping.rotates() && !ArchiveOutput::is_directory(self.destination()) {
            let name = self.destination().display();
            return Err(Failure::misuse(format!(
                "--rotate-size, --rotate-every and --keep-size are for a directory; write -o \
                     {name}/"
            )));
        }
        let rotates = self.rotate_size.is_some() || self.rotate_every.is_some();
        if self.keep_size.is_some() && !rotates {
            return Err(Failure::misuse(
                "--keep-size removes whole files, and needs --rotate-size or --rotate-every to \
                 have several",
            ));
        }
        if let (Some(keep), Some(size)) = (self.keep_size, self.rotate_size)
            && keep < size
        {
            let (keep, size) = (Bytes(keep), Bytes(size));
            return Err(Failure::misuse(format!(
                "--keep-size must be at least as large as --rotate-size ({size}), got {keep}"
            )));
        }
        Ok(keeping)
    }
}

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn target(&mut self) -> Option<&mut Target> {
        Some(&mut self.target)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if args.destination() == Path::new("-") {
        let message = "-o must be a file or a directory, got -; `timeline save PATH -` writes to \
                       standard output, and `timeline tail PATH` prints events";
        return Err(Failure::misuse(message));
    }
    let keeping = args.keeping()?;
    if let Some(core) = args.cpu {
        // Threads that are started later inherit it.
        core::pin(core)?;
    }
    let signals = Signals::catch()?;
    signals::take_limits_for_errors()?;
    // Before the output is opened: a name that can never be recorded leaves no file.
    waiting::open_if_there(&args.target)?;
    let query = args.filters.query();
    let is_filtered = !query.is_empty();
    let mut output = open_output(args, keeping, &signals)?;
    if let Some((passed, present)) = output.passed_over() {
        report::passed_over(passed, present);
    }
    let pause = |rest| {
        // What an earlier recording left in a spool needs no timeline.
        output.attend();
        signals.wait_for_signal(rest)
    };
    let Some(at) = waiting::wait(&args.target, pause, None)? else {
        report::end(args, &Totals::default(), is_filtered);
        report::waiting(args, output.waiting());
        return Ok(());
    };
    let at = Arc::new(at);
    let log = Log::of_ring(args.target.path(), Arc::clone(&at));
    unknown_names::tell_so_far(&query, &[&log]);
    let form = match args.plain {
        true => Form::Plain,
        false => Form::Blocks,
    };
    let choice = is_filtered.then(|| Arc::new(QueryChoice(query)) as Arc<dyn EventChoice>);
    let mut recording = Recording {
        args,
        is_filtered,
        signals: &signals,
        pump: Pump::new(output, at, form, choice),
        until: None,
        progress: RecordProgress::new(),
        trouble: ToldTroubles::default(),
        has_begun: false,
    };
    recording.record_all()?;
    recording.end()
}

/// Chooses the events that a query wants.
struct QueryChoice(FilterQuery);

impl EventChoice for QueryChoice {
    fn on<'a>(&'a self, at: &'a Attached) -> Box<dyn FnMut(&Event) -> bool + Send + 'a> {
        let mut filter = self.0.on(at);
        Box::new(move |event| {
            filter.notice_renames();
            filter.matches(event)
        })
    }
}

/// Records one run of a program after another.
struct Recording<'a> {
    args: &'a Args,
    /// Whether only some events are wanted.
    is_filtered: bool,
    signals: &'a Signals,
    pump: Pump,
    /// The time at which the recorder stops reading the ring, after a signal.
    until: Option<Instant>,
    progress: RecordProgress,
    /// What was said of a failing step.
    trouble: ToldTroubles,
    /// Whether it was said that it began.
    has_begun: bool,
}

impl Recording<'_> {
    /// Records this run, and each one after it.
    fn record_all(&mut self) -> Result {
        loop {
            let at = Arc::clone(self.pump.at());
            let ended = self.record(&at);
            self.progress.clear();
            let ended = ended?;
            unread_lines::tell(&at);
            match ended {
                FollowEnd::Done => return Ok(()),
                FollowEnd::Replaced(next) => {
                    restart::report(&at, &next);
                    self.pump.go_on(next.into())?;
                }
            }
        }
    }

    /// Records one run until it ends.
    fn record(&mut self, at: &Attached) -> Result<FollowEnd> {
        let mut watch = Watch::new(at, self.args);
        let (mut pause, mut next, mut waits) = (Pause::new(), None, true);
        let ended = loop {
            // Before the last look into the ring, so that no event is left that was logged before
            // this check.
            if !waits && watch.restart.is_due() {
                next = next.or_else(|| watch.next());
                self.show(watch.entries);
            }
            let step = self.pump.step()?;
            waits = matches!(step, PumpStep::Waiting);
            self.report(&step, at);
            let is_former = self.pump.is_former();
            // Nobody who waits for this recorder can lift its limit, or bring its store.
            let may_end = watch.is_done && !is_former || self.args.remote.address().is_some();
            if may_end && self.pump.is_over() {
                break FollowEnd::Done;
            }
            // A run is not done while events wait for room.
            let is_idle = matches!(step, PumpStep::Idle) && !is_former;
            let ends = is_idle && (watch.is_done || next.is_some()) && self.pump.write();
            if ends && watch.is_done {
                break FollowEnd::Done;
            }
            if ends && let Some(next) = next {
                break FollowEnd::Replaced(Box::new(next));
            }
            let found = !matches!(step, PumpStep::Idle | PumpStep::Waiting);
            let pause = self.watched_pause(pause.after(found));
            if self.signals.wait_for_signal(pause) == WakeReason::Interrupted {
                let until = *self.until.get_or_insert_with(|| Instant::now() + REST);
                // What a store has is not known before it answers.
                if !waits {
                    self.pump
                        .wind_up(until, || self.signals.count() < AT_ONCE)?;
                }
                break FollowEnd::Done;
            }
        };
        self.finish()?;
        Ok(ended)
    }

    /// Says what a step did.
    fn report(&mut self, step: &PumpStep, at: &Attached) {
        match step {
            PumpStep::Begun => {
                self.signals.end_at_once(false);
                if let Some(last) = self.pump.gap() {
                    report::gap(self.args.target.path(), last, self.pump.present());
                }
            }
            PumpStep::CutOff => report::cut_off(self.args),
            PumpStep::Former(before) => unread_lines::tell(before),
            PumpStep::Waiting | PumpStep::New | PumpStep::Idle => {}
        }
        let trouble = self.pump.trouble();
        report::trouble(&mut self.trouble, &mut self.progress, trouble);
        let is_told = matches!(step, PumpStep::New | PumpStep::Idle) && self.trouble.is_empty();
        if is_told && !self.pump.is_former() && !std::mem::replace(&mut self.has_begun, true) {
            report::begin(at, self.args);
        }
        if let Some(change) = self.pump.change() {
            self.progress.clear();
            report::change(change, self.args);
        }
    }

    /// Shows how far it is. The ring holds so many entries.
    fn show(&mut self, entries: u64) {
        self.progress.show(&RecordStatus {
            totals: self.pump.totals(),
            unread: self.pump.unread(),
            entries,
            full: self.pump.is_full(),
            waiting: self.pump.waiting(),
            filtered: self.is_filtered,
        });
    }

    /// The pause before the next step.
    fn watched_pause(&mut self, pause: Duration) -> Duration {
        match self.pump.is_watched() {
            true => pause.min(WATCHED),
            false => pause,
        }
    }

    /// Ends the recorder. Without room, waiting events count as missed, and so do those behind them
    /// in the ring.
    fn finish(&mut self) -> Result {
        if self.pump.write() {
            // The file ends with a whole frame, and nothing more is written.
            self.signals.end_at_once(self.signals.count() > 0);
        }
        self.pump.finish(self.signals.count() < AT_ONCE)?;
        Ok(())
    }

    /// Reports the results.
    fn end(&mut self) -> Result {
        let totals = self.pump.totals();
        report::end(self.args, &totals, self.is_filtered);
        report::waiting(self.args, self.pump.waiting());
        match self.pump.trouble() {
            None if totals.unsent > 0 => {
                let to = self.args.destination().display();
                let told = format!("{to} did not acknowledge all that was sent");
                Err(Failure::Message(told))
            }
            None => Ok(()),
            Some(trouble) => {
                let told = permission::failed(trouble.doing, &trouble.path, &trouble.error);
                Err(Failure::Message(told))
            }
        }
    }
}
