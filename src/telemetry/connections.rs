//! The metrics of connections, and the log of what is refused on them.

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use slog::{Logger, info};
use strum::IntoStaticStr;

use super::{Label, registered};

/// How often the log has a refusal: a flood of them must not fill it. The metrics count all.
const LOG_AGAIN: Duration = Duration::from_secs(1);

/// The metrics of the connections to the public listener. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct ConnectionMetrics {
    open: Gauge,
    max: Gauge,
    timed_out: Family<Label, Counter>,
    handshakes_failed: Counter,
    malformed: Counter,
    /// When the log had the last refusal.
    logged: Arc<Mutex<Option<Instant>>>,
}

/// The time limit that a connection exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Timeout {
    /// `header_timeout`
    Header,
    /// `idle_timeout`
    Idle,
    /// `send_timeout`
    Send,
    /// `max_age`
    Age,
}

impl ConnectionMetrics {
    /// Registers the metrics.
    pub(super) fn new(registry: &mut Registry) -> Self {
        let timed_out = "Connections that were closed because they exceeded a time limit";
        let malformed = "Connections that ended because of bytes that are not HTTP or exceed a limit of it";
        Self {
            open: registered(registry, "connections_open", "Connections that are open"),
            max: registered(registry, "connections_max", "Connections that may be open"),
            timed_out: registered(registry, "connections_timed_out", timed_out),
            handshakes_failed: registered(registry, "tls_handshakes_failed", "TLS handshakes that failed"),
            malformed: registered(registry, "connections_malformed", malformed),
            logged: Arc::default(),
        }
    }

    /// Sets the number of open connections.
    pub(crate) fn set_open(&self, open: usize) {
        self.open.set(i64::try_from(open).unwrap_or(i64::MAX));
    }

    /// Sets the maximum number of connections.
    pub(crate) fn set_max(&self, max: usize) {
        self.max.set(i64::try_from(max).unwrap_or(i64::MAX));
    }

    /// Counts a connection that ended because of this limit, if it was one.
    pub(crate) fn timed_out(&self, timeout: Option<Timeout>) {
        if let Some(timeout) = timeout {
            self.timed_out.get_or_create(&[("timeout", timeout.into())]).inc();
        }
    }

    /// Counts and logs a TLS handshake that failed.
    pub(crate) fn handshake_failed(&self, log: &Logger, peer: IpAddr, error: impl Display) {
        self.handshakes_failed.inc();
        self.log(log, "a TLS handshake failed", peer, error);
    }

    /// Counts and logs a connection that ended before a request could be read from it.
    pub(crate) fn malformed(&self, log: &Logger, peer: IpAddr, error: impl Display) {
        self.malformed.inc();
        self.log(log, "refused what is not a request", peer, error);
    }

    fn log(&self, log: &Logger, message: &'static str, peer: IpAddr, error: impl Display) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_none_or(|last| last.elapsed() >= LOG_AGAIN) {
            *logged = Some(Instant::now());
            // slog serializes the last pair first.
            info!(log, "{}", message; "network.peer.address" => %peer, "error" => %error);
        }
    }
}
