//! The command as its users meet it: the real binary on real timelines.

mod archives;
mod control;
mod demo;
mod following;
mod mixture;
mod reading;
mod support;
mod surface;
mod twin;
