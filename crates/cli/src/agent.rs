//! `timeline agent`: lets other machines look at the timelines of this one, and change them.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use timeline::dump::printable;
use timeline_agent::{Agent, AgentOptions, FleetOptions};
use timeline_net::{AGENT_PORT, PORT, to_connect_to, to_listen_on};
use timeline_serve::{Error, Server, ServerAccess, ServerOptions};
use timeline_store::{CertificateFiles, StoreCertificate};
use timeline_worker::WorkerOptions;

use crate::access::{Access, own_token, tokens};
use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::output;
use crate::serve;
use crate::services::{self, Service};
use crate::signals::{Signals, take_limits_for_errors};
use crate::sockets::Sockets;
use crate::verb::Verb;

/// How many ports are tried, if the first one is taken.
const PORTS: u16 = 16;

/// Let other machines control the timelines of this one, and record them
///
/// Prints the address that it listens on, and answers `timeline remote`, `timeline dump
/// store://HOST:1985/NAME` and browsers until it is interrupted: which timelines there are, what
/// they have, which events they log, and recordings, which it starts and stops. Programs need
/// nothing for that. A client may come at any time, and gets the important events first.
///
/// With --to, it sends all timelines of this machine to a store, also those that are created later:
/// a process for a machine, however many programs it has.
///
/// It sees the timelines that its user may read, and changes those that its user may change. Unless
/// --listen says so, only this machine can connect, and only clients of the same user are answered.
/// Connections of others are encrypted, and must show a token; the agent keeps its certificate in
/// DIR, or gets one by --certificate.
#[derive(clap::Args)]
pub struct Args {
    /// The directory for what is recorded to files. Without it, nothing is written on this machine
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    /// The address to listen on. If the port is taken, the next ones are tried; 0 is any that is
    /// free
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:1985",
        value_parser = |text: &str| to_listen_on(text, AGENT_PORT)
    )]
    listen: SocketAddr,

    /// The tokens of which a client must know one, a line each. Without it, clients must be of this
    /// user: the agent makes a token in ~/.config/timeline/agent.token, which they read as well
    #[arg(long, value_name = "FILE")]
    client_tokens: Option<PathBuf>,

    /// Show this certificate instead of DIR/store.pem: a file in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,

    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,

    /// Send all timelines of this machine to a store (`timeline store`). The port is 1980 if none
    /// is given
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_parser = |text: &str| to_connect_to(text, PORT)
    )]
    to: Option<String>,

    /// Send only timelines with these names; * is any text
    #[arg(long = "match", value_name = "PATTERN", requires = "to")]
    patterns: Vec<String>,

    #[command(flatten)]
    access: Access,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Let `timeline remote localhost list` and the others ask on this machine",
        "timeline agent",
    ),
    (
        "Send the timelines of this machine with such names to a store that is known",
        "timeline agent --to store1 --match 'svc*' --token-file token",
    ),
    (
        "Record to files as well, if another machine asks that knows the token",
        "timeline agent recordings/ --listen 0.0.0.0 --client-tokens token",
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
    let tokens = match &args.client_tokens {
        Some(_) => tokens(args.client_tokens.as_deref())?,
        None if args.listen.ip().is_loopback() => vec![own_token()?],
        None => {
            return Err(Failure::misuse(format!(
                "everybody who can connect to {} could read and change all; say --client-tokens \
                 FILE ((umask 077; openssl rand -hex 16 > FILE) makes one)",
                args.listen
            )));
        }
    };
    let signals = Signals::catch()?;
    take_limits_for_errors()?;
    let certificate = certificate(args)?;
    let agent = Arc::new(Agent::new(AgentOptions {
        folder: args.folder.clone(),
        access: (args.access.trust()?, args.access.token()?),
        fleet: fleet(args)?,
        log: Arc::new(|line| output::say(printable(line))),
    }));
    let options = ServerOptions {
        paths: args.folder.iter().cloned().collect(),
        listen: args.listen,
        socket: Sockets::given().next()?,
        access: ServerAccess {
            tokens,
            encryption: certificate.as_ref().map(|one| Arc::clone(&one.config)),
            is_insecure: false,
        },
        allow_control: true,
        allow_removal: false,
        agent: Some(Arc::clone(&agent)),
        command: Some(std::env::current_exe()?),
        executables: Vec::new(),
    };
    let server = bound(options)?;
    let mut out = output::stdout();
    writeln!(out, "{}", server.address())?;
    out.flush()?;
    if let Some(certificate) = certificate {
        output::say(format_args!("certificate {}", certificate.fingerprint));
    }
    let running = Arc::clone(&agent);
    let recorder = Service {
        run: Box::new(move || {
            running.run();
            Ok(())
        }),
        stop: Box::new(move || agent.stop()),
    };
    services::run(vec![serve::service(server), recorder], &signals)
}

/// The certificate: the one that was given, or that of the directory, which is made if there is
/// none. Without a directory, there is none.
fn certificate(args: &Args) -> Result<Option<StoreCertificate>> {
    let files = args.certificate.clone().zip(args.key.clone());
    let files = files.map(|(certificate, key)| CertificateFiles { certificate, key });
    let folder = match (&args.folder, &files) {
        (Some(folder), _) => {
            make_folder(folder)?;
            folder.clone()
        }
        (None, Some(_)) => PathBuf::new(),
        (None, None) if args.listen.ip().is_loopback() => return Ok(None),
        (None, None) => {
            let message = "other machines can only connect encrypted: name a DIR, in which the \
                           agent keeps its certificate, or say --certificate and --key";
            return Err(Failure::misuse(message));
        }
    };
    let opened = StoreCertificate::open(files.as_ref(), &folder);
    opened
        .map(Some)
        .map_err(|error| Failure::Message(error.to_string()))
}

fn make_folder(folder: &PathBuf) -> Result {
    let mut make = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(make.recursive(true), 0o700);
    make.create(folder).map_err(|error| {
        let folder = folder.display();
        Failure::Message(format!("cannot make the directory {folder}: {error}"))
    })
}

/// What is sent without being asked for.
fn fleet(args: &Args) -> Result<Option<FleetOptions>> {
    let Some(store) = &args.to else {
        return Ok(None);
    };
    let options = WorkerOptions::to_store(store)?;
    Ok(Some(FleetOptions {
        options: options.access(args.access.trust()?, args.access.token()?),
        store: store.clone(),
        patterns: args.patterns.clone(),
    }))
}

/// Listens on the port that was asked for, or on one of the next ones.
fn bound(mut options: ServerOptions) -> Result<Server> {
    let first = options.listen.port();
    let more = if first == 0 { 0 } else { PORTS - 1 };
    for _ in 0..more {
        match Server::bind(&options) {
            Err(Error::Listen { reason, .. }) if reason.kind() == std::io::ErrorKind::AddrInUse => {
            }
            bound => return bound.map_err(serve::told),
        }
        options
            .listen
            .set_port(options.listen.port().saturating_add(1));
    }
    Server::bind(&options).map_err(serve::told)
}
