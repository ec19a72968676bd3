//! The command, the life of timelines, and what people are given: installation, examples, guides.

#[path = "../support/json.rs"]
mod json;
#[path = "../support/mod.rs"]
mod support;

mod archives;
mod bench;
mod bench_latency;
mod bench_search;
mod bootstrap;
mod command;
mod completions;
mod control;
mod damaged;
mod demo;
mod events;
mod examples;
mod filters;
mod following;
mod foreign;
mod forgotten;
mod gaps;
mod growing;
mod guide;
mod imported;
mod index_follow;
mod indexed;
mod install;
mod interval_logs;
mod languages;
mod layers;
mod lifecycle;
mod lost;
mod make_demo;
mod manners;
mod merged;
mod messages;
mod mixture;
mod namespaces;
mod off;
mod queries;
mod reading;
mod refused;
mod save_filtered;
mod search;
mod search_stats;
mod serve;
mod sharing;
mod spans;
mod surface;
mod terminal;
mod truncation;
mod twin;
mod typed;
mod typed_rust;
mod watch;
