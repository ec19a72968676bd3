//! Believes the certificate with one fingerprint, and no other.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::Fingerprint;

/// Compares the certificate that a store shows. Names and dates in it say nothing: whoever has the
/// key of the right certificate is the store.
#[derive(Debug)]
pub struct PinVerifier {
    expected: Option<Fingerprint>,
    /// That of the certificate which was shown.
    pub shown: Arc<OnceLock<Fingerprint>>,
    provider: Arc<CryptoProvider>,
}

impl PinVerifier {
    /// `expected`: the only one that is believed; none is if it is not given.
    pub fn new(expected: Option<Fingerprint>, provider: Arc<CryptoProvider>) -> PinVerifier {
        PinVerifier {
            expected,
            shown: Arc::default(),
            provider,
        }
    }
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = Fingerprint::of(certificate);
        let _ = self.shown.set(shown);
        match self.expected == Some(shown) {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
