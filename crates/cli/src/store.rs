//! `timeline store`: receives recordings from many recorders.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use timeline::dump::printable;
use timeline_archive::{Fsync, Keeping};
use timeline_net::{HTTP_PORT, PORT, StoreToken, to_listen_on};
use timeline_serve::{Server, ServerAccess, ServerOptions};
use timeline_store::{CertificateFiles, Retention, Store, StoreOptions};

use crate::access::tokens;
use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::format::Bytes;
use crate::output;
use crate::record::parse_file_size;
use crate::serve;
use crate::services::{self, Service};
use crate::signals::{Signals, take_limits_for_errors};
use crate::sockets::Sockets;
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
/// Unless --listen says so, only this machine can connect. Connections of others are encrypted, and
/// must show a token. At its first start, the store makes a certificate (DIR/store.pem), and it
/// says the fingerprint at each start. Recorders believe the certificate with that fingerprint and
/// no other: `timeline record /timeline --to HOST --fingerprint sha256:…`.
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

    /// Answer requests as well at this address (localhost is 127.0.0.1:1989): those of a browser,
    /// of other programs, and of `timeline dump store://HOST/TRACE`. Other machines have to encrypt
    /// them, and show a token
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = |text: &str| to_listen_on(text, HTTP_PORT)
    )]
    http: Option<SocketAddr>,

    /// Let requests remove traces that nobody sends
    #[arg(long, requires = "http")]
    allow_removal: bool,

    /// The tokens of which a recorder must know one, a line each; otherwise that in the variable
    /// TIMELINE_TOKEN. `(umask 077; openssl rand -hex 16 > FILE)` makes one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Show this certificate instead of DIR/store.pem: a file in PEM, with those of the authorities
    /// below the one that recorders believe (--ca)
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,

    /// The key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,

    /// Take what other machines send without encryption or token, although everybody in between can
    /// read and change it, and everybody can send
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

    /// Remove the oldest files of all runs when all files of the store together become larger than
    /// this. Files that are being written are never removed
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    keep_total: Option<u64>,

    /// Remove files to which nothing was written for so long (720h). Those that are being written
    /// are never removed. It is looked every ten seconds, of a large store more rarely
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    keep_age: Option<Duration>,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[
    (
        "Keep what `timeline record PATH --to localhost` sends, and look at it: `timeline serve \
         traces/`",
        "timeline store traces/",
    ),
    (
        "Receive from other machines, which know the token: there `timeline record PATH --to HOST \
         --token-file token --fingerprint sha256:…`",
        "timeline store traces/ --listen 0.0.0.0 --token-file token",
    ),
    (
        "Show what is kept in a browser at http://localhost:1989/, and have `timeline dump \
         store://localhost` list it",
        "timeline store traces/ --http localhost",
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
    let tokens = tokens(args.token_file.as_deref())?;
    refuse_open(args, &tokens)?;
    let certificate = args.certificate.clone().zip(args.key.clone());
    let signals = Signals::catch()?;
    take_limits_for_errors()?;
    let mut sockets = Sockets::given();
    let store = Store::bind(StoreOptions {
        folder: args.folder.clone(),
        listen: args.listen,
        socket: sockets.next()?,
        keeping: Keeping {
            rotate_size: Some(args.rotate_size),
            rotate_every: args.rotate_every,
            keep_size: args.keep_size,
            fsync: Fsync::Rotate,
        },
        retention: Retention {
            size: args.keep_total,
            age: args.keep_age,
        },
        certificate: certificate.map(|(certificate, key)| CertificateFiles { certificate, key }),
        tokens: tokens.clone(),
        is_insecure: args.insecure,
        log: Arc::new(|line| output::say(printable(line))),
    });
    let store = store.map_err(told)?;
    let mut out = output::stdout();
    writeln!(out, "{}", store.address())?;
    out.flush()?;
    output::say(format_args!("certificate {}", store.fingerprint()));
    let mut services = vec![];
    if let Some(http) = args.http {
        let access = ServerAccess {
            tokens,
            encryption: Some(store.encryption()),
            is_insecure: args.insecure,
        };
        let server = web(args, (http, sockets.next()?), access)?;
        writeln!(out, "{}", url(server.address()))?;
        out.flush()?;
        services.push(serve::service(server));
    }
    let handle = store.handle();
    services.push(Service {
        run: Box::new(move || store.run().map_err(told)),
        stop: Box::new(move || handle.stop()),
    });
    services::run(services, &signals)
}

fn told(error: timeline_store::Error) -> Failure {
    Failure::Message(error.to_string())
}

/// Refuses options by which everybody could send, read or remove all.
fn refuse_open(args: &Args, tokens: &[StoreToken]) -> Result {
    let open = [(Some(args.listen), "send"), (args.http, "read all")];
    let mut open = open.into_iter().filter_map(|(at, what)| Some((at?, what)));
    if let Some((at, what)) = open.find(|(at, _)| !at.ip().is_loopback())
        && tokens.is_empty()
        && !args.insecure
    {
        return Err(Failure::misuse(format!(
            "everybody who can connect to {at} could {what}; say --token-file FILE ((umask 077; \
             openssl rand -hex 16 > FILE) makes one), or --insecure"
        )));
    }
    if let Some(keep) = args.keep_size.filter(|keep| *keep < args.rotate_size) {
        return Err(Failure::misuse(format!(
            "--keep-size must be at least as large as --rotate-size ({}), got {}",
            Bytes(args.rotate_size),
            Bytes(keep)
        )));
    }
    Ok(())
}

/// What answers requests.
fn web(
    args: &Args,
    (listen, socket): (SocketAddr, Option<Arc<TcpListener>>),
    access: ServerAccess,
) -> Result<Server> {
    let server = Server::bind(&ServerOptions {
        paths: vec![args.folder.clone()],
        listen,
        socket,
        access,
        allow_control: false,
        allow_removal: args.allow_removal,
        agent: None,
        command: None,
        executables: Vec::new(),
    });
    server.map_err(serve::told)
}

/// The address of the page. Browsers of this machine need not know the certificate.
fn url(address: SocketAddr) -> String {
    let scheme = match address.ip().is_loopback() {
        true => "http",
        false => "https",
    };
    format!("{scheme}://{address}/")
}
