//! Finds by which session each run was sent to a store, and whether that is complete.

use std::collections::BTreeMap;

use crate::format::session::SessionFile;

/// What one sender sent of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSession {
    /// The last of its files.
    pub file: SessionFile,
    /// Whether the sender has said that it is complete.
    pub has_ended: bool,
}

impl TraceSession {
    /// Whether more may come: `receiving` while somebody writes the archive; `ended` if the sender
    /// has said that it is complete; `broken off` if the sender, the store or the connection did.
    pub fn state(&self, is_recorded: bool) -> &'static str {
        match (is_recorded, self.has_ended) {
            (true, _) => "receiving",
            (false, true) => "ended",
            (false, false) => "broken off",
        }
    }
}

/// The last session of each run.
#[derive(Debug, Default)]
pub struct Sessions {
    by_magic: BTreeMap<u64, TraceSession>,
    last: u64,
}

impl Sessions {
    /// A file begins.
    pub fn begin(&mut self, file: SessionFile) {
        self.last = file.magic;
        let has_ended = false;
        self.by_magic
            .insert(file.magic, TraceSession { file, has_ended });
    }

    /// The session of the file before this place has ended.
    pub fn end(&mut self) {
        if let Some(session) = self.by_magic.get_mut(&self.last) {
            session.has_ended = true;
        }
    }

    /// That of a run.
    pub fn of(&self, magic: u64) -> Option<&TraceSession> {
        self.by_magic.get(&magic)
    }
}
