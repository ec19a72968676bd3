//! Has the certificate by which senders know a store, and makes one if there is none.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::NamedTempFile;
use timeline_net::Fingerprint;

use crate::options::{CertificateFiles, Error};

/// The file in the directory of a store that has the key and the certificate, in PEM.
const OWN: &str = "store.pem";

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
    let chain = CertificateDer::pem_file_iter(certificate);
    let chain = chain.map_err(|error| failed(certificate, error))?;
    let chain = chain.collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| failed(certificate, error))?;
    let Some(first) = chain.first() else {
        return Err(failed(
            certificate,
            "expected a certificate in PEM, found none",
        ));
    };
    let fingerprint = Fingerprint::of(first);
    is_secret(key).map_err(|error| failed(key, error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret));
    Ok(StoreCertificate {
        config: Arc::new(config.map_err(|error| failed(certificate, error))?),
        fingerprint,
    })
}

fn is_secret(key: &Path) -> io::Result<()> {
    let mode = File::open(key)?.metadata()?.permissions().mode();
    match mode & 0o004 {
        0 => Ok(()),
        _ => Err(io::Error::other("everybody can read the key; chmod 600 it")),
    }
}

/// Makes a certificate that is good for ever: whoever knows its fingerprint believes it.
fn make(path: &Path) -> io::Result<()> {
    let names = vec!["timeline-store".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let text = made.signing_key.serialize_pem() + &made.cert.pem();
    let folder = path.parent().unwrap_or(Path::new("."));
    // Nobody finds a half of it, whenever the store is killed. 0600 is what such files have.
    let mut file = NamedTempFile::with_prefix_in(".store.", folder)?;
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
        assert!(told.contains("everybody can read the key"), "{told}");
        std::fs::remove_file(&own).unwrap();
        std::os::unix::fs::symlink("/dev/null", &own).unwrap();
        let told = fingerprint(folder.path()).unwrap_err();
        let expected = "store.pem: expected a certificate in PEM, found none";
        assert!(told.contains(expected), "{told}");
    }
}
