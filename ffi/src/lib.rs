//! The C ABI of timeline.
