//! Fuzzes with targets/query.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::query::run_part(bytes));
