//! What the tests share.
#![allow(
    dead_code,
    unused_imports,
    reason = "each program of tests uses its part"
)]

mod events;
mod executable;
pub mod kernel;
mod machine;
pub mod naive;
mod name;
mod process;
mod records;
pub mod toolchain;
mod tree;
pub mod user;

pub use events::{Random, Way, arguments, attach, checked, define, unpacked};
pub use executable::{copy_program, write_script};
pub use machine::{NO_RSEQ, cpus, in_process_without_rseq, own_lanes, rseq, run_on, size};
pub use name::Name;
pub use process::{Process, Role, deadline, hear, place, refusal, role_at, say};
pub use records::{anchor, begin_snapshot, padded, put_chunk, put_string, put_thread, seal};
pub use tree::root;
