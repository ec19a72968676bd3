//! Messages of statements come back, whatever their arguments and however often they were logged.

use super::{Lost, without_durations};
use crate::command::succeed;

/// Whether all texts come back from the program, in both forms of an archive.
fn check(source: &str) {
    for options in [&[][..], &["--plain"]] {
        let lost = Lost::of(source, &["-O1"], options);
        let whole = succeed(&["dump", "--json", &lost.whole]).stdout;
        let dumped = lost.dumped(&[]);
        assert_eq!(without_durations(&dumped.stdout), without_durations(&whole));
    }
}

#[test]
fn what_was_logged_once_comes_back_with_any_values() {
    check("tests/c/recover_once.c");
}

#[test]
fn what_has_many_arguments_comes_back() {
    check("tests/c/recover_many.c");
}
