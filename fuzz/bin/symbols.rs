//! Fuzzes with targets/symbols.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::symbols::run(bytes));
