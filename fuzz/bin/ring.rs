//! Fuzzes with targets/ring.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::ring::run_part(bytes));
