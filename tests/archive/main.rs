//! Archives: written and read alike, by us and by others, and read after any damage.

mod damage;
mod identity;
mod independent;
mod recording;
mod support;
