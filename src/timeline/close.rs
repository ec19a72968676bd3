//! Closes a timeline for a host that cannot know whether one of its threads still logs.

use super::Timeline;

impl Timeline {
    /// Detaches this process, as dropping it does, but keeps what a thread needs that logs at this
    /// moment or later: its events are dropped and counted.
    ///
    /// For bindings to languages in which nothing keeps a thread from using what another one has
    /// closed. In Rust, dropping it is enough. Only logging, and asking what is enabled, are of use
    /// afterwards.
    pub fn close(&self) {
        let is_alone = self.control.is_alone();
        let known = self.control.segment().definitions.count();
        self.log.close(known, is_alone);
        if is_alone {
            self.control.close();
        }
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.log.is_closed()
    }

    /// Tells a closed timeline how many events came after that
    /// ([`DropCounts::closed`](crate::DropCounts::closed)), if it is still at its name.
    pub fn tell_of_late_events(&self) {
        self.log.tell_of_late_events();
    }
}
