//! The command as its users meet it: the real binary on real timelines.

mod archives;
mod control;
mod damaged;
mod demo;
mod following;
mod foreign;
mod gaps;
mod growing;
mod lost;
mod manners;
mod messages;
mod mixture;
mod reading;
mod support;
mod surface;
mod twin;
