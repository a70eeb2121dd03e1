//! The certificate of the public listener, from PEM files.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::start::StartError;
use crate::config::TlsFiles;
use crate::telemetry::metrics::{Metrics, not_after};

/// Larger than any chain of certificates. A line of `/dev/zero` does not end.
const MAX_BYTES: u64 = 1 << 20;

const CERTIFICATE: &str = "tls.certificate";
const PRIVATE_KEY: &str = "tls.private_key";

/// A certificate that the listener can use.
pub struct Certificate {
    config: ServerConfig,
    /// `None` if it cannot be read.
    expires: Option<Timestamp>,
}

impl Certificate {
    /// Reads both files.
    ///
    /// # Errors
    /// When a file cannot be read or has no such PEM section, or the private key belongs to another certificate.
    pub fn load(files: &TlsFiles) -> Result<Self, StartError> {
        let chain = read(&files.certificate).and_then(|pem| {
            let chain = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>()?;
            if chain.is_empty() { Err(PemError::NoItemsFound) } else { Ok(chain) }
        });
        let chain =
            chain.map_err(|error| at(CERTIFICATE, &files.certificate, &pem("certificate", &error)))?;
        let key = read(&files.private_key).and_then(|pem| PrivateKeyDer::from_pem_slice(&pem));
        let key = key.map_err(|error| {
            let problem = pem("private key without a passphrase", &error);
            at(
                PRIVATE_KEY,
                &files.private_key,
                &format!("{problem}; `openssl pkey -in OLD -out NEW` writes one"),
            )
        })?;
        let expires = chain.first().and_then(|leaf| not_after(leaf));
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_no_client_auth())
            .and_then(|builder| builder.with_single_cert(chain, key))
            .map_err(|error| {
                let problem = match error {
                    rustls::Error::InconsistentKeys(_) => "the private key does not belong to".to_owned(),
                    error => format!("{error}; expected the private key of"),
                };
                at(PRIVATE_KEY, &files.private_key, &format!("{problem} {}", files.certificate.display()))
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config, expires })
    }

    /// Returns the configuration for rustls, and reports the end of the certificate's validity.
    pub(super) fn report(self, metrics: &Metrics) -> Arc<ServerConfig> {
        if let Some(expires) = self.expires {
            metrics.certificate_expires(expires);
        }
        Arc::new(self.config)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PemError> {
    let mut pem = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut pem));
    read.map(|_| pem).map_err(PemError::Io)
}

fn at(setting: &'static str, path: &Path, problem: &str) -> StartError {
    StartError::of(setting, format!("TLS: {}: {problem}", path.display()))
}

fn pem(expected: &str, error: &PemError) -> String {
    match error {
        PemError::Io(error) => format!("cannot be read: {error}"),
        PemError::NoItemsFound => format!("contains no {expected} in PEM"),
        error => format!("contains no {expected} in PEM: {error}"),
    }
}
