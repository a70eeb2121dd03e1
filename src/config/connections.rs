//! The settings of the public listener: its limits, and the files of its certificate.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of connections to a listener. Multiplied, they are the memory that clients can hold: see "Memory" in
/// `src/server/README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionLimits {
    /// The maximum number of connections; further ones wait in the kernel.
    pub max: usize,
    /// The maximum number of requests of all connections together, each until its client has taken the response.
    pub max_requests: usize,
    /// How long a TLS handshake may take.
    #[serde(with = "humantime_serde")]
    pub handshake_timeout: Duration,
    /// How long a client may take to send its first request, from the handshake on.
    #[serde(with = "humantime_serde")]
    pub header_timeout: Duration,
    /// How long a connection stays open without a complete request and without a byte taken.
    #[serde(with = "humantime_serde")]
    pub idle_timeout: Duration,
    /// How long a client may take nothing while bytes wait for it.
    #[serde(with = "humantime_serde")]
    pub send_timeout: Duration,
    /// How old a connection may become. After half of this time, its client is told to open another one.
    #[serde(with = "humantime_serde")]
    pub max_age: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max: 512,
            max_requests: 1024,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            send_timeout: Duration::from_secs(30),
            max_age: Duration::from_secs(3600),
        }
    }
}

/// The files of the certificate and its private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate chain, leaf first.
    pub certificate: PathBuf,
    /// The private key of the leaf, without a passphrase.
    pub private_key: PathBuf,
}
