//! The limits of connections.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The limits of connections to a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionLimits {
    /// The maximum number of connections; the next one is closed. `None` for what the limit on open files
    /// allows, and at most [`Self::DEFAULT_MAX`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
    /// How long a TLS handshake may take.
    #[serde(with = "humantime_serde")]
    pub handshake_timeout: Duration,
    /// How long a client may take to send its first request, and the head of each request from its first byte.
    #[serde(with = "humantime_serde")]
    pub header_timeout: Duration,
    /// How long a connection stays open without a request.
    #[serde(with = "humantime_serde")]
    pub idle_timeout: Duration,
    /// How long a client may take nothing while a response waits for it.
    #[serde(with = "humantime_serde")]
    pub send_timeout: Duration,
    /// The maximum memory of all connections, in MiB. More closes those that hold most for longest.
    pub memory_mib: usize,
    /// The maximum memory of the connections whose clients have sent no valid API key, in MiB.
    pub memory_without_key_mib: usize,
}

impl ConnectionLimits {
    /// The maximum number of connections without a setting. They take at most 150 MiB of memory when idle.
    pub const DEFAULT_MAX: usize = 10_000;

    /// Returns the shortest time limit.
    pub(super) fn shortest(&self) -> Duration {
        self.times().into_iter().map(|(_, limit)| limit).min().unwrap_or_default()
    }

    /// Returns the time limits with the names of their settings.
    pub fn times(&self) -> [(&'static str, Duration); 4] {
        [
            ("connections.handshake_timeout", self.handshake_timeout),
            ("connections.header_timeout", self.header_timeout),
            ("connections.idle_timeout", self.idle_timeout),
            ("connections.send_timeout", self.send_timeout),
        ]
    }
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max: None,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            send_timeout: Duration::from_secs(30),
            memory_mib: 192,
            memory_without_key_mib: 96,
        }
    }
}
