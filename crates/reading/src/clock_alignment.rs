//! Compares the clocks of the machines of several logs, so that their events have an order.

use std::collections::{BTreeMap, BTreeSet};

use timeline_archive::Archive;

use crate::host_clock::{ClockRelation, HostClock};
use crate::log::{Holder, Log};

/// How the clocks of several machines are compared.
///
/// # Example
/// ```
/// use timeline_archive::Archive;
/// use timeline_reading::{ClockAlignment, Log};
///
/// let log = |path: &str| Log::of_archive(path.as_ref(), Archive::from_bytes([]));
/// let logs = ["a.tla", "b.tla"].map(log);
/// assert!(ClockAlignment::of(logs.iter()).is_none(), "there is one machine at most");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClockAlignment {
    /// The name of the machine whose clock is the reference. `None` if nobody has compared any.
    pub reference: Option<String>,
    /// Of each log: the number of its machine.
    pub machines: Vec<usize>,
    /// The logs of which nobody knows how their clock compares with those of the others.
    pub unknown: Vec<usize>,
}

impl ClockAlignment {
    /// Compares the clocks of logs that are to be merged, and has each of them know the outcome:
    /// see [`Log::correct`]. The reference is the clock that the most of them were compared with.
    /// `None` if all are of one machine, as far as that is known; then nothing is corrected.
    pub fn of<'a>(logs: impl Iterator<Item = &'a Log>) -> Option<ClockAlignment> {
        let clocks: Vec<LogClocks> = logs.map(LogClocks::of).collect();
        let boots: BTreeSet<&str> = clocks
            .iter()
            .filter_map(|one| one.boot.as_deref())
            .collect();
        if boots.len() < 2 {
            return None;
        }
        let mut alignment = ClockAlignment::default();
        for clocks in &clocks {
            let boot = clocks.boot.as_deref();
            let machine = boot.and_then(|boot| boots.iter().position(|one| *one == boot));
            alignment.machines.push(machine.unwrap_or(boots.len()));
        }
        let reference = reference(&clocks);
        alignment.reference = reference.as_ref().map(|(_, host)| host.clone());
        for (number, clocks) in clocks.iter().enumerate() {
            let relation = match &reference {
                Some((boot, _)) => clocks.relation(boot),
                None => ClockRelation::Unknown,
            };
            if matches!(relation, ClockRelation::Unknown) && clocks.boot.is_some() {
                alignment.unknown.push(number);
            }
            // A log that was merged before stays as it was then.
            let _ = clocks.log.relation.set(relation);
        }
        Some(alignment)
    }
}

/// What is known of the clock of a log.
struct LogClocks<'a> {
    log: &'a Log,
    /// The boot of its machine. `None` if it is not known, or there are several.
    boot: Option<String>,
    host: Option<String>,
    /// The machines whose clocks it was compared with: their boots, their names, and how often.
    compared: BTreeMap<String, (String, usize)>,
}

impl LogClocks<'_> {
    fn of(log: &Log) -> LogClocks<'_> {
        let (mut boot, mut host, mut compared) = (None, None, BTreeMap::new());
        match log.holder() {
            Holder::Ring(at) => boot = Some(at.info().boot_id),
            Holder::Archive(archive) => {
                let programs = archive.programs();
                let boots: BTreeSet<_> = programs.iter().map(|one| &one.boot_id).collect();
                if let ([Some(only)], Some(first)) =
                    (&boots.into_iter().collect::<Vec<_>>()[..], programs.first())
                {
                    (boot, host) = (Some(only.clone()), first.host.clone());
                }
                let clocks = only_ring(archive).map(|magic| archive.clocks(magic));
                for one in clocks.into_iter().flatten() {
                    let (boot, host) = (one.boot_id, one.host.unwrap_or_default());
                    if let Some(boot) = boot {
                        let known = compared.entry(boot).or_insert((host, 0));
                        known.1 += 1;
                    }
                }
            }
        }
        LogClocks {
            log,
            boot,
            host,
            compared,
        }
    }

    /// How it compares with the clock of the machine of this boot.
    fn relation(&self, reference: &str) -> ClockRelation {
        if self.boot.as_deref() == Some(reference) {
            return ClockRelation::Same;
        }
        let Some(archive) = self.log.archive().filter(|_| self.boot.is_some()) else {
            return ClockRelation::Unknown;
        };
        let clocks = only_ring(archive).and_then(|magic| {
            let mut all = archive.clocks(magic);
            all.retain(|one| one.boot_id.as_deref() == Some(reference));
            let steps = archive.preamble(magic).map(|program| &program.steps[..]);
            HostClock::new(&all, steps.unwrap_or_default())
        });
        clocks.map_or(ClockRelation::Unknown, |clock| {
            ClockRelation::Compared(Box::new(clock))
        })
    }
}

/// The ring of an archive, if it has one alone: the ticks of comparisons are of that. Also if none
/// of its events is there.
fn only_ring(archive: &Archive) -> Option<u64> {
    match &archive.programs()[..] {
        [only] => only.magic,
        _ => None,
    }
}

/// The boot and the name of the machine that the most of these were compared with, themselves
/// included. `None` if no two were compared with the same.
fn reference(clocks: &[LogClocks]) -> Option<(String, String)> {
    let mut found: BTreeMap<&str, (usize, usize, &str)> = BTreeMap::new();
    for clocks in clocks {
        let own = clocks.boot.as_deref();
        let own = own.map(|boot| (boot, clocks.host.as_deref().unwrap_or_default(), 0));
        let others = clocks.compared.iter();
        let others = others.filter(|(boot, _)| Some(boot.as_str()) != clocks.boot.as_deref());
        let others = others.map(|(boot, (host, count))| (boot.as_str(), host.as_str(), *count));
        for (boot, host, count) in own.into_iter().chain(others) {
            let one = found.entry(boot).or_insert((0, 0, host));
            (one.0, one.1) = (one.0 + 1, one.1 + count);
            if one.2.is_empty() {
                one.2 = host;
            }
        }
    }
    let is_compared = |one: &(&str, (usize, usize, &str))| one.1.1 > 0 && one.1.0 > 1;
    let best = found.into_iter().filter(is_compared);
    let (boot, (_, _, host)) = best.max_by_key(|(_, (logs, count, _))| (*logs, *count))?;
    Some((boot.to_owned(), host.to_owned()))
}
