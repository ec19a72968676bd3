//! `timeline info` of an archive.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use timeline::{Order, Source};
use timeline_archive::{Archive, Preamble, TraceSession};
use timeline_import::CLOCK;

use super::{processes, spaced, steps};
use crate::clocks;
use crate::failure::INFALLIBLE;
use crate::format::{self, Bytes, Count, MetricNumber, things};
use crate::health;
use crate::recovery;
use crate::time::{HumanDuration, TimeFormat, WallClock};

/// The facts about an archive.
pub struct ArchiveFacts<'a> {
    archive: &'a Archive,
    /// The times of the first and of the last event, in nanoseconds since 1970.
    first: Option<u64>,
    last: Option<u64>,
    /// The same of events that are not important: those are kept for as long as there is room, so
    /// they tell neither how far the archive reaches nor how often events come.
    reach: Option<(u64, u64)>,
    recorded: bool,
}

impl<'a> ArchiveFacts<'a> {
    /// Reads the archive.
    pub fn of(archive: &'a Archive) -> ArchiveFacts<'a> {
        // Important events come before the others, whatever their times are.
        let ends = |order| {
            let mut events = archive.events_by_time(order);
            let first = events.next();
            let other = match &first {
                Some(event) if event.important => events.find(|event| !event.important),
                _ => first.clone(),
            };
            [first, other].map(|event| archive.time(&event?))
        };
        let [first, oldest] = ends(Order::OldestFirst);
        let [last, newest] = ends(Order::NewestFirst);
        ArchiveFacts {
            archive,
            first: [first, oldest].into_iter().flatten().min(),
            last: [last, newest].into_iter().flatten().max(),
            reach: oldest.zip(newest),
            recorded: archive.is_recorded(),
        }
    }

    fn duration(&self) -> Option<Duration> {
        let (oldest, newest) = self.reach?;
        Some(Duration::from_nanos(newest.checked_sub(oldest)?))
    }

    fn rate(&self) -> Option<f64> {
        let rate = self.archive.count_unimportant() as f64 / self.duration()?.as_secs_f64();
        rate.is_finite().then_some(rate)
    }

    fn bytes_per_event(&self) -> Option<f64> {
        let bytes = self.archive.bytes().len() as f64 / self.archive.count() as f64;
        bytes.is_finite().then_some(bytes)
    }

    /// The label and the text of each line.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let archive = self.archive;
        let size = Bytes(archive.bytes().len() as u64);
        let mut size = match archive.bytes().files().count() {
            0 | 1 => size.to_string(),
            files => format!("{size} in {}", things(files as u64, "file")),
        };
        write!(size, ", {}", things(archive.frames(), "frame")).expect(INFALLIBLE);
        if self.recorded {
            size += ", being recorded";
        }
        let mut events = Count(archive.count()).to_string();
        if let Some(bytes) = self.bytes_per_event() {
            write!(events, ", {bytes:.1} bytes each").expect(INFALLIBLE);
        }
        let mut lines = vec![
            ("size", size),
            ("events", events),
            ("reach", self.reach()),
            (
                "missed",
                health::missed(archive.missed(), archive.missed_unknown()),
            ),
            (
                "damage",
                health::damage(archive, 0).unwrap_or_else(|| "none".into()),
            ),
        ];
        if let Some(texts) = recovery::told(archive) {
            lines.push(("recovered", texts));
        }
        for program in archive.programs() {
            lines.extend(lines_of(&program));
            let session = program.magic.and_then(|magic| archive.session(magic));
            if let Some(session) = session {
                lines.extend(lines_of_session(&session, self.recorded));
            }
            let compared = program.magic.map(|magic| archive.clocks(magic));
            let compared = compared.and_then(|compared| clocks::line(&compared));
            lines.extend(compared.map(|compared| ("  compared", compared)));
            let known = processes::of_archive(archive, program.magic);
            let told = known.iter().map(processes::line);
            lines.extend(told.map(|process| ("  process", process)));
        }
        lines
    }

    fn reach(&self) -> String {
        let (Some((oldest, _)), Some(duration)) = (self.reach, self.duration()) else {
            return match self.archive.count_unimportant() {
                0 if self.first.is_some() => "important events only".into(),
                _ => "no times known".into(),
            };
        };
        let mut clock = WallClock::new(TimeFormat::DateTime);
        let first = clock.format(oldest).split('.').next().unwrap_or_default();
        let rate = self.rate().map_or(String::new(), |rate| {
            format!(", {} on average", format::rate(rate, "event"))
        });
        format!("{} from {first} on{rate}", HumanDuration(duration))
    }

