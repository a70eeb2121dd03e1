//! TLS to the server: `sslmode` and `sslrootcert` in the URL.
//!
//! They mean the same as for libpq (PostgreSQL documentation, "SSL Support"): `require` encrypts, but accepts
//! any server; only `verify-full` prevents impersonation of the server. With `sslrootcert`, `require`
//! verifies like `verify-ca`. Without it, `verify-ca` and `verify-full` use the root certificates of the
//! operating system.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Larger than the root certificates of any operating system. A line of `/dev/zero` does not end.
const MAX_BYTES: u64 = 16 << 20;

/// How the certificate of the server is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verified {
    Nothing,
    /// Its chain to a root certificate.
    Chain,
    /// Its chain, and that it is for the host of the URL.
    ChainAndName,
}

/// Returns the configuration for `sslmode` and `sslrootcert`. The error names the wrong parameter.
pub(super) fn configure(
    mode: Option<&str>,
    root: Option<&str>,
) -> Result<(SslMode, MakeRustlsConnect), String> {
    let (mode, verified) = match mode.unwrap_or("prefer") {
        "disable" => (SslMode::Disable, Verified::Nothing),
        "prefer" => (SslMode::Prefer, Verified::Nothing),
        "require" if root.is_some() => (SslMode::Require, Verified::Chain),
        "require" => (SslMode::Require, Verified::Nothing),
        "verify-ca" => (SslMode::Require, Verified::Chain),
        "verify-full" => (SslMode::Require, Verified::ChainAndName),
        _ => return Err("sslmode must be disable, prefer, require, verify-ca or verify-full".to_owned()),
    };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let inner = if verified == Verified::Nothing {
        None
    } else {
        let roots = Arc::new(roots(root)?);
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
        Some(verifier.map_err(|error| format!("sslrootcert cannot be used: {error}"))?)
    };
    let verifier = Arc::new(Verifier { verified, inner, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("sslmode cannot be used: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok((mode, MakeRustlsConnect::new(config)))
}

/// Returns the root certificates in the PEM file `path`, or those of the operating system.
fn roots(path: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let Some(path) = path.filter(|path| *path != "system") else {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(
                "sslrootcert must be given, because the operating system has no root certificates".to_owned()
            );
        }
        return Ok(roots);
    };
    let certificates = File::open(path)
        .map_err(PemError::Io)
        .and_then(|file| CertificateDer::pem_reader_iter(file.take(MAX_BYTES)).collect::<Result<Vec<_>, _>>())
        .map_err(|error| format!("sslrootcert {path} cannot be read: {error}"))?;
    for certificate in certificates {
        roots.add(certificate).map_err(|error| format!("sslrootcert {path} cannot be used: {error}"))?;
    }
    if roots.is_empty() {
        return Err(format!("sslrootcert {path} contains no certificate"));
    }
    Ok(roots)
}

/// Verifies as much as the mode requires, with the verifier of rustls. Signatures are always verified.
#[derive(Debug)]
struct Verifier {
    verified: Verified,
    /// `None` when nothing is verified.
    inner: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        // The name is verified last, so everything else is valid when only the name is wrong.
        match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verified == Verified::Chain => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
