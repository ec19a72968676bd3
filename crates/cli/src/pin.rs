//! `timeline pin`: believes the certificate of a store or an agent from now on.

use std::io::{self, BufRead, IsTerminal, Write};

use timeline_net::{Fingerprint, HTTP_PORT, KnownStores, PORT, shown_certificate, to_connect_to};

use crate::args::Example;
use crate::failure::{Failure, Result};
use crate::output;
use crate::verb::Verb;

/// Believe the certificate of a store or an agent from now on
///
/// Asks the other side which certificate it shows, shows that, and asks whether it is the right
/// one: it is if the store printed the same one when it began. Then recorders, `timeline remote`
/// and store://HOST/TRACE believe it, and no other. With SHA256, nothing is asked.
///
/// The certificates stand in ~/.config/timeline/stores, a line each. The line for port 1980 of a
/// host is one for its port 1989 as well.
#[derive(clap::Args)]
pub struct Args {
    /// The store, or the agent with its port (db1:1985). The port is 1980 if none is given
    #[arg(value_name = "HOST[:PORT]", value_parser = |text: &str| to_connect_to(text, PORT))]
    host: String,

    /// The certificate, as it was printed (sha256:…)
    #[arg(value_name = "SHA256")]
    fingerprint: Option<Fingerprint>,
}

/// Shown by `--help`.
const EXAMPLES: &[Example] = &[(
    "Believe a store, if it is the right one",
    "timeline pin store1",
)];

impl Verb for Args {
    fn examples() -> &'static [Example] {
        EXAMPLES
    }

    fn run(&self) -> Result {
        run(self)
    }
}

fn run(args: &Args) -> Result {
    let failed = |what: &str, error: io::Error| {
        let path = KnownStores::of_user().map(|known| known.path().display().to_string());
        Failure::Message(format!(
            "cannot {what} {}: {error}",
            path.unwrap_or_default()
        ))
    };
    let known = KnownStores::of_user().ok_or_else(|| {
        Failure::Message("expected HOME or XDG_CONFIG_HOME to be set, neither is".into())
    })?;
    let host = &args.host;
    let before = known
        .fingerprint(host)
        .map_err(|error| failed("read", error))?;
    let fingerprint = match args.fingerprint {
        Some(given) => given,
        None => {
            let shown = shown_certificate(host);
            let shown = shown.map_err(|error| Failure::Message(format!("{host}: {error}")))?;
            if before != Some(shown) {
                confirm(host, shown, before)?;
            }
            shown
        }
    };
    if before == Some(fingerprint) {
        output::say(format_args!("{host} is known by {fingerprint} already"));
        return Ok(());
    }
    known
        .add(host, fingerprint)
        .map_err(|error| failed("write", error))?;
    let both = match host.strip_suffix(&format!(":{PORT}")) {
        Some(name) => format!(", and {name}:{HTTP_PORT}"),
        None => String::new(),
    };
    output::say(format_args!(
        "{host}{both} is known by {fingerprint} from now on"
    ));
    Ok(())
}

/// Asks whether it is the right one.
fn confirm(host: &str, shown: Fingerprint, before: Option<Fingerprint>) -> Result {
    if let Some(before) = before {
        output::say(format_args!(
            "{host} was known by {before}: it is another store now, or somebody is in between"
        ));
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::misuse(format!(
            "{host} shows the certificate {shown}; if it printed the same one, say `timeline pin \
             {host} {shown}`"
        )));
    }
    let mut out = io::stderr();
    write!(
        out,
        "{host} shows the certificate {shown}\nDid it print the same one? [yes/no] "
    )?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::Message(format!(
            "{host} is not known: expected yes"
        ))),
    }
}
