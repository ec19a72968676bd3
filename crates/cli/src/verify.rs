//! `timeline verify`: checks an archive for damage.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use timeline_archive::Archive;
use timeline_reading::json::write_line;
use timeline_reading::{Extent, Holder};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::fetch;
use crate::format::{self, Bytes, Count, agree, things};
use crate::health;
use crate::output::{self, TextLine};
use crate::recovery::{self, Executables};
use crate::target::Target;
use crate::time::{TimeFormat, WallClock};
use crate::verb::Verb;

/// Check an archive for damage, and count the events that can be recovered
///
/// Each frame says from where to where it goes on, so a frame or a file that is gone leaves a hole:
/// verify says where, and how many entries are missing. Frames that stand twice are counted.
///
/// The exit status is 1 if anything is damaged or gone, or cannot be read by this version.
#[derive(clap::Args)]
pub struct Args {
    /// Archive to check: a file, or a directory of rotated files
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Check an archive, and count its events",
        "timeline verify crash.tla",
    ),
    (
        "The places of the damage",
        "timeline verify crash.tla --json | jq .damage",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn executables(&self) -> Option<&Executables> {
        Some(&self.executables)
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let archive = opened(&args.path)?;
    let (recoverable, incomplete) = archive.recoverable();
    let mut out = output::stdout();
    if args.json {
        let object = object(&args.path, &archive, recoverable, incomplete);
        write_line(&object, &mut out)?;
    } else {
        print(&args.path, &archive, recoverable, &mut out)?;
    }
    out.flush()?;
    let damage = archive.damage();
    let has_holes =
        archive.gone() > 0 || archive.has_unknown_holes() || archive.missing_files() > 0;
    if damage.is_empty() && incomplete == 0 && !has_holes {
        return Ok(());
    }
    let mut told = health::unreadable(&archive, incomplete);
    let is_whole = damage.is_empty() && !has_holes && incomplete <= archive.other_codecs();
    let damaged = damaged(&archive);
    if damaged > 0 {
        let belong = agree(damaged as u64, "belongs", "belong");
        let (bytes, places) = (
            things(damaged as u64, "byte"),
            things(damage.len() as u64, "place"),
        );
        told.push(format!(
            "{bytes} in {places} {belong} to no whole frame; `timeline repair` keeps the rest"
        ));
    }
    if has_holes {
        let entries = things(archive.gone(), "entry");
        let places = things(archive.holes().len() as u64, "place");
        told.push(match archive.has_unknown_holes() {
            true => "nobody knows how many entries are gone in how many places".into(),
            false => format!("{entries} are gone in {places}"),
        });
        if archive.missing_files() > 0 {
            let files = things(archive.missing_files(), "file");
            told.push(format!("{files} missing between the others"));
        }
    }
    let (file, told) = (args.path.display(), told.join(", and "));
    let state = if is_whole {
        "whole, but not all can be read"
    } else {
        "damaged"
    };
    Err(Failure::Message(format!("{file} is {state}: {told}")))
}

fn opened(path: &Path) -> Result<Archive> {
    if fetch::is_trace(path)
        && let Holder::Archive(archive) = Target::named(path.into())
            .open(Extent::Whole)?
            .into_holder()
    {
        return Ok(*archive);
    }
    let mut archive = Archive::open(path)?;
    archive.recover(recovery::given());
    Ok(archive)
}

/// Bytes of damage.
fn damaged(archive: &Archive) -> usize {
    archive.damage().iter().map(ExactSizeIterator::len).sum()
}

/// The output of `--json`. Its field names are part of the interface.
fn object(path: &Path, archive: &Archive, recoverable: u64, incomplete: u64) -> Value {
    let damage = archive.damage();
    let ranges = damage.iter().map(|place| [place.start, place.end]);
    let holes = archive.holes().iter();
    let holes = holes.map(|hole| json!({ "before": hole.place, "entries": hole.entries }));
    let files = archive.bytes().files();
    let files = files.map(|(file, start)| {
        // What was received of a trace has no name of its own.
        let file = if fetch::is_trace(path) { path } else { file };
        json!({ "file": file.display().to_string(), "start": start })
    });
    let programs = archive.programs();
    let programs = programs.iter().map(|preamble| {
        json!({
            "magic": format::hex(preamble.magic),
            "path": preamble.path,
            "timeline": preamble.timeline,
            "host": preamble.host,
            "pid": preamble.pid,
            "boot_id": preamble.boot_id,
        })
    });
    json!({
        "file": path.display().to_string(),
        "size": archive.bytes().len(),
        "files": files.collect::<Vec<_>>(),
        "frames": archive.frames(),
        "events": recoverable,
        "events_lost_in_blocks": incomplete.saturating_sub(archive.other_codecs()),
        "events_of_other_codecs": archive.other_codecs(),
        "missed": archive.missed(),
        "missed_unknown": archive.missed_unknown(),
        "gone": archive.gone(),
        "holes": holes.collect::<Vec<_>>(),
        "missing_files": archive.missing_files(),
        "holes_unknown": archive.has_unknown_holes(),
        "repeated": archive.repeated(),
        "unknown_records": archive.unknown(),
        "damaged_bytes": damaged(archive),
        "damage": ranges.collect::<Vec<_>>(),
        "texts": recovery::object(archive),
        "programs": programs.collect::<Vec<_>>(),
    })
}

/// The output for people.
fn print(path: &Path, archive: &Archive, recoverable: u64, out: &mut impl Write) -> Result {
    let theme = output::theme();
    let size = Bytes(archive.bytes().len() as u64);
    let title = TextLine::new().styled(theme.name, path.display());
    title.text("  ").text(size).write(out)?;
    let mut line = |label, text: String| {
        let line = TextLine::from("  ").styled(theme.bold, format_args!("{label:<9}"));
        line.text(" ").text(text).write(out)
    };
    line("frames", Count(archive.frames()).to_string())?;
    line("events", format!("{} recoverable", Count(recoverable)))?;
    let missed = health::missed(archive.missed(), archive.missed_unknown());
    line("missed", missed)?;
    let mut clock = WallClock::new(TimeFormat::DateTime);
    for preamble in archive.programs() {
        let text = |text: &Option<String>| text.clone().unwrap_or("?".into());
        let (timeline, path) = (text(&preamble.timeline), text(&preamble.path));
        let pid = preamble
            .pid
            .map_or(String::new(), |pid| format!(" ({pid})"));
        let created = preamble.created.map_or(String::new(), |created| {
            let created = clock.format(created).split('.').next().unwrap_or_default();
            format!(", created {created}")
        });
        line("program", format!("{path}{pid}, {timeline}{created}"))?;
    }
    let places = Places::of(archive);
    for place in archive.damage() {
        line("damage", places.told(place))?;
    }
    for hole in archive.holes() {
        let entries = things(hole.entries, "entry");
        line("hole", format!("{entries} {}", places.before(hole.place)))?;
    }
    if let Some(texts) = recovery::told(archive) {
        line("recovered", texts)?;
    }
    if archive.repeated() > 0 {
        let entries = things(archive.repeated(), "entry");
        line("twice", format!("{entries} in more than one frame"))?;
    }
    Ok(())
}

/// The files of an archive, and where each has its first event that is not important.
struct Places<'a> {
    files: Vec<(&'a Path, usize)>,
    /// The end of the unit of that event, or of the bytes.
    first_ends: Vec<usize>,
}

impl Places<'_> {
    fn of(archive: &Archive) -> Places<'_> {
        let files: Vec<(&Path, usize)> = archive.bytes().files().collect();
        let mut units = archive.units().filter(|unit| !unit.important).peekable();
        let first_ends = files.iter().map(|(_, start)| {
            while units.next_if(|unit| unit.place.start < *start).is_some() {}
            units.peek().map_or(usize::MAX, |unit| unit.place.end)
        });
        let first_ends = first_ends.collect();
        Places { files, first_ends }
    }

    /// The number of the file with this byte.
    fn file(&self, place: usize) -> Option<usize> {
        let behind = self.files.partition_point(|(_, start)| *start <= place);
        behind.checked_sub(1)
    }

    /// Where something is missing: between two files, or before the frame that begins at this byte.
    fn before(&self, place: usize) -> String {
        let Some(number) = self.file(place).filter(|_| self.files.len() > 1) else {
            return format!("before byte {}", Count(place as u64));
        };
        let (path, start) = self.files[number];
        if number > 0 && self.first_ends[number] > place {
            let former = self.files[number - 1].0;
            return format!("between {} and {}", former.display(), path.display());
        }
        let byte = Count((place - start) as u64);
        format!("before byte {byte} of {}", path.display())
    }

    /// The damage of a file.
    fn told(&self, place: &Range<usize>) -> String {
        let length = things(place.len() as u64, "byte");
        let Some(number) = self.file(place.start).filter(|_| self.files.len() > 1) else {
            return format!("{length} from byte {} on", Count(place.start as u64));
        };
        let (path, start) = self.files[number];
        let from = Count((place.start - start) as u64);
        format!("{length} from byte {from} of {} on", path.display())
    }
}
