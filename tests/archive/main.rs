//! Tests what is in files: archives, and the format of a ring.
//! Archives are tested as recorders write them and as readers find them.

#[path = "../support/mod.rs"]
mod support;

mod amount;
mod changed;
mod consistency;
mod damage;
mod descriptors;
mod ending;
mod filtered;
mod flight;
mod foreign;
mod format;
mod full;
mod fuzz;
mod gaps;
mod holes;
mod identity;
mod important;
mod independent;
mod inlined;
mod kills;
mod kinds;
mod limit;
mod meddling;
mod memory;
mod names;
mod newest;
mod page;
mod pointers;
mod progress;
mod recording;
mod records;
mod restart;
mod rotation;
mod samples;
