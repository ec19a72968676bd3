//! Receives the trace of a store, so that it is read as a file is.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

use nix::fcntl::{Flock, FlockArg};
use serde::Deserialize;
use timeline_client::{Client, ClientOptions, TRACE_SCHEME, TraceUrl, place_of};
use timeline_net::StoreTrust;
use timeline_search::Query;

use crate::access::token_for;
use crate::failure::{Failure, Result};

/// Which events of a trace are received.
pub enum Excerpt<'a> {
    /// What its files have.
    All,
    /// Those that a query wants, and perhaps some more.
    Where(&'a Query),
    /// The same, with the begins and ends of all spans.
    WithSpans(&'a Query),
    /// What its files have, and what is added to them.
    Growing,
}

/// Whether a path names a trace of a store.
pub fn is_trace(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .starts_with(TRACE_SCHEME.as_bytes())
}

/// A name that is in nothing of a trace.
#[derive(Deserialize)]
pub struct UnknownSentence {
    pub what: String,
    pub name: String,
    pub sentence: String,
}

#[derive(Deserialize)]
struct UnknownSentences {
    unknown: Vec<UnknownSentence>,
}

/// The names in a query that are in nothing of a trace: what was received of it lacks those of
/// events that are not wanted. None if the store cannot be asked.
pub fn unknown_names(path: &Path, query: &Query) -> Vec<UnknownSentence> {
    let ask = || {
        let url = TraceUrl::parse(&path.to_string_lossy())?.ok()?;
        let place = format!("logs/{}/unknown", place_of(&url.trace));
        let client = client(&url.address).ok()?;
        client.get(&place, &query.parameters()).ok()
    };
    ask().map_or_else(Vec::new, |list: UnknownSentences| list.unknown)
}

/// Receives a trace into a file without a name, which stays for as long as this runs. Returns the
/// path by which it is read.
pub fn receive(path: &Path, wanted: &Excerpt) -> Result<PathBuf> {
    let text = path.to_string_lossy();
    let url = TraceUrl::parse(&text).expect("somebody asked whether it is one");
    let url = url.map_err(|error| Failure::Message(error.to_string()))?;
    if url.trace.is_empty() {
        return Err(unnamed(&text));
    }
    let client = client(&url.address)?;
    let mut file = tempfile::tempfile().map_err(failed)?;
    let received = format!("/proc/self/fd/{}", file.as_raw_fd());
    let place = format!("logs/{}/archive", place_of(&url.trace));
    match wanted {
        Excerpt::Growing => {
            copy_growing(&client, &place, &mut file, &received)?;
        }
        Excerpt::All => copy(&client, &place, &[], &mut file)?,
        Excerpt::Where(query) => copy(&client, &place, &query.parameters(), &mut file)?,
        Excerpt::WithSpans(query) => {
            let mut parameters = query.parameters();
            if !parameters.is_empty() {
                parameters.push(("edges", "true".into()));
            }
            copy(&client, &place, &parameters, &mut file)?;
        }
    }
    std::mem::forget(file);
    Ok(received.into())
}

/// A client of a host that is known, with the token of the environment.
fn client(address: &str) -> Result<Client> {
    Ok(Client::new(ClientOptions {
        address: address.into(),
        trust: StoreTrust::KnownStores,
        token: token_for(address, None)?,
    }))
}

fn failed(error: io::Error) -> Failure {
    Failure::Message(format!("cannot write a temporary file: {error}"))
}

fn told(error: timeline_client::Error) -> Failure {
    Failure::Message(error.to_string())
}

fn copy(
    client: &Client,
    place: &str,
    parameters: &timeline_client::Parameters,
    file: &mut File,
) -> Result {
    let mut out = io::BufWriter::new(&mut *file);
    let answer = client.bytes(place, parameters);
    answer
        .and_then(|mut bytes| bytes.copy(&mut out, |_| true))
        .map_err(told)?;
    out.flush().map_err(failed)
}

/// Why the trace that is followed is not received any more, unless it has ended.
static BROKEN: OnceLock<String> = OnceLock::new();

/// Fails if a trace that was followed broke off.
pub fn intact() -> Result {
    match BROKEN.get() {
        Some(reason) => Err(Failure::Message(reason.clone())),
        None => Ok(()),
    }
}

/// Receives what a trace has, and in a thread what is added to it. The file is locked meanwhile, as
/// a recorder locks it, so that whoever reads it waits for more.
fn copy_growing(client: &Client, place: &str, file: &mut File, path: &str) -> Result {
    let follow = [("follow", String::from("true"))];
    let mut bytes = client.bytes(place, &follow).map_err(told)?;
    let begun = bytes.begun().unwrap_or(0);
    bytes.copy(file, |copied| copied < begun).map_err(told)?;
    if !bytes.grows() {
        return Ok(());
    }
    let mut file = file.try_clone().map_err(failed)?;
    let held = File::open(path).map_err(failed)?;
    let held = Flock::lock(held, FlockArg::LockExclusiveNonblock);
    let held = held.map_err(|(_, error)| failed(error.into()))?;
    let receive = move || {
        let copied = bytes.copy(&mut file, |_| true);
        if let Err(error) = copied {
            let _ = BROKEN.set(error.to_string());
        }
        drop(held);
    };
    let started = thread::Builder::new()
        .name("receiving".into())
        .spawn(receive);
    started.map(drop).map_err(failed)
}

/// That no trace was named.
fn unnamed(text: &str) -> Failure {
    let text = text.trim_end_matches('/');
    Failure::misuse(format!(
        "name a trace, as in {text}/TRACE; `timeline list {text}` shows which there are"
    ))
}

/// The client of a host that is named as the traces of it are.
pub fn client_of(path: &Path) -> Result<Client> {
    let text = path.to_string_lossy();
    let url = TraceUrl::parse(&text).unwrap_or_else(|| {
        let text = format!("{TRACE_SCHEME}{text}");
        TraceUrl::parse(&text).expect("it begins so")
    });
    let url = url.map_err(|error| Failure::misuse(error.to_string()))?;
    match url.trace.is_empty() {
        true => client(&url.address),
        false => Err(Failure::misuse(format!(
            "expected a host such as store://db1, got {text}"
        ))),
    }
}
