//! The certificate of the public listener, from PEM files.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use slog::{Logger, warn};

use crate::config::{Config, ConfigError, TlsFiles};
use crate::telemetry::metrics::{Metrics, not_after};

/// A certificate that the listener can use.
pub struct Certificate {
    config: ServerConfig,
    /// `None` if it cannot be read.
    expires: Option<Timestamp>,
}

impl Certificate {
    /// Reads both files; `None` without TLS.
    ///
    /// # Errors
    /// When a file cannot be read or has no such PEM section, or the private key belongs to another certificate.
    pub fn load(config: &Config) -> Result<Option<Self>, ConfigError> {
        let Some(TlsFiles { certificate, private_key }) = &config.tls else { return Ok(None) };
        let wrong = |setting, path: &Path, problem: &str| {
            config.with_source(setting, format!("TLS: {}: {problem}", path.display()))
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(|sections| sections.collect::<Result<Vec<_>, _>>())
            .and_then(|chain| if chain.is_empty() { Err(PemError::NoItemsFound) } else { Ok(chain) });
        let describe = |error: PemError| match error {
            // Shows its marker as a list of bytes.
            PemError::MissingSectionEnd { .. } => "a section has no end".to_owned(),
            error => error.to_string(),
        };
        let chain = chain.map_err(|error| {
            let problem = format!("{}; expected certificates in PEM", describe(error));
            wrong("tls.certificate", certificate, &problem)
        })?;
        let key = PrivateKeyDer::from_pem_file(private_key).map_err(|error| {
            let expected = "expected a private key without a passphrase in PEM; `openssl pkey -in OLD -out NEW` \
                            writes one";
            wrong("tls.private_key", private_key, &format!("{}; {expected}", describe(error)))
        })?;
        let expires = chain.first().and_then(|leaf| not_after(leaf));
        let mut tls = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_no_client_auth())
            .and_then(|builder| builder.with_single_cert(chain, key))
            .map_err(|error| {
                let expected = format!("expected the private key of {}", certificate.display());
                wrong("tls.private_key", private_key, &format!("{error}; {expected}"))
            })?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec(), b"http/1.0".to_vec()];
        Ok(Some(Self { config: tls, expires }))
    }

    /// Returns the configuration for rustls, and reports the end of the certificate's validity.
    pub(super) fn report(self, metrics: &Metrics, log: &Logger) -> Arc<ServerConfig> {
        if let Some(expires) = self.expires {
            metrics.certificate_expires(expires);
            if expires < Timestamp::now() {
                warn!(log, "the certificate has expired"; "at" => %expires);
            }
        }
        Arc::new(self.config)
    }
}
