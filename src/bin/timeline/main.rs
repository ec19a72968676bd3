//! The `timeline` command.
fn main() {}
