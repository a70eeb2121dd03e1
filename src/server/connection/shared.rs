//! What the connections of a listener share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::server::limits::ConnectionLimits;
use crate::server::memory::Memory;
use crate::server::sending::Time;
use crate::server::turns::Turns;
use crate::telemetry::connections::ConnectionMetrics;

/// How long a connection without a request stays open during shutdown. A client that uses it sends its next
/// request within this time, and the response says that the connection closes.
const LINGER: Duration = Duration::from_secs(1);

/// What the connections of a listener share.
#[derive(Default)]
pub(in crate::server) struct Shared {
    /// The time at the last look at the connections.
    pub(in crate::server) now: AtomicU64,
    limits: ConnectionLimits,
    /// Whether connections without a request are closed after [`LINGER`].
    pub(in crate::server) closing: AtomicBool,
    pub(in crate::server) metrics: ConnectionMetrics,
    pub(in crate::server) memory: Memory,
    pub(super) turns: Turns,
}

impl Shared {
    pub(in crate::server) fn new(limits: ConnectionLimits, metrics: ConnectionMetrics) -> Self {
        let memory = Memory::new(limits.memory_mib, limits.memory_without_key_mib);
        Self { limits, metrics, memory, ..Self::default() }
    }

    pub(super) fn now(&self) -> Time {
        self.now.load(Relaxed)
    }

    /// Returns the limits, which are shorter during shutdown.
    pub(in crate::server) fn limits(&self) -> ConnectionLimits {
        let mut limits = self.limits;
        if self.closing.load(Relaxed) {
            for limit in [&mut limits.handshake_timeout, &mut limits.header_timeout, &mut limits.idle_timeout]
            {
                *limit = LINGER.min(*limit);
            }
        }
        limits
    }
}
