//! `timeline serve`: its answers are what other verbs print, and not everybody gets one.

mod browser;
mod description;
mod durations;
mod errors;
mod full;
mod growing;
mod guard;
mod http;
mod links;
mod live;
mod long_spans;
mod readers;
mod same;
mod scratch;
