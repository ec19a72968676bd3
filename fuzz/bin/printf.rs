//! Fuzzes with targets/printf.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::printf::run(bytes));
