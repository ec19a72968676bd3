//! Sets the texts of statements apart in an executable, where readers find lost ones again.

/// The text between the zero bytes at both ends.
///
/// Rust has its texts one behind the other. A reader of a damaged archive looks for whole ones, by
/// their digests, and so needs to see where they begin and end.
pub const fn between(text: &str) -> &str {
    assert!(text.len() >= 2, "a text has no zero bytes at its ends");
    let (_, text) = text.split_at(1);
    text.split_at(text.len() - 1).0
}

/// Text literals as one text, with a zero byte before and behind it in the executable.
#[doc(hidden)]
#[macro_export]
macro_rules! set_apart {
    ($($text:expr),+) => {
        $crate::statement::between(::core::concat!("\0", $($text,)+ "\0"))
    };
}

// Behind the macro, which has no name before.
#[doc(hidden)]
pub use set_apart;
