//! The only file that names the atomics: the core library's, or loom's under its model checker.

#[cfg(not(loom))]
pub use core::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence,
};

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
