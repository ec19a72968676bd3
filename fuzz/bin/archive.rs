//! Fuzzes with targets/archive.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::archive::run_part(bytes));
