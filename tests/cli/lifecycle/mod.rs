//! From nothing to a timeline and to its corpse: creating, joining, defining, levels, and what goes
//! wrong.

mod alive;
mod define;
mod foreign;
mod level;
mod names;
mod refusing;
mod saving;
mod space;
