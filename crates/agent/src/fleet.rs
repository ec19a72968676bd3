//! Sends every timeline of a host whose name matches, also new ones.

use std::collections::HashMap;

use timeline::internal::matches_pattern;
use timeline::{Attached, is_former};
use timeline_worker::WorkerOptions;

use crate::recording::{HostRecording, RecordingRequest, RecordingTarget, is_used, run_of};

/// Which timelines are sent without being asked for, and where to.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// How: to a store.
    pub options: WorkerOptions,
    /// The store as people know it.
    pub store: String,
    /// Patterns of names, of which one has to match; `*` is any text. All timelines if there are
    /// none.
    pub patterns: Vec<String>,
}

impl FleetOptions {
    /// Whether a timeline of this name is sent. The slash before a name may be left out of a
    /// pattern.
    pub fn wants(&self, name: &str) -> bool {
        let bare = name.strip_prefix('/').unwrap_or(name);
        let matches =
            |pattern: &String| matches_pattern(pattern.strip_prefix('/').unwrap_or(pattern), bare);
        self.patterns.is_empty() || self.patterns.iter().any(matches)
    }
}

/// The runs of programs that were sent to their end, by name, and how much they had logged.
#[derive(Default)]
pub struct SentRuns {
    sent: HashMap<String, ((u64, u32), u64)>,
    /// Those that somebody stopped.
    stopped: HashMap<String, (u64, u32)>,
}

impl SentRuns {
    /// A run was sent to its end.
    pub fn note(&mut self, name: &str) {
        if let Ok(at) = Attached::open(name) {
            let written = at.info().entries_written;
            self.sent.insert(name.into(), (run_of(&at), written));
        }
    }

    /// Somebody stopped to send a run.
    pub fn stop(&mut self, name: &str, run: (u64, u32)) {
        self.stopped.insert(name.into(), run);
    }

    /// Forgets what has no name any more.
    fn forget(&mut self, names: &[String]) {
        self.sent.retain(|name, _| names.contains(name));
        self.stopped.retain(|name, _| names.contains(name));
    }

    /// Whether a timeline has something that was not sent.
    fn lacks(&self, name: &str, at: &Attached) -> bool {
        let info = at.info();
        let now = (run_of(at), info.entries_written);
        let is_stopped = self.stopped.get(name) == Some(&now.0);
        !is_stopped && (self.sent.get(name) != Some(&now) || is_used(name))
    }
}

/// Begins to send what is not sent at present. `is_sent` says whether a run of a name is.
pub fn new_recordings(
    fleet: &FleetOptions,
    sent: &mut SentRuns,
    is_sent: impl Fn(&str, (u64, u32)) -> bool,
) -> Vec<(String, Result<HostRecording, String>)> {
    let mut names = timeline::names().unwrap_or_default();
    names.retain(|name| !is_former(name.as_ref()) && fleet.wants(name));
    sent.forget(&names);
    let mut begun = Vec::new();
    for name in names {
        // One that is being made, or that this user may not read, is looked at again.
        let Ok(at) = Attached::open(&name) else {
            continue;
        };
        if is_sent(&name, run_of(&at)) || !sent.lacks(&name, &at) {
            continue;
        }
        let request = RecordingRequest {
            timeline: name.clone(),
            target: RecordingTarget::Store(fleet.store.clone()),
            keeping: Default::default(),
            labels: Vec::new(),
        };
        let recording = HostRecording::begin(request, &fleet.options, true);
        begun.push((name, recording.map_err(|error| error.to_string())));
    }
    begun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_choose_names() {
        let fleet = |patterns: &[&str]| FleetOptions {
            options: WorkerOptions::to_store("localhost").unwrap(),
            store: "localhost".into(),
            patterns: patterns.iter().map(|pattern| (*pattern).into()).collect(),
        };
        assert!(fleet(&[]).wants("/svc"));
        assert!(fleet(&["svc*"]).wants("/svc1") && fleet(&["/svc*"]).wants("/svc1"));
        assert!(fleet(&["a", "b"]).wants("/b"));
        assert!(!fleet(&["svc"]).wants("/svc1") && !fleet(&["b*"]).wants("/ab"));
    }
}
