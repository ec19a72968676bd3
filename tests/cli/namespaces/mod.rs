//! Writers and readers in namespaces of their own: pid, time, user and mount.

mod apart;
mod boots;
mod clocks;
mod counter;
mod living;
