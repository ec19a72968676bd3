//! `timeline serve`: shows timelines, snapshots and archives in a browser.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use tempfile::NamedTempFile;
use timeline_net::{StoreToken, to_listen_on};
use timeline_serve::{Error, Server, ServerAccess, ServerOptions};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::output;
use crate::recovery::Executables;
use crate::services::{self, Service};
use crate::signals::{Signals, take_limits_for_errors};
use crate::sockets::Sockets;
use crate::target::Target;
use crate::verb::Verb;

/// The port, if none is given.
const PORT: u16 = 4280;

/// Show timelines, snapshots and archives in a browser
///
/// Prints the address of a page, and answers its requests until it is interrupted. The page shows
/// the lines of a log of any size, searches and filters them, draws them by time, and follows what
/// is being logged. Nothing is loaded from elsewhere.
///
/// Of a directory, all archives and snapshots in it and below it are served. Links are not
/// followed. An archive gets an index, which lies beside it (flight.tla.idx) and can be removed at
/// any time. A live timeline is recorded into a directory for temporary files while somebody reads
/// it, and for 30 seconds after.
///
/// Only this machine can connect, unless --listen names another address. Then, and with --token,
/// each request needs a token, which is made anew at each start, and is in the printed address.
/// Whoever has it can read all that is served. The connection is not encrypted: use an address
/// beyond this machine only behind a proxy that encrypts it, or connect through ssh (ssh -L
/// 4280:localhost:4280 HOST).
#[derive(clap::Args)]
pub struct Args {
    /// Names in shared memory (/timeline), snapshots, archives, and directories of them. All
    /// timelines in shared memory if none is given
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The address to listen on. Port 0 is any that is free
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:4280",
        value_parser = |text: &str| to_listen_on(text, PORT)
    )]
    listen: SocketAddr,

    /// Ask for a token on this machine, too, so that its other users can read nothing
    #[arg(long)]
    token: bool,

    /// Let the page change the level and the channels of live timelines
    #[arg(long)]
    allow_control: bool,

    /// Open the page in a browser
    #[arg(long)]
    open: bool,

    #[command(flatten)]
    executables: Executables,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    ("All that is logged on this machine now", "timeline serve"),
    (
        "The archives of a directory, in a browser",
        "timeline serve flights/ --open",
    ),
    (
        "One archive, on a port of its own",
        "timeline serve flight.tla --listen 127.0.0.1:8000",
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
    let named = args.paths.iter().cloned().map(Target::named);
    named
        .into_iter()
        .try_for_each(|target| target.refuse_trace())?;
    let signals = Signals::catch()?;
    take_limits_for_errors()?;
    let needs_token = args.token || !args.listen.ip().is_loopback();
    let token = needs_token.then(StoreToken::random).transpose()?;
    let server = Server::bind(&ServerOptions {
        paths: args.paths.clone(),
        listen: args.listen,
        socket: Sockets::given().next()?,
        access: ServerAccess {
            tokens: token.iter().cloned().collect(),
            encryption: None,
            is_insecure: true,
        },
        allow_control: args.allow_control,
        allow_removal: false,
        agent: None,
        command: None,
        executables: args.executables.files().to_vec(),
    });
    let server = server.map_err(told)?;
    let token = token.map(|token| format!("#token={}", token.text()));
    let url = format!("http://{}/{}", server.address(), token.unwrap_or_default());
    let mut out = output::stdout();
    writeln!(out, "{url}")?;
    out.flush()?;
    if !server.address().ip().is_loopback() {
        output::say(
            "other machines can connect; each request needs the token in this address, and the \
             connection is not encrypted",
        );
    }
    // Until the server ends.
    let _page = args.open.then(|| open(&url));
    services::run(vec![service(server)], &signals)
}

/// A server, to be run.
pub fn service(server: Server) -> Service {
    let handle = server.handle();
    Service {
        run: Box::new(|| server.run().map_err(told)),
        stop: Box::new(move || handle.stop()),
    }
}

/// A failure of a server.
pub fn told(error: Error) -> Failure {
    match error {
        Error::Timeline(error) => error.into(),
        Error::Archive(error) => error.into(),
        other => Failure::Message(other.to_string()),
    }
}

/// Has the desktop open the page, by a file that leads there: all users of the machine see the
/// words of a command, and the address may have the token. Without a desktop, the printed address
/// is enough.
fn open(url: &str) -> Option<NamedTempFile> {
    let said = |error| output::say(format_args!("{error}; open the address yourself"));
    let page = page_that_leads_to(url);
    let page = page
        .map_err(|error| said(format!("cannot write a file: {error}")))
        .ok()?;
    let started = Command::new("xdg-open")
        .arg(page.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => drop(thread::spawn(move || child.wait())),
        Err(error) => said(format!("cannot start xdg-open: {error}")),
    }
    Some(page)
}

/// A file that only this user can read.
fn page_that_leads_to(url: &str) -> io::Result<NamedTempFile> {
    let mut page = tempfile::Builder::new()
        .prefix("timeline-serve-")
        .suffix(".html")
        .tempfile()?;
    write!(
        page,
        "<!doctype html><meta http-equiv=refresh content='0; url={url}'>"
    )?;
    page.flush()?;
    Ok(page)
}
