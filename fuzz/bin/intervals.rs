//! Fuzzes with targets/intervals.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::intervals::run(bytes));
