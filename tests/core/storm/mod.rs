//! Tests logging under a storm of migrations, signals, forks and kills.
//! These come by the million. Stepping debuggers and full tables are tested as well.

mod bounds;
mod debuggers;
mod exact;
mod kills;
mod load;
mod tally;
