//! Logging under a storm: migration, signals, forks and kills by the million, stepping debuggers, memory at its edges.

#[path = "../harness/mod.rs"]
mod harness;

mod exact;
mod kills;
mod load;
mod tally;

harness::roles!(logs_in_rounds, kills_at_random);

use kills::kills_at_random;
use load::logs_in_rounds;
