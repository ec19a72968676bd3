//! The timeline or archive of a verb: found by its name, or because it is the only one.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use timeline::dump::printable;
use timeline::{Attached, Control, Error, ErrorKind, Owner, is_former};
use timeline_reading::{Extent, Log, begins_like_archive};

use crate::failure::{Failure, Result};
use crate::fetch::{self, Excerpt};
use crate::output;
use crate::permission;
use crate::raised_level::RaisedLevel;
use crate::recovery;
use crate::trust::TrustArgs;

/// The timeline or archive.
#[derive(clap::Args, Default)]
pub struct Target {
    /// Name in shared memory (/timeline), or file of a timeline. Verbs that only read it take a
    /// snapshot (snapshot.timeline), an archive (flight.tla), and the directory of a rotated
    /// archive as well, and - for standard input. It can be omitted if there is exactly one
    /// timeline in shared memory
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,

    #[arg(skip)]
    chosen: bool,
}

impl Target {
    /// The timeline or archive of this name.
    pub fn named(path: PathBuf) -> Target {
        Target {
            path: Some(path),
            chosen: false,
        }
    }

    /// The name that was given or chosen.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Whether the name was omitted, and the only timeline was chosen.
    pub fn was_chosen(&self) -> bool {
        self.chosen
    }

    /// Takes the word that was given as PATH, if `is_other` says that it is something else.
    pub fn take_if(&mut self, is_other: impl Fn(&str) -> bool) -> Option<String> {
        let word = self.path.as_ref()?.to_str()?;
        is_other(word)
            .then(|| word.to_owned())
            .inspect(|_| self.path = None)
    }

    /// Chooses the only timeline in shared memory, if none was named. Ends with status 2 if there
    /// is none, or several.
    pub fn choose(&mut self) -> Result<()> {
        if self.path.is_some() {
            return Ok(());
        }
        let names = in_shared_memory();
        if let [only] = &names[..] {
            output::say(format_args!(
                "using {only}, the only timeline in shared memory"
            ));
            self.path = Some(only.into());
            self.chosen = true;
            return Ok(());
        }
        if names.is_empty() {
            return Err(Failure::misuse(
                "there is no timeline in shared memory; name a PATH, or try `timeline demo`",
            ));
        }
        let names = names.iter().map(|name| format!("\n  {}", printable(name)));
        let names: String = names.collect();
        Err(Failure::misuse(format!(
            "there are several timelines in shared memory; name one:{names}"
        )))
    }

    /// Fails for a trace of a store where a timeline of this machine is needed.
    pub fn refuse_trace(&self) -> Result {
        match fetch::is_trace(self.path()) {
            false => Ok(()),
            true => Err(Failure::Message(format!(
                "{} is a trace of a store, and expected is a timeline of this machine; `timeline \
                 save PATH copy.tla` copies a trace, and `timeline remote` controls programs",
                self.path().display()
            ))),
        }
    }

    /// Attaches for reading.
    pub fn attach(&self) -> Result<Attached> {
        self.refuse_trace()?;
        let at = Attached::open(self.path()).map_err(|error| self.explain(error))?;
        RaisedLevel::new(&at).restore();
        Ok(at)
    }

    /// Attaches for changing the level.
    pub fn control(&self, trusted: &TrustArgs) -> Result<Control> {
        self.refuse_trace()?;
        Control::open_trusting(self.path(), trusted.trust()).map_err(|error| match &error {
            Error::NotTrusted { owner, .. } if owner.mode & 0o002 == 0 => {
                let Owner { user, group, .. } = owner;
                let (told, name) = (
                    permission::told(&error),
                    "Name that user or group as trusted",
                );
                let options = format!("{name} (--trust-user {user}, or --trust-group {group})");
                Failure::Message(told.replace(name, &options))
            }
            _ => self.explain(error),
        })
    }

    /// Adds to an error a hint at a similar name.
    pub fn explain(&self, error: Error) -> Failure {
        explain(self.path(), error)
    }

