//! The libraries as C and C++ programs use them, and what such programs log.

#[path = "../support/analysis_sample.rs"]
mod analysis_sample;
#[path = "../support/json.rs"]
mod json;
#[path = "../support/mod.rs"]
mod support;

mod analyses;
mod c_abi;
mod c_hosts;
mod c_printf;
mod disabled;
mod events;
mod exit;
mod header;
mod lines;
mod pointers;
mod preload;
mod printf;
mod stale_names;
mod statements;
mod symbols;
mod types;
mod workers;
