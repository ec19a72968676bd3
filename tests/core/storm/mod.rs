//! Logging under a storm: migration, signals, forks and kills by the million, stepping debuggers,
//! memory at its edges.

mod bounds;
mod debuggers;
mod exact;
mod kills;
mod load;
mod tally;
