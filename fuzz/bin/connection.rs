//! Fuzzes with targets/connection.rs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| timeline_fuzz::connection::run(bytes));
