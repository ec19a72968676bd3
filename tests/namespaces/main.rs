//! Writers and readers in namespaces of their own: pid, time, user and mount.

#[path = "../harness/mod.rs"]
mod harness;

mod apart;
mod boots;
mod clocks;
mod living;

use harness::Role;

/// What a process that has gone apart can do.
const ROLES: &[(&str, Role)] = &[
    ("opens", boots::opens),
    ("creates", clocks::creates),
    ("logs_when_told", clocks::logs_when_told),
    ("reads", clocks::reads),
    ("forks_into_another_time", clocks::forks_into_another_time),
    ("moves_into_another_time", clocks::moves_into_another_time),
    ("writes_through_all_lanes", living::writes_through_all_lanes),
    ("samples", living::samples),
    ("storms", living::storms),
    ("looks", living::looks),
    ("looks_at_its_child", living::looks_at_its_child),
];

use apart::goes_apart;
use living::writes_through_all_lanes;

harness::roles!(goes_apart, writes_through_all_lanes);
