//! Knows the certificates of stores, as ssh knows the keys of hosts.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use timeline::internal::variable;

use super::Fingerprint;
use crate::address::{HTTP_PORT, PORT, is_here, to_connect_to};

/// Most bytes of the file.
const MOST: u64 = 1 << 20;

/// A file with a line for each store: its address (with port 1980 if it names none), and the
/// fingerprint of its certificate. Empty lines, and those that begin with `#`, say nothing.
///
/// ```text
/// db1:1980 sha256:5e24…
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownStores(PathBuf);

impl KnownStores {
    /// That of this user: `timeline/stores` below `$XDG_CONFIG_HOME`, or below `~/.config`. `None`
    /// if the environment names neither, or if the program has more rights than who started it.
    pub fn of_user() -> Option<KnownStores> {
        let named = |name| variable(name).filter(|value| !value.is_empty());
        let config = named("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.filter(|path| path.is_absolute());
        let config = config.or_else(|| Some(Path::new(&named("HOME")?).join(".config")))?;
        Some(KnownStores(config.join("timeline/stores")))
    }

    /// Another file.
    pub fn at(path: &Path) -> KnownStores {
        KnownStores(path.to_path_buf())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Adds a line for the store at an address. The file is made if it is not there, for this user
    /// alone.
    ///
    /// # Errors
    /// Those of writing; those of [`KnownStores::fingerprint`].
    pub fn add(&self, address: &str, fingerprint: Fingerprint) -> io::Result<()> {
        // A line behind one that makes no sense would not help.
        self.fingerprint(address)?;
        if let Some(folder) = self.0.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut options = File::options();
        let mut file = options
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.0)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let end = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        file.write_all(format!("{end}{address} {fingerprint}\n").as_bytes())?;
        file.sync_all()
    }

    /// The certificate of the store at an address, if the file names one. The last line counts. A
    /// line for the port 1980 is one for 1989 as well, unless that has its own: a store shows one
    /// certificate at both. `localhost` and the numbers of this machine are the same.
    ///
    /// # Errors
    /// Those of reading the file, if it is there; `InvalidData` for a line that makes no sense.
    pub fn fingerprint(&self, address: &str) -> io::Result<Option<Fingerprint>> {
        let metadata = match self.0.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        // To open a pipe could wait for ever.
        if !metadata.is_file() {
            let what = format!("expected a file of known stores: {}", self.0.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let mut text = String::new();
        File::open(&self.0)?.take(MOST).read_to_string(&mut text)?;
        let (host, port) = place(address);
        let (mut known, mut of_store) = (None, None);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts = line.split_once(char::is_whitespace);
            let parsed = parts.and_then(|(of, name)| {
                // As `--to` takes it.
                let of = to_connect_to(of, PORT).ok()?;
                Some((of, name.trim().parse().ok()?))
            });
            let Some((of, name)) = parsed else {
                let what = format!(
                    "line {} of {} makes no sense: expected an address and sha256: with 64 \
                     hexadecimal digits",
                    number + 1,
                    self.0.display()
                );
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            };
            let (of, of_port) = place(&of);
            if of == host && of_port == port {
                known = Some(name);
            } else if of == host && (port, of_port) == (Some(HTTP_PORT), Some(PORT)) {
                of_store = Some(name);
            }
        }
        Ok(known.or(of_store))
    }
}

/// The host of an address, in one spelling, and its port.
fn place(address: &str) -> (String, Option<u16>) {
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let host = match is_here(address) {
        true => "localhost".into(),
        false => host.to_ascii_lowercase(),
    };
    (host, port.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_store_is_added_at_the_end() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let known = KnownStores::at(&folder.path().join("new/timeline/stores"));
        let (old, new) = (Fingerprint::of(b"old"), Fingerprint::of(b"new"));
        known.add("db1:1980", old).unwrap();
        assert_eq!(
            known.path().metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::write(known.path(), format!("db1:1980 {old}")).unwrap();
        known.add("db1:1980", new).unwrap();
        assert_eq!(known.fingerprint("db1:1980").unwrap(), Some(new));
        fs::write(known.path(), "nonsense\n").unwrap();
        assert!(known.add("db1:1980", new).is_err());
        assert_eq!(fs::read_to_string(known.path()).unwrap(), "nonsense\n");
    }

    #[test]
    fn the_last_line_of_an_address_counts() {
        let folder = tempfile::tempdir().unwrap();
        let known = KnownStores::at(&folder.path().join("stores"));
        assert_eq!(known.fingerprint("db1:1980").unwrap(), None);
        let (old, new) = (Fingerprint::of(b"old"), Fingerprint::of(b"new"));
        let text = format!("# mine\n\ndb1:1980 {old}\n DB1:1980\t{new}\ndb2:1980 {old}\n");
        fs::write(known.path(), text).unwrap();
        assert_eq!(known.fingerprint("db1:1980").unwrap(), Some(new));
        assert_eq!(known.fingerprint("db2:1980").unwrap(), Some(old));
        assert_eq!(known.fingerprint("db1:1981").unwrap(), None);
        let spellings = format!("db3 {old}\n[0:0:0:0:0:0:0:1]:7 {old}\n::1 {new}\n");
        fs::write(known.path(), spellings).unwrap();
        for (address, name) in [("db3:1980", old), ("[::1]:7", old), ("[::1]:1980", new)] {
            assert_eq!(known.fingerprint(address).unwrap(), Some(name), "{address}");
        }
        let here = format!("localhost {old}\ndb4 {old}\ndb4:1989 {new}\n");
        fs::write(known.path(), here).unwrap();
        for (address, name) in [
            ("127.0.0.1:1980", Some(old)),
            ("127.0.0.2:1980", Some(old)),
            ("[::1]:1980", Some(old)),
            ("localhost:1980", Some(old)),
            ("localhost:1989", Some(old)),
            ("localhost:1985", None),
            ("db4:1980", Some(old)),
            ("db4:1989", Some(new)),
            ("db5:1980", None),
        ] {
            assert_eq!(known.fingerprint(address).unwrap(), name, "{address}");
        }
        let marked = format!("\u{feff}db3:1980 {old}");
        for bad in ["db1:1980", "db1:1980 sha256:12", "\u{fc}", &marked] {
            fs::write(known.path(), bad).unwrap();
            let told = known.fingerprint("db3:1980").unwrap_err().to_string();
            assert!(told.contains("line 1 of "), "{told}");
        }
    }
}
