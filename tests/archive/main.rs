//! Archives: written and read alike, by us and by others, and read after any damage.

mod amount;
mod damage;
mod ending;
mod flight;
mod full;
mod identity;
mod independent;
mod kills;
mod limit;
mod meddling;
mod memory;
mod newest;
mod page;
mod progress;
mod recording;
mod restart;
mod rotation;
mod support;
#[path = "../tree/mod.rs"]
mod tree;