    /// Opens it for reading, and as much of an archive. Lost texts of an archive are looked for in
    /// executables.
    pub fn open(&self, extent: Extent) -> Result<Log> {
        self.open_wanted(extent, &Excerpt::All)
    }

    /// The same, of a trace of a store only what is wanted. Whoever asks still has to choose among
    /// the events.
    pub fn open_wanted(&self, extent: Extent, wanted: &Excerpt) -> Result<Log> {
        if fetch::is_trace(self.path()) {
            let received = fetch::receive(self.path(), wanted)?;
            let name = self.path().display().to_string();
            return open_as(received, self.path(), &name);
        }
        if self.path() == Path::new("-") {
            return standard_input();
        }
        let log = Log::open(self.path(), extent).map_err(|error| match error {
            timeline_reading::Error::Timeline(error) => self.explain(error),
            other => other.into(),
        })?;
        if let Some(at) = log.ring() {
            RaisedLevel::new(at).restore();
        }
        Ok(log.recovered(recovery::given()))
    }
}

/// The path of a file with all of standard input, which is read once. The file has no name, so that
/// none is left behind if this is interrupted.
pub fn standard_input_file() -> Result<PathBuf> {
    static FILE: OnceLock<File> = OnceLock::new();
    let path = |file: &File| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    if let Some(file) = FILE.get() {
        return Ok(path(file));
    }
    let failed =
        |error: io::Error| Failure::Message(format!("cannot read standard input: {error}"));
    if io::stdin().is_terminal() {
        let message = "standard input is a terminal; give - a snapshot or an archive, as in \
                       `timeline dump - <flight.tla`";
        return Err(Failure::Message(message.into()));
    }
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    Ok(path(FILE.get_or_init(|| file)))
}

/// Reads a snapshot or an archive from standard input.
fn standard_input() -> Result<Log> {
    open_as(standard_input_file()?, "-".as_ref(), "standard input")
}

/// Opens a file that people know by another path, and errors by a name.
fn open_as(path: PathBuf, shown: &Path, name: &str) -> Result<Log> {
    let own = path.display().to_string();
    let log = Target::named(path).open(Extent::Whole);
    log.map(|log| log.shown_as(shown))
        .map_err(|failure| match failure {
            Failure::Message(message) => Failure::Message(message.replace(&own, name)),
            other => other,
        })
}

/// Adds to an error a similar name, or for an archive, which has no writers to control, the verbs
/// that read it.
pub fn explain(path: &Path, error: Error) -> Failure {
    let mut message = permission::told(&error);
    let path_shown = path.display();
    if error.kind() == ErrorKind::NotFound {
        if let Some(meant) = meant(path) {
            message = format!("no timeline at {path_shown}; did you mean {meant}?");
        }
    } else if begins_like_archive(path) {
        message = format!(
            "{path_shown} is an archive, not a timeline; info, dump, tail, search, stats, events, \
             histogram, outliers, watch, serve, save, index, export, verify and repair read \
             archives"
        );
    }
    Failure::Message(message)
}

/// The timelines in shared memory by name, without those of earlier runs, which `new` renamed to
/// NAME.prev.
fn in_shared_memory() -> Vec<String> {
    let mut names = timeline::names().unwrap_or_default();
    names.retain(|name| !is_former(name.as_ref()));
    names
}

/// The timeline in shared memory with the most similar name, if it is similar enough to be meant.
pub fn meant(path: &Path) -> Option<String> {
    let given = path.to_str()?;
    let bare = given.strip_prefix('/').unwrap_or(given);
    if bare.contains('/') {
        return None;
    }
    let names = timeline::names().unwrap_or_default();
    let bare_names = names.iter().map(|name| &name[1..]);
    let near = timeline::internal::nearest(bare, bare_names);
    near.first().map(|name| format!("/{name}"))
}

/// Whether a name in shared memory only lacks the leading slash.
pub fn lacks_slash(path: &Path) -> bool {
    let slashed = PathBuf::from(format!("/{}", path.display()));
    path.components().count() == 1 && Attached::open(slashed).is_ok()
}
