//! Says by what a store is known, and whether the connection to it is encrypted.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

use super::client::TlsClient;
use super::verifier::PinVerifier;
use super::{Fingerprint, KnownStores};

/// By what a store is known.
#[derive(Debug, Clone, Default)]
pub enum StoreTrust {
    /// By the certificate that the user's file of known stores names for its address. A store on
    /// this machine that is not in it is reached without encryption; any other is refused.
    #[default]
    KnownStores,
    /// By the fingerprint of its certificate.
    Fingerprint(Fingerprint),
    /// By one who signed its certificate, which must name the host of the address.
    Authority(Arc<RootCertStore>),
    /// By nothing: everybody in between can read and change what is sent.
    Nothing,
}

/// Why a store cannot be known.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// A file of certificates cannot be used.
    #[error("cannot use the certificates in {}: {reason}", .path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl StoreTrust {
    /// By one who signed its certificate: a file of certificates in PEM.
    ///
    /// # Errors
    /// `Certificates`, if the file cannot be read, has none, or has one that cannot be used.
    pub fn authority(path: &Path) -> Result<StoreTrust, TrustError> {
        let failed = |reason: String| TrustError::Certificates {
            path: path.to_path_buf(),
            reason,
        };
        let certificates = CertificateDer::pem_file_iter(path);
        let certificates = certificates.map_err(|error| failed(error.to_string()))?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            let certificate = certificate.map_err(|error| failed(error.to_string()))?;
            let added = roots.add(certificate);
            added.map_err(|error| failed(error.to_string()))?;
        }
        match roots.is_empty() {
            true => Err(failed("expected certificates in PEM, found none".into())),
            false => Ok(StoreTrust::Authority(Arc::new(roots))),
        }
    }

    /// What encrypts a connection to an address; `None` if it is not encrypted.
    ///
    /// # Errors
    /// Those of reading the file of known stores.
    pub(crate) fn client(&self, address: &str, to: IpAddr) -> std::io::Result<Option<TlsClient>> {
        let pinned = |expected| pinned(address, expected);
        Ok(match self {
            StoreTrust::Nothing => None,
            StoreTrust::Fingerprint(expected) => Some(pinned(Some(*expected))),
            StoreTrust::Authority(roots) => {
                let config = config(&Arc::new(ring::default_provider()))
                    .with_root_certificates(Arc::clone(roots));
                Some(TlsClient::new(config.with_no_client_auth(), address, None))
            }
            StoreTrust::KnownStores => {
                let stores = KnownStores::of_user();
                let known = stores.map(|stores| stores.fingerprint(address));
                match known.transpose()?.flatten() {
                    None if to.to_canonical().is_loopback() => None,
                    known => Some(pinned(known)),
                }
            }
        })
    }
}

/// What encrypts a connection to an address, if the certificate with this fingerprint is shown.
pub(super) fn pinned(address: &str, expected: Option<Fingerprint>) -> TlsClient {
    let provider = Arc::new(ring::default_provider());
    let verifier = PinVerifier::new(expected, Arc::clone(&provider));
    let shown = Arc::clone(&verifier.shown);
    let config = config(&provider)
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    TlsClient::new(config, address, Some((expected, shown)))
}

type ConfigBuilder = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

/// Only the newest version: both sides are of this project.
fn config(provider: &Arc<CryptoProvider>) -> ConfigBuilder {
    ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider knows version 1.3")
}
