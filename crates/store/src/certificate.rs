//! Has the certificate by which senders know a store, and makes one if there is none.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::NamedTempFile;
use timeline::internal::files::{self, open_to_read, read_dir, remove};
use timeline_net::Fingerprint;

use crate::options::{CertificateFiles, Error};

/// The file in the directory of a store that has the key and the certificate, in PEM.
const OWN: &str = "store.pem";
/// The beginning of its name before it is whole.
const UNFINISHED: &str = ".store.";
/// Most bytes of a file of certificates.
const MOST: u64 = 1 << 20;

/// What a store encrypts with.
pub struct StoreCertificate {
    /// For each connection.
    pub config: Arc<ServerConfig>,
    /// The certificate that senders are shown.
    pub fingerprint: Fingerprint,
}

impl StoreCertificate {
    /// The certificate of these files, or the one in the directory of the store. If there is none,
    /// it is made.
    ///
    /// # Errors
    /// `Certificate`.
    pub fn open(
        files: Option<&CertificateFiles>,
        folder: &Path,
    ) -> Result<StoreCertificate, Error> {
        if let Some(files) = files {
            return read(&files.certificate, &files.key);
        }
        let own = folder.join(OWN);
        match own.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(&own).map_err(|reason| failed(&own, reason))?;
            }
            _ => {}
        }
        read(&own, &own)
    }
}

fn failed(path: &Path, reason: impl ToString) -> Error {
    Error::Certificate {
        path: path.to_path_buf(),
        reason: reason.to_string(),
    }
}

fn read(certificate: &Path, key: &Path) -> Result<StoreCertificate, Error> {
    let bytes = bytes_of(certificate).map_err(|error| failed(certificate, error))?;
    let chain = CertificateDer::pem_slice_iter(&bytes);
    let chain = chain.collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|_| failed(certificate, "expected certificates in PEM"))?;
    let Some(first) = chain.first() else {
        return Err(failed(
            certificate,
            "expected a certificate in PEM, found none",
        ));
    };
    let fingerprint = Fingerprint::of(first);
    is_secret(key).map_err(|error| failed(key, error))?;
    let bytes = bytes_of(key).map_err(|error| failed(key, error))?;
    let secret = PrivateKeyDer::from_pem_slice(&bytes);
    let secret = secret.map_err(|_| failed(key, "expected a private key in PEM, found none"))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret));
    let config = config.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => failed(key, "the certificate has another key"),
        other => failed(certificate, other),
    });
    Ok(StoreCertificate {
        config: Arc::new(config?),
        fingerprint,
    })
}

/// What is in a file. Opening something else could wait for ever.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("expected a file, this is none"));
    }
    let mut bytes = Vec::new();
    open_to_read(path)?.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_secret(key: &Path) -> io::Result<()> {
    let mode = key.metadata()?.permissions().mode();
    match mode & 0o006 {
        0 => Ok(()),
        _ => Err(io::Error::other(
            "everybody can read or change the key; chmod 600 it",
        )),
    }
}

/// Makes a certificate that is good for ever: whoever knows its fingerprint believes it.
fn make(path: &Path) -> io::Result<()> {
    let own = files::read_to_string(Path::new("/proc/sys/kernel/hostname"));
    let own = own.ok().map(|name| name.trim().to_owned());
    let here = ["timeline-store", "localhost", "127.0.0.1", "::1"].map(String::from);
    let names: Vec<String> = here.into_iter().chain(own).collect();
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let text = made.signing_key.serialize_pem() + &made.cert.pem();
    let folder = path.parent().unwrap_or(Path::new("."));
    // Those of a store that was killed while it made one. The directory is locked.
    for entry in read_dir(folder)?.flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(UNFINISHED.as_bytes())
        {
            let _ = remove(&entry.path());
        }
    }
    // Nobody finds a half of it, whenever the store is killed. 0600 is what such files have.
    let mut file = NamedTempFile::with_prefix_in(UNFINISHED, folder)?;
    file.as_file()
        .set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(folder: &Path) -> Result<Fingerprint, String> {
        let opened = StoreCertificate::open(None, folder);
        opened
            .map(|opened| opened.fingerprint)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_certificate_is_made_once_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let first = fingerprint(folder.path());
        assert!(first.is_ok(), "{first:?}");
        assert_eq!(fingerprint(folder.path()), first);
        let names = timeline::internal::files::read_dir(folder.path()).unwrap();
        let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [OWN]);
        let own = folder.path().join(OWN);
        assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::remove_file(&own).unwrap();
        let second = fingerprint(folder.path());
        assert!(second.is_ok() && second != first, "{second:?}");
    }

    #[test]
    fn a_file_that_is_no_certificate_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fingerprint(folder.path()).unwrap();
        let own = folder.path().join(OWN);
        let mut open = own.metadata().unwrap().permissions();
        open.set_mode(0o644);
        std::fs::set_permissions(&own, open).unwrap();
        let told = fingerprint(folder.path()).unwrap_err();
        assert!(
            told.contains("everybody can read or change the key"),
            "{told}"
        );
        std::fs::remove_file(&own).unwrap();
        // Neither is waited for.
        std::os::unix::fs::symlink("/dev/zero", &own).unwrap();
        let told = fingerprint(folder.path()).unwrap_err();
        assert!(told.contains("store.pem: expected a file"), "{told}");
        std::fs::remove_file(&own).unwrap();
        nix::unistd::mkfifo(&own, nix::sys::stat::Mode::S_IRUSR).unwrap();
        let told = fingerprint(folder.path()).unwrap_err();
        assert!(told.contains("store.pem: expected a file"), "{told}");
        std::fs::remove_file(&own).unwrap();
        // What a killed store left is gone.
        let left = folder.path().join(".store.Xy12Za");
        drop(std::fs::File::create(&left).unwrap());
        fingerprint(folder.path()).unwrap();
        assert!(!left.exists() && own.exists());
    }
}
