//! Logging under a storm: migration, signals, forks and kills by the million, stepping debuggers,
//! memory at its edges.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../toolchain/mod.rs"]
mod toolchain;

mod bounds;
mod debuggers;
mod exact;
mod kills;
mod load;
mod tally;

harness::roles!(
    logs_in_a_storm,
    kills_at_random,
    logs_on_cpus,
    takes_all_lanes,
    logs_beyond_the_table,
);

use bounds::{logs_beyond_the_table, logs_on_cpus, takes_all_lanes};
use kills::kills_at_random;
use load::logs_in_a_storm;
