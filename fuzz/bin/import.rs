//! Fuzzes with targets/import.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::import::run(bytes));
