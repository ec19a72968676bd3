//! `timeline serve`: its answers are what other verbs print, and not everybody gets one.

mod browser;
mod description;
mod errors;
mod guard;
mod http;
mod live;
mod readers;
mod same;
