//! The library alone: what its writers and readers promise one another, in whatever hosts.

#[path = "../support/mod.rs"]
mod support;

mod allocator;
mod channels;
mod clock;
mod concurrency;
mod derive;
mod forbidden;
mod fork;
mod generic;
mod golden;
mod golden_typed;
mod hostile;
mod important;
mod interned;
mod kill;
mod known;
mod names;

mod payload;
mod privileges;
mod remembered;
mod span;
mod statement;
mod storm;
mod switching;
mod twin;
