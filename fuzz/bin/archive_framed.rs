//! Fuzzes with targets/archive_framed.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::archive_framed::run_part(bytes));
