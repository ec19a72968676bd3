//! `timeline store`: receives recordings from many recorders.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use timeline::dump::printable;
use timeline_archive::{Fsync, Keeping};
use timeline_store::{Store, StoreOptions};

use crate::address::to_listen_on;
use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::output;
use crate::record::{PORT, parse_file_size};
use crate::signals::{Signals, WakeReason, take_limits_for_errors};
use crate::time::parse_duration;
use crate::verb::Verb;

/// Receive recordings from other processes and machines, and keep them
///
/// Prints the address that it listens on, and receives what `timeline record --to` sends until it
/// is interrupted. Each run of a program gets a directory, DIR/HOST/PROGRAM-CREATED-MAGIC (its
/// machine, its name, the time at which its ring was created, and a number of its own), which is an
/// archive: all verbs read it, also while it grows, and `timeline serve DIR` shows all of them.
///
/// What was acknowledged is in the file, even if the store is killed. A recorder whose connection
/// broke goes on at the same byte. If the disk is full, recorders wait.
///
/// Only this machine can connect, because the connection is not encrypted and asks for no password.
/// To record on another machine, let ssh carry it: `ssh -R 1980:localhost:1980 OTHER`, and there
/// `timeline record /timeline --to localhost`.
#[derive(clap::Args)]
pub struct Args {
    /// The directory. It is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The address to listen on. Port 0 is any that is free
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:1980",
        value_parser = |text: &str| to_listen_on(text, PORT)
    )]
    listen: SocketAddr,

    /// Allow --listen an address that other machines can connect to (0.0.0.0, say), although
    /// everybody in between can read and change what is sent, and everybody can send
    #[arg(long)]
    insecure: bool,

    /// Begin a new file of a run before a file becomes larger than this (64M, 1GiB; at least 64K)
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size, default_value = "256M")]
    rotate_size: u64,

    /// Begin a new file of a run after this time (10m, 1h)
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    rotate_every: Option<Duration>,

    /// Remove the oldest files of a run when all of its files together become larger than this (at
    /// least 64K). The file that is being written is never removed
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    keep_size: Option<u64>,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Keep what `timeline record PATH --to localhost` sends, and look at it: `timeline serve \
         traces/`",
        "timeline store traces/",
    ),
    (
        "Keep the last gigabyte of each run",
        "timeline store traces/ --rotate-size 64M --keep-size 1G",
    ),
];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    if !args.listen.ip().is_loopback() && !args.insecure {
        return Err(Failure::misuse(
            "the connection is not encrypted and asks for no password; listen on 127.0.0.1, and \
             let ssh carry it (ssh -R 1980:localhost:1980 OTHER), or say --insecure",
        ));
    }
    let signals = Signals::catch()?;
    take_limits_for_errors()?;
    let store = Store::bind(StoreOptions {
        folder: args.folder.clone(),
        listen: args.listen,
        keeping: Keeping {
            rotate_size: Some(args.rotate_size),
            rotate_every: args.rotate_every,
            keep_size: args.keep_size,
            fsync: Fsync::Rotate,
        },
        log: Arc::new(|line| output::say(printable(line))),
    });
    let store = store.map_err(|error| Failure::Message(error.to_string()))?;
    let mut out = output::stdout();
    writeln!(out, "{}", store.address())?;
    out.flush()?;
    let handle = store.handle();
    let running = thread::spawn(move || store.run());
    while !running.is_finished() {
        if signals.wait_for_signal(Duration::from_millis(200)) == WakeReason::Interrupted {
            handle.stop();
            break;
        }
    }
    match running.join() {
        Ok(result) => result.map_err(|error| Failure::Message(error.to_string())),
        Err(_) => Err(Failure::Message("the store failed".into())),
    }
}
