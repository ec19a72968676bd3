//! From nothing to a timeline and to its corpse: creating, joining, defining, levels, and what goes wrong.

#[path = "../harness/mod.rs"]
mod harness;

mod define;
mod level;
mod names;
mod space;

harness::roles!(
    holds,
    races,
    creates,
    unprivileged,
    fills,
    defines,
    levels,
    samples
);

use define::defines;
use level::{levels, samples};
use names::{creates, holds, races, unprivileged};
use space::fills;
