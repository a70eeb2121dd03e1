//! The metrics of connections.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use strum::IntoStaticStr;

use super::Label;

/// The metrics of the connections to the public listener. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct ConnectionMetrics {
    pub(crate) open: Gauge,
    pub(crate) refused: Counter,
    closed: Family<Label, Counter>,
    timed_out: Family<Label, Counter>,
    pub(crate) handshakes_failed: Counter,
}

/// The time limit that a connection exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Timeout {
    /// `handshake_timeout`
    Handshake,
    /// `header_timeout`
    Header,
    /// `idle_timeout`
    Idle,
    /// `send_timeout`
    Send,
}

impl ConnectionMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register("connections_open", "Connections that are open", self.open.clone());
        registry.register(
            "connections_refused",
            "Connections that were closed because there were too many",
            self.refused.clone(),
        );
        registry.register(
            "connections_closed",
            "Connections that were closed because of what their clients did",
            self.closed.clone(),
        );
        registry.register(
            "connections_timed_out",
            "Connections that were closed because they exceeded a time limit",
            self.timed_out.clone(),
        );
        registry.register(
            "tls_handshakes_failed",
            "TLS handshakes that failed",
            self.handshakes_failed.clone(),
        );
    }

    pub(crate) fn closed_because_of(&self, reason: &'static str) {
        self.closed.get_or_create(&[("reason", reason)]).inc();
    }

    pub(crate) fn timed_out(&self, timeout: Timeout) {
        self.timed_out.get_or_create(&[("timeout", timeout.into())]).inc();
    }
}
