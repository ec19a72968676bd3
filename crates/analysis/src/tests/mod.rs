//! Tests of analyses.
//!
//! dispatch.rs compares what analysers are given with a naive reading, fields.rs reads fields of
//! all types, losses.rs has gaps and losses, growth.rs logs that grow, steps.rs how an analysis
//! ends, and cursor.rs a program that asks for the next event. sample.rs makes archives, and an
//! analyser that notes what it is given.

mod cursor;
mod dispatch;
mod fields;
mod growth;
mod losses;
mod sample;
mod steps;
