//! Tests the life of a timeline: creating, joining, defining, levels, and what goes wrong.
//! It goes from nothing to a timeline, and to what is left of a dead one.

mod alive;
mod define;
mod foreign;
mod level;
mod memory;
mod names;
mod neighbours;
mod race;
mod refusing;
mod restarts;
mod saving;
pub mod space;
