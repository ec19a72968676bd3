//! Fuzzes with targets/resume.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::resume::run(bytes));
