//! The state of a connection, and the time limits that follow from it.

use std::time::Duration;

use crate::server::first_request::Protocol;
use crate::server::limits::ConnectionLimits;
use crate::server::sending::{Sending, Time};
use crate::telemetry::connections::Timeout;

/// The first and the largest value of [`State::read_limit`]. A page of 100 animals with the longest names has 104 KB. With
/// one read at first, a response that waits would stop the next request.
pub(super) const FIRST_READS: usize = 2;
pub(super) const MAX_READS: usize = 8;
/// How many requests of a connection may run at the same time until its client has sent a valid API key.
pub(super) const MAX_RUNNING_WITHOUT_KEY: usize = 8;
/// How long a client over HTTP/2 may take to confirm that its connection ends.
const CONFIRMATION: Duration = Duration::from_secs(1);

/// Times are those of `Shared::now`.
pub(super) struct State {
    pub(super) phase: Phase,
    /// `None` until the client's first bytes.
    pub(super) protocol: Option<Protocol>,
    /// The number of requests whose response was not sent.
    pub(super) requests: usize,
    /// How many of these have begun and have no response.
    pub(super) running: usize,
    /// How many have a response, which waits for the client.
    pub(super) responses: usize,
    /// How many requests that read have begun, and have no response that the client has taken.
    pub(super) reads: usize,
    /// While there are so many reads, no request starts. It doubles with each response that the client takes: the service
    /// reads little for a client that takes nothing.
    pub(super) read_limit: usize,
    /// The largest value of `requests` so far.
    pub(super) most_requests: usize,
    /// When a request last began or ended, or the phase or the end of the connection began.
    pub(super) active_at: Time,
    /// When the first byte of the next request arrived.
    pub(super) head_since: Option<Time>,
    /// Whether the kernel has no room for what is to be sent.
    pub(super) blocked: bool,
    /// How fast the client takes what waits for it; `None` while nothing does.
    pub(super) sending: Option<Sending>,
    /// What the connection holds, in bytes of memory.
    pub(super) memory: usize,
    pub(super) ending: Option<Ending>,
}

impl State {
    /// Whether a request may start.
    pub(super) fn has_room(&self, has_key: bool) -> bool {
        self.reads < self.read_limit && (has_key || self.running < MAX_RUNNING_WITHOUT_KEY)
    }

    /// Records that the client has taken a response, or has reset its stream.
    pub(super) fn end_response(&mut self, now: Time) {
        self.responses -= 1;
        self.read_limit = MAX_READS.min(2 * self.read_limit);
        self.has_taken(now);
    }

    /// Whether something waits for the client in the memory of this process.
    pub(super) fn waits_for_client(&self) -> bool {
        self.responses > 0 || self.blocked
    }

    /// Records that something waits for the client. [`Connection::look`] notes when the client has taken it.
    pub(super) fn begin_sending(&mut self, now: Time) {
        self.sending.get_or_insert_with(|| Sending::new(now));
    }

    /// Records that the kernel accepted bytes which waited, because the client has taken others.
    pub(super) fn has_taken(&mut self, now: Time) {
        if let Some(sending) = &mut self.sending {
            sending.taken_at = now;
        }
    }

    /// Returns the time limit that the connection exceeds.
    pub(super) fn overdue(&self, now: Time, limits: &ConnectionLimits) -> Option<Timeout> {
        let exceeds =
            |since: Time, limit: Duration| u128::from(now.saturating_sub(since)) > limit.as_millis();
        if self.ending == Some(Ending::Abort) {
            return None;
        }
        if let Some(sending) = &self.sending {
            let is_over = sending.is_too_slow || exceeds(sending.taken_at, limits.send_timeout);
            return is_over.then_some(Timeout::Send);
        }
        if self.requests > 0 {
            return None;
        }
        if self.head_since.is_some_and(|since| exceeds(since, limits.header_timeout)) {
            return Some(Timeout::Header);
        }
        let (limit, timeout) = match self.phase {
            Phase::Handshake => (limits.handshake_timeout, Timeout::Handshake),
            Phase::New | Phase::Established if self.ending.is_some() => (CONFIRMATION, Timeout::Idle),
            Phase::New => (limits.header_timeout, Timeout::Header),
            Phase::Established => (limits.idle_timeout, Timeout::Idle),
        };
        exceeds(self.active_at, limit).then_some(timeout)
    }
}

/// What the client of a connection has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Phase {
    /// It is in the TLS handshake.
    Handshake,
    /// It has sent no request.
    New,
    /// It has sent a request.
    Established,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Ending {
    /// After its requests.
    Finish,
    /// At once.
    Abort,
}
