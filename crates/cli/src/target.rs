//! The timeline or archive of a verb: found by its name, or because it is the only one.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use timeline::dump::printable;
use timeline::layout::MAGIC;
use timeline::{Attached, Control, Error, ErrorKind as Kind, Owner, is_former, looks_like};
use timeline_archive::Archive;
use timeline_search::open_archive;

use crate::failure::{Failure, Result};
use crate::output;
use crate::permission;
use crate::raised_level::RaisedLevel;
use crate::recovery;
use crate::trust::Trusted;

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

/// The timeline or archive that was found.
pub enum Opened {
    /// A timeline, live or not, or a snapshot.
    Ring(Box<Attached>),
    /// The archive of one or several of them.
    Archive(Box<Archive>),
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

    /// Attaches for reading.
    pub fn attach(&self) -> Result<Attached> {
        let at = Attached::open(self.path()).map_err(|error| self.explain(error))?;
        RaisedLevel::new(&at).restore();
        Ok(at)
    }

    /// Attaches for changing the level.
    pub fn control(&self, trusted: &Trusted) -> Result<Control> {
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

    /// Opens it for reading. A file that does not begin like a timeline is an archive, if any part
    /// of one is in it. All of an archive is read.
    pub fn open(&self) -> Result<Opened> {
        self.open_by(&|path| Archive::open(path))
    }

    /// Like `open`, but reads only a small part of an archive that has an index.
    pub fn open_indexed(&self) -> Result<Opened> {
        self.open_by(&|path| open_archive(path))
    }

    /// Like `open_indexed`, for the newest `count` events only: it reads no more of a rotated
    /// archive than they need.
    pub fn open_newest(&self, count: usize) -> Result<Opened> {
        self.open_by(&|path| match count {
            usize::MAX => open_archive(path),
            _ if path.is_dir() => Archive::open_newest(path, count),
            _ => open_archive(path),
        })
    }

    fn open_by(&self, open: &dyn Fn(&Path) -> timeline_archive::Result<Archive>) -> Result<Opened> {
        if self.path() == Path::new("-") {
            return standard_input();
        }
        let path = self.path();
        let archive = |mut archive| {
            recovery::recover(&mut archive);
            Ok(Opened::Archive(Box::new(archive)))
        };
        let error = match Attached::open(path) {
            Ok(at) => {
                RaisedLevel::new(&at).restore();
                return Ok(Opened::Ring(Box::new(at)));
            }
            Err(error) => error,
        };
        if path.is_dir() {
            return archive(open(path)?);
        }
        if !matches!(
            error.kind(),
            Kind::NotATimeline | Kind::Corrupt | Kind::NotFound
        ) {
            return Err(explain(path, error));
        }
        match open(path) {
            Ok(found) if !begins_with(path, &MAGIC) => archive(found),
            Err(timeline_archive::Error::NotAnArchive { found, .. })
                if !found.starts_with(&MAGIC) =>
            {
                Err(Failure::Message(format!(
                    "{} is neither a timeline nor an archive: it is {}",
                    path.display(),
                    looks_like(&found)
                )))
            }
            _ => Err(explain(path, error)),
        }
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
fn standard_input() -> Result<Opened> {
    let path = standard_input_file()?;
    let shown = path.display().to_string();
    Target::named(path).open().map_err(|failure| match failure {
        Failure::Message(message) => Failure::Message(message.replace(&shown, "standard input")),
        other => other,
    })
}

/// Adds to an error a similar name, or for an archive, which has no writers to control, the verbs
/// that read it.
pub fn explain(path: &Path, error: Error) -> Failure {
    let mut message = permission::told(&error);
    let path_shown = path.display();
    if error.kind() == Kind::NotFound {
        if let Some(meant) = meant(path) {
            message = format!("no timeline at {path_shown}; did you mean {meant}?");
        }
    } else if is_archive(path) {
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
    let near = timeline::nearest(bare, bare_names);
    near.first().map(|name| format!("/{name}"))
}

/// Whether a name in shared memory only lacks the leading slash.
pub fn lacks_slash(path: &Path) -> bool {
    let slashed = PathBuf::from(format!("/{}", path.display()));
    path.components().count() == 1 && Attached::open(slashed).is_ok()
}

/// Whether it begins like an archive, or is a directory with files of one.
fn is_archive(path: &Path) -> bool {
    if let Ok(entries) = fs::read_dir(path) {
        let mut paths = entries.flatten().map(|entry| entry.path());
        return paths.any(|path| path.extension().is_some_and(|extension| extension == "tla"));
    }
    begins_with(path, &timeline_archive::MAGIC)
}

/// Whether it is a file that begins with `expected`. A pipe is not opened, because that would wait
/// for a writer.
fn begins_with(path: &Path, expected: &[u8]) -> bool {
    let mut beginning = vec![0; expected.len()];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut beginning).is_ok())
        && beginning == expected
}
