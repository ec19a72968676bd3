//! Holds the secret by which a store knows its senders.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use subtle::ConstantTimeEq;
use timeline::internal::variable;

/// Names the token in the environment.
const VARIABLE: &str = "TIMELINE_TOKEN";
/// The fewest and the most characters of a token.
const LENGTH: std::ops::RangeInclusive<usize> = 16..=256;
/// Most bytes of a file of tokens.
const MAX_FILE: u64 = 64 << 10;

/// A secret that a store and its senders know. It is never shown.
///
/// # Example
/// ```
/// use timeline_net::StoreToken;
/// let token = StoreToken::parse("2b7e151628aed2a6").unwrap();
/// assert!(token.is(&StoreToken::parse("2b7e151628aed2a6").unwrap()));
/// assert_eq!(format!("{token:?}"), "StoreToken");
/// assert!(StoreToken::parse("short").is_err());
/// ```
#[derive(Clone)]
pub struct StoreToken(Box<[u8]>);

impl StoreToken {
    /// Reads a token.
    ///
    /// # Errors
    /// Unless it has 16 to 256 characters, which are letters, digits and marks of ASCII.
    pub fn parse(text: &str) -> Result<StoreToken, String> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        match is_plain && LENGTH.contains(&text.len()) {
            true => Ok(StoreToken::of(text)),
            false => Err(format!(
                "expected a token of {} to {} letters, digits and marks, got {}",
                LENGTH.start(),
                LENGTH.end(),
                match is_plain {
                    true => format!("{} of them", text.len()),
                    false => "other characters".into(),
                }
            )),
        }
    }

    /// The one in the variable `TIMELINE_TOKEN`, if it is set. A program that has more rights than
    /// who started it does not read it.
    ///
    /// # Errors
    /// If it is no token.
    pub fn from_environment() -> Result<Option<StoreToken>, String> {
        let text = variable(VARIABLE).filter(|text| !text.is_empty());
        let token = text.map(|text| StoreToken::parse(&text.to_string_lossy()));
        let token = token.transpose();
        token.map_err(|what| format!("{VARIABLE}: {what}"))
    }

    /// What came over a connection.
    pub(crate) fn of(text: &str) -> StoreToken {
        StoreToken(text.as_bytes().into())
    }

    /// The tokens of a file, one in each line. Empty lines, and those that begin with `#`, say
    /// nothing.
    ///
    /// # Errors
    /// Those of reading the file; if others can read it; if it has no token, or a line makes no
    /// sense.
    pub fn read_file(path: &Path) -> io::Result<Vec<StoreToken>> {
        let bad = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if metadata.mode() & 0o006 != 0 {
            let what = "everybody can read or change it; chmod 600 it";
            return Err(bad(what.to_owned()));
        }
        let mut text = String::new();
        file.take(MAX_FILE + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_FILE {
            return Err(bad(format!("expected at most {MAX_FILE} bytes")));
        }
        let lines = text.lines().map(str::trim).enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let tokens = lines.map(|(number, line)| {
            let token = StoreToken::parse(line);
            token.map_err(|what| bad(format!("line {}: {what}", number + 1)))
        });
        let tokens = tokens.collect::<io::Result<Vec<_>>>()?;
        match tokens.is_empty() {
            true => Err(bad("expected a token, found none".into())),
            false => Ok(tokens),
        }
    }

    /// One that nobody can guess: 128 bits in base 16.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> io::Result<StoreToken> {
        let mut bytes = [0; 16];
        let filled = getrandom::fill(&mut bytes);
        filled.map_err(|error| io::Error::other(error.to_string()))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(StoreToken::of(&text))
    }

    /// Writes it to a file that only this user can read, unless there is one.
    ///
    /// # Errors
    /// Those of writing. A file that somebody else has made meanwhile stays.
    pub fn keep(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}", std::process::id()));
        let unfinished = Path::new(&unfinished);
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(unfinished)?;
        let written = writeln!(file, "{}", self.text());
        // Nobody finds a half of it, and the first one stays.
        let linked = written.and_then(|()| std::fs::hard_link(unfinished, path));
        std::fs::remove_file(unfinished)?;
        match linked {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Whether it is one of those that are known. All of them are compared, so the time does not
    /// say which one it is.
    pub fn is_one_of(&self, known: &[StoreToken]) -> bool {
        let is = known.iter().map(|known| known.is(self));
        is.fold(false, |is_one, is| is_one | is)
    }

    /// Whether it is the same one. How long that takes says nothing of it but its length.
    pub fn is(&self, other: &StoreToken) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The secret itself, which goes over a connection and nowhere else.
    pub fn text(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for StoreToken {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("StoreToken")
    }
}

impl PartialEq for StoreToken {
    fn eq(&self, other: &StoreToken) -> bool {
        self.is(other)
    }
}

impl Eq for StoreToken {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_of_tokens_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let write = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            StoreToken::read_file(&path)
        };
        let text = "# old\n0123456789abcdef\n\n  fedcba9876543210  \n";
        let tokens = write(text, 0o600).unwrap();
        assert_eq!(
            tokens,
            ["0123456789abcdef", "fedcba9876543210"].map(StoreToken::of)
        );
        assert_ne!(tokens[0], tokens[1]);
        let long = text.repeat(2000);
        for (text, mode, expected) in [
            (text, 0o644, "everybody can read or change it"),
            (text, 0o602, "everybody can read or change it"),
            (&long, 0o600, "at most 65536 bytes"),
            ("", 0o600, "found none"),
            ("# nothing\n", 0o600, "found none"),
            (
                "0123456789abcdef\nshort\n",
                0o600,
                "line 2: expected a token",
            ),
            (
                "two words, of which none is a token\n",
                0o600,
                "other characters",
            ),
        ] {
            let told = write(text, mode).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        }
    }
}
