//! Attaches to a timeline that this process writes to.

use super::Attached;
use crate::error::Result;
use crate::segment::{TimelineMapping, Use};
use crate::timeline::Timeline;

impl Timeline {
    /// Attaches to this timeline for reading, also if its name leads to another one by now, or is
    /// gone.
    ///
    /// # Errors
    /// `Io`; those of [`Attached::open`] if the file was damaged.
    ///
    /// # Example
    /// ```
    /// use timeline::{Order, Priority, Timeline};
    /// # let path = format!("/timeline-doc-attach-{}", std::process::id());
    /// # let path = path.as_str();
    /// let timeline = Timeline::with_size(path, 1024, 4096)?;
    /// let got = timeline.define("net", Priority::Info, "got $bytes")?;
    /// timeline::unlink(path)?;
    /// timeline.log(got, [1500]);
    /// assert_eq!(timeline.attach()?.events(Order::OldestFirst).count(), 1);
    /// # Ok::<(), timeline::Error>(())
    /// ```
    pub fn attach(&self) -> Result<Attached> {
        let file = self.control().file()?;
        let segment = TimelineMapping::load(&self.control().segment().name, &file, Use::Read)?;
        Attached::of(segment, file)
    }
}
