//! Fuzzes with targets/index.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::index::run_part(bytes));