    /// The facts for programs. The field names are part of the interface.
    pub fn object(&self, path: &str) -> Value {
        let (archive, damage) = (self.archive, self.archive.damage());
        // For the exit status.
        let _ = health::damage(archive, 0);
        let damaged: usize = damage.iter().map(ExactSizeIterator::len).sum();
        let mut clock = WallClock::new(TimeFormat::Rfc3339);
        let mut time = |nanos: Option<u64>| nanos.map(|nanos| clock.format(nanos).to_string());
        let programs = archive.programs();
        let programs = programs.iter().map(|program| {
            let mut object = object_of(program);
            let known = processes::of_archive(archive, program.magic);
            object["processes"] = processes::objects(&known).into();
            let compared = program.magic.map(|magic| archive.clocks(magic));
            let compared = compared.unwrap_or_default();
            object["clock_comparisons"] = compared.iter().map(clocks::object).collect();
            let session = program.magic.and_then(|magic| archive.session(magic));
            object["session"] = session
                .map(|session| object_of_session(&session, self.recorded))
                .into();
            object
        });
        let programs: Vec<_> = programs.collect();
        json!({
            "path": path,
            "archive": true,
            "recorded": self.recorded,
            "size": archive.bytes().len(),
            "files": archive.bytes().files().count(),
            "frames": archive.frames(),
            "unknown_records": archive.unknown(),
            "events": archive.count(),
            "missed": archive.missed(),
            "missed_unknown": archive.missed_unknown(),
            "gone": archive.gone(),
            "holes": archive.holes().len(),
            "missing_files": archive.missing_files(),
            "repeated": archive.repeated(),
            "damaged_bytes": damaged,
            "damaged_places": damage.len(),
            "first": time(self.first),
            "first_unix_ns": self.first.map(|first| first.to_string()),
            "last": time(self.last),
            "last_unix_ns": self.last.map(|last| last.to_string()),
            "span_seconds": self.duration().map(|duration| duration.as_secs_f64()),
            "events_per_second": self.rate(),
            "bytes_per_event": self.bytes_per_event(),
            "texts": recovery::object(archive),
            "programs": programs,
        })
    }
}

/// Ticks per second; in older archives from the first and the last anchor.
fn ticks_per_second(program: &Preamble) -> Option<f64> {
    if let Some(rate) = program.rate {
        return Some(rate as f64);
    }
    let (first, last) = (program.anchors.first()?, program.anchors.last()?);
    let ticks = last.0.checked_sub(first.0)? as f64;
    let seconds = last.1.checked_sub(first.1)? as f64 / 1e9;
    Some(ticks / seconds).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// The SHA-1 of the executable, as other tools print it.
fn fingerprint(program: &Preamble) -> Option<String> {
    program.sha1.as_deref().map(format::hexadecimal)
}

fn lines_of(program: &Preamble) -> Vec<(&'static str, String)> {
    let text = |text: &Option<String>| match text {
        Some(text) => text.clone(),
        None => "?".to_string(),
    };
    let pid = program.pid.map_or("?".to_string(), |pid| pid.to_string());
    if program.clock.as_deref() == Some(CLOCK) {
        return lines_of_log(program);
    }
    let mut lines = vec![("program", format!("{} ({pid})", text(&program.path)))];
    let Some(_) = program.path.as_ref().or(program.timeline.as_ref()) else {
        let magic = program.magic.unwrap_or(0);
        lines[0].1 = format!("not known (magic {magic:#x}): its preamble was lost");
        return lines;
    };
    lines.push(("  timeline", text(&program.timeline)));
    if let Some(created) = program.created {
        let mut clock = WallClock::new(TimeFormat::DateTime);
        let created = clock.format(created).split('.').next().unwrap_or_default();
        lines.push(("  created", created.to_string()));
    }
    let host = format!("{}, boot {}", text(&program.host), text(&program.boot_id));
    lines.push(("  host", host));
    if let Some(user) = &program.user {
        lines.push(("  user", user.clone()));
    }
    let clock = match ticks_per_second(program) {
        Some(rate) => format!(
            "{} at {}Hz",
            text(&program.clock),
            spaced(MetricNumber(rate))
        ),
        None => text(&program.clock),
    };
    lines.push(("  clock", clock));
    let steps = program.steps.iter().map(steps::line);
    lines.extend(steps.map(|line| ("  clock set", line)));
    if let (Some(sha1), Some(size)) = (fingerprint(program), program.size) {
        let size = things(size, "byte");
        lines.push(("  executable", format!("{size}, SHA-1 {sha1}")));
    }
    lines
}

fn lines_of_session(
    session: &TraceSession,
    is_recorded: bool,
) -> impl Iterator<Item = (&'static str, String)> {
    let labels = session.file.metadata.iter();
    let labels = labels.map(|(name, value)| ("  label", format!("{name}={value}")));
    let state = ("  session", session.state(is_recorded).to_string());
    std::iter::once(state).chain(labels)
}

fn object_of_session(session: &TraceSession, is_recorded: bool) -> Value {
    let labels = session.file.metadata.iter();
    let labels = labels.map(|(name, value)| (name.clone(), value.clone().into()));
    json!({
        "state": session.state(is_recorded),
        "labels": Value::Object(labels.collect()),
    })
}

/// What is known of imported logs: no program and no ring.
fn lines_of_log(program: &Preamble) -> Vec<(&'static str, String)> {
    let mut lines = vec![("log", program.timeline.clone().unwrap_or_default())];
    if let Some(created) = program.created {
        let mut clock = WallClock::new(TimeFormat::DateTime);
        let created = clock.format(created).split('.').next().unwrap_or_default();
        lines.push(("  imported", created.to_string()));
    }
    lines
}

fn object_of(program: &Preamble) -> Value {
    let mut clock = WallClock::new(TimeFormat::Rfc3339);
    json!({
        "magic": format::hex(program.magic),
        "executable": program.path,
        "executable_size": program.size,
        "executable_sha1": fingerprint(program),
        "host": program.host,
        "boot_id": program.boot_id,
        "pid": program.pid,
        "user": program.user,
        "timeline": program.timeline,
        "clock": program.clock,
        "ticks_per_second": ticks_per_second(program),
        "clock_steps": steps::objects(&program.steps),
        "created": program.created.map(|created| clock.format(created).to_string()),
        "writer": program.writer,
    })
}
