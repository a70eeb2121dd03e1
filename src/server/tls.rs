//! The certificate of the public listener, from PEM files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};

use crate::telemetry::metrics::{Metrics, not_after};

/// Larger than any chain of certificates. A line of `/dev/zero` does not end.
const MAX_BYTES: u64 = 1 << 20;

const CERTIFICATE: &str = "tls.certificate";
const PRIVATE_KEY: &str = "tls.private_key";

/// The files of the certificate and its private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate chain, leaf first.
    pub certificate: PathBuf,
    /// The private key of the leaf.
    pub private_key: PathBuf,
}

/// Why a file cannot be used: one line that names it.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct TlsError {
    setting: &'static str,
    path: String,
    problem: String,
}

impl TlsError {
    /// Returns the setting with the path of the file.
    pub fn setting(&self) -> &'static str {
        self.setting
    }
}

/// A certificate that the listener can use.
pub struct Certificate {
    config: ServerConfig,
    /// `None` if it cannot be read.
    expires: Option<Timestamp>,
}

impl Certificate {
    /// Returns the configuration for rustls, and reports the end of the certificate's validity.
    pub(super) fn report(self, metrics: &Metrics) -> ServerConfig {
        if let Some(expires) = self.expires {
            metrics.certificate_expires(expires);
        }
        self.config
    }
}

impl TlsFiles {
    /// Reads both files.
    ///
    /// # Errors
    /// When a file cannot be read or has no such PEM section, or the private key belongs to another
    /// certificate.
    pub fn load(&self) -> Result<Certificate, TlsError> {
        let certificates = open(&self.certificate)
            .and_then(|file| CertificateDer::pem_reader_iter(file).collect::<Result<Vec<_>, _>>())
            .map_err(|error| at(CERTIFICATE, &self.certificate, pem(&error)))?;
        if certificates.is_empty() {
            return Err(at(CERTIFICATE, &self.certificate, "contains no certificate in PEM".to_owned()));
        }
        let expires = certificates.first().and_then(|leaf| not_after(leaf));
        let mut pem_of_key = Vec::new();
        let read = open(&self.private_key)
            .and_then(|mut file| file.read_to_end(&mut pem_of_key).map_err(PemError::Io))
            .and_then(|_| PrivateKeyDer::from_pem_slice(&pem_of_key));
        let key = read.map_err(|error| {
            let problem = match error {
                // The label of PKCS #8 (RFC 7468, section 11), or a header of older files (RFC 1421, section 4.6.1.1).
                _ if pem_of_key.windows(9).any(|word| word == b"ENCRYPTED") => {
                    "is encrypted; store it without a passphrase, such as with `openssl pkey -in OLD -out NEW`".to_owned()
                }
                PemError::NoItemsFound => "contains no private key in PEM".to_owned(),
                error => pem(&error),
            };
            at(PRIVATE_KEY, &self.private_key, problem)
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_no_client_auth())
            .and_then(|builder| builder.with_single_cert(certificates, key))
            .map_err(|error| {
                let problem = match error {
                    rustls::Error::InconsistentKeys(_) => {
                        format!("the private key does not belong to {}", self.certificate.display())
                    }
                    error => format!("cannot be used with {}: {error}", self.certificate.display()),
                };
                at(PRIVATE_KEY, &self.private_key, problem)
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Certificate { config, expires })
    }
}

/// Opens a file of which at most [`MAX_BYTES`] are read.
fn open(path: &Path) -> Result<impl Read, PemError> {
    Ok(File::open(path).map_err(PemError::Io)?.take(MAX_BYTES))
}

fn at(setting: &'static str, path: &Path, problem: String) -> TlsError {
    TlsError { setting, path: path.display().to_string(), problem }
}

fn pem(error: &PemError) -> String {
    match error {
        PemError::Io(error) => format!("cannot be read: {error}"),
        error => format!("is not valid PEM: {error}"),
    }
}
