//! Compares the clocks of the machines of several logs, so that their events have an order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timeline_archive::Preamble;

use crate::host_clock::{ClockRelation, ClockSteps, ComparedPoint, HostClock, LogClock};
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

/// What is known of the clock of a log.
struct LogOrigin<'a> {
    log: &'a Log,
    programs: Vec<Preamble>,
    /// The boot of its machine. `None` if it is not known, or there are several.
    boot: Option<String>,
}

/// What is known of a machine.
#[derive(Default)]
struct MachineClock {
    host: Option<String>,
    /// The machines with whose clocks it was compared, by their boots: their names, and the
    /// comparisons.
    compared: BTreeMap<String, (String, Vec<ComparedPoint>)>,
}

impl ClockAlignment {
    /// Compares the clocks of logs that are to be merged, and has each of them know the outcome:
    /// see [`Log::correct`]. The reference is the clock with which the most machines were compared.
    /// `None` if all are of one machine, as far as that is known; then nothing is corrected.
    pub fn of<'a>(logs: impl Iterator<Item = &'a Log>) -> Option<ClockAlignment> {
        let origins: Vec<LogOrigin> = logs.map(LogOrigin::of).collect();
        let boots = origins.iter().flat_map(LogOrigin::boots);
        let boots: BTreeSet<String> = boots.collect();
        if boots.len() < 2 {
            return None;
        }
        let mut alignment = ClockAlignment::default();
        for (number, origin) in origins.iter().enumerate() {
            let place = boots
                .iter()
                .position(|boot| origin.boot.as_ref() == Some(boot));
            // A machine that is not known is no other one.
            alignment
                .machines
                .push(place.unwrap_or(boots.len() + number));
        }
        let machines = machines(&origins);
        let reference = reference(&machines);
        let clocks = reference.as_ref().map(|(boot, _)| clocks(&machines, boot));
        for (number, origin) in origins.iter().enumerate() {
            let relation = match (&reference, &clocks) {
                (Some((boot, _)), Some(clocks)) => origin.relation(boot, clocks),
                _ => ClockRelation::Unknown,
            };
            if matches!(relation, ClockRelation::Unknown) {
                alignment.unknown.push(number);
            }
            // A log that was merged before stays as it was then.
            let _ = origin.log.relation.set(relation);
        }
        alignment.reference = reference.map(|(_, host)| host);
        Some(alignment)
    }
}

impl<'a> LogOrigin<'a> {
    fn of(log: &'a Log) -> LogOrigin<'a> {
        let programs = log.archive().map(|archive| archive.programs());
        let programs = programs.unwrap_or_default();
        let boot = match log.holder() {
            Holder::Ring(at) => Some(at.info().boot_id),
            Holder::Archive(_) => {
                let boots: BTreeSet<_> = programs.iter().map(|one| &one.boot_id).collect();
                let only = boots.first().filter(|_| boots.len() == 1);
                only.and_then(|boot| (*boot).clone())
            }
        };
        LogOrigin {
            log,
            programs,
            boot,
        }
    }

    /// All boots of which it has events.
    fn boots(&self) -> impl Iterator<Item = String> {
        let programs = self.programs.iter();
        let all = programs.filter_map(|one| one.boot_id.clone());
        all.chain(self.boot.clone())
    }

    /// How it compares with the clock of the machine of this boot.
    fn relation(&self, reference: &str, clocks: &BTreeMap<&str, Arc<HostClock>>) -> ClockRelation {
        let Some(boot) = self.boot.as_deref() else {
            return ClockRelation::Unknown;
        };
        if boot == reference {
            return ClockRelation::Same;
        }
        // The times of a ring are computed where they are shown.
        let host = clocks.get(boot).filter(|_| self.log.archive().is_some());
        host.map_or(ClockRelation::Unknown, |host| {
            let steps = self.programs.last().map(steps);
            let steps = steps.unwrap_or_else(|| ClockSteps::new(&[], None));
            ClockRelation::Compared(Box::new(LogClock::new(Arc::clone(host), steps)))
        })
    }
}

fn steps(program: &Preamble) -> ClockSteps {
    ClockSteps::new(&program.steps, program.clock.as_deref())
}

/// The machines of logs that are of one each, by their boots.
fn machines(origins: &[LogOrigin]) -> BTreeMap<String, MachineClock> {
    let mut machines: BTreeMap<String, MachineClock> = BTreeMap::new();
    for origin in origins {
        let Some(boot) = &origin.boot else {
            continue;
        };
        let machine = machines.entry(boot.clone()).or_default();
        for program in &origin.programs {
            machine.host = machine.host.take().or_else(|| program.host.clone());
            let archive = origin.log.archive().zip(program.magic);
            let all = archive.map(|(archive, magic)| archive.clocks(magic));
            for one in all.into_iter().flatten() {
                let point = ComparedPoint::new(&one, &steps(program));
                if let (Some(boot), Some(point)) = (one.boot_id, point) {
                    let host = one.host.unwrap_or_default();
                    let known = machine.compared.entry(boot);
                    known.or_insert((host, Vec::new())).1.push(point);
                }
            }
        }
    }
    machines
}

/// The clocks of machines that were compared with that of this boot.
fn clocks<'m>(
    machines: &'m BTreeMap<String, MachineClock>,
    reference: &str,
) -> BTreeMap<&'m str, Arc<HostClock>> {
    let compared = machines.iter().filter_map(|(boot, machine)| {
        let (_, points) = machine.compared.get(reference)?;
        let clock = HostClock::new(points.clone())?;
        Some((boot.as_str(), Arc::new(clock)))
    });
    compared.collect()
}

/// The boot and the name of the machine with which the most of these were compared, themselves
/// included. `None` if no two were compared with the same.
fn reference(machines: &BTreeMap<String, MachineClock>) -> Option<(String, String)> {
    let mut found: BTreeMap<&str, (usize, usize, &str)> = BTreeMap::new();
    for (own, machine) in machines {
        let name = machine.host.as_deref().unwrap_or_default();
        let others = machine.compared.iter().filter(|(boot, _)| *boot != own);
        let others = others.map(|(boot, (host, all))| (boot.as_str(), host.as_str(), all.len()));
        for (boot, host, count) in others.chain([(own.as_str(), name, 0)]) {
            let one = found.entry(boot).or_insert((0, 0, host));
            (one.0, one.1) = (one.0 + 1, one.1 + count);
            if one.2.is_empty() {
                one.2 = host;
            }
        }
    }
    let is_compared = |one: &(&str, (usize, usize, &str))| one.1.1 > 0 && one.1.0 > 1;
    let best = found.into_iter().filter(is_compared);
    let (boot, (_, _, host)) = best.max_by_key(|(_, (machines, count, _))| (*machines, *count))?;
    Some((boot.to_owned(), host.to_owned()))
}
