//! Follows logs that grow.
//!
//! log_follow.rs gives the events that come to a log, with what is missing among them: growth.rs of
//! an archive that is recorded, inflow.rs of one that comes as bytes. lack_meter.rs tells what is
//! new of counts that only grow. merge.rs makes one stream of several logs.

mod growth;
mod inflow;
mod lack_meter;
mod log_follow;
mod merge;

pub use log_follow::{FollowLook, LogFollow};
pub use merge::FollowMerge;
