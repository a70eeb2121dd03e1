//! One connection: what its client has done, when its time is up, and how it ends.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::first_request::Protocol;
use super::limits::ConnectionLimits;
use crate::telemetry::connections::Timeout;

/// The maximum size in bytes of the responses that a client has not read when its next request starts.
const MAX_UNREAD: usize = 1024 * 1024;
/// The maximum size in bytes of all responses that the clients of a listener have not read.
pub(super) const MAX_UNREAD_TOTAL: usize = 64 * 1024 * 1024;

/// How long a client over HTTP/2 may take to confirm that its connection ends.
const CONFIRMATION: Duration = Duration::from_secs(1);

/// What the connections of a listener share.
#[derive(Default)]
pub(super) struct Shared {
    /// The time at the last look at the connections.
    pub(super) now: AtomicU64,
    /// The size in bytes of all responses that clients have not read.
    unread: AtomicUsize,
    /// Notified when `unread` exceeds [`MAX_UNREAD_TOTAL`].
    pub(super) too_much_unread: Notify,
}

impl Shared {
    fn now(&self) -> Time {
        self.now.load(Relaxed)
    }
}

/// An open connection.
pub(super) struct Connection {
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Notified when the client has read a response.
    read: Notify,
    /// Notified when the connection is to end.
    ended: Notify,
}

/// Times are those of [`Shared::now`].
struct State {
    phase: Phase,
    /// `None` until the client's first bytes.
    protocol: Option<Protocol>,
    /// The number of requests in progress.
    requests: usize,
    /// When the last request ended, or the phase or the end of the connection began.
    idle_since: Time,
    /// When the first byte of the next request arrived.
    head_since: Option<Time>,
    /// Since when the kernel accepts no bytes to send, because the client reads nothing.
    blocked_since: Option<Time>,
    /// The size in bytes of the responses that the client has not read.
    unread: usize,
    /// When there was nothing unread, or the client last read a response.
    unread_since: Time,
    ending: Option<Ending>,
}

/// Milliseconds since the listener started.
pub(super) type Time = u64;

/// What the client of a connection has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is in the TLS handshake.
    Handshake,
    /// It has sent no request.
    New,
    /// It has sent a request.
    Established,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// After its requests.
    Finish,
    /// At once.
    Abort,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, phase: Phase) -> Self {
        let now = shared.now();
        let state = State {
            phase,
            protocol: None,
            requests: 0,
            idle_since: now,
            head_since: None,
            blocked_since: None,
            unread: 0,
            unread_since: now,
            ending: None,
        };
        Self { shared, state: Mutex::new(state), read: Notify::new(), ended: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the TLS handshake is complete.
    pub(super) fn handshake_complete(&self) {
        let mut state = self.state();
        (state.phase, state.idle_since) = (Phase::New, self.shared.now());
    }

    /// Records the version of HTTP that the client uses.
    pub(super) fn set_protocol(&self, protocol: Protocol) {
        self.state().protocol = Some(protocol);
    }

    /// Records that bytes arrived.
    pub(super) fn received(&self) {
        let mut state = self.state();
        // On HTTP/2, they may belong to the connection: a PING, for example.
        let awaits_head = state.phase == Phase::Established && state.protocol == Some(Protocol::Http1);
        if awaits_head && state.requests == 0 && state.head_since.is_none() {
            state.head_since = Some(self.shared.now());
        }
    }

    /// Records whether the kernel accepted bytes to send.
    pub(super) fn sent(&self, accepted: bool) {
        let mut state = self.state();
        if accepted {
            state.blocked_since = None;
        } else if state.blocked_since.is_none() {
            state.blocked_since = Some(self.shared.now());
        }
    }

    /// Counts a request until the returned value is dropped. First waits until the client has read its
    /// responses.
    pub(super) async fn begin_request(self: &Arc<Self>) -> RequestInProgress {
        let request = {
            let mut state = self.state();
            state.phase = Phase::Established;
            state.requests += 1;
            state.head_since = None;
            RequestInProgress(self.clone())
        };
        loop {
            let read = self.read.notified();
            if self.state().unread < MAX_UNREAD {
                return request;
            }
            read.await;
        }
    }

    /// Counts the bytes of a response that waits for the client.
    pub(super) fn add_unread(&self, bytes: usize) {
        let mut state = self.state();
        if state.unread == 0 {
            state.unread_since = self.shared.now();
        }
        state.unread += bytes;
        drop(state);
        if self.shared.unread.fetch_add(bytes, Relaxed) + bytes > MAX_UNREAD_TOTAL {
            self.shared.too_much_unread.notify_one();
        }
    }

    /// Subtracts the bytes of a response that was sent.
    pub(super) fn remove_unread(&self, bytes: usize) {
        let mut state = self.state();
        state.unread -= bytes;
        state.unread_since = self.shared.now();
        drop(state);
        self.shared.unread.fetch_sub(bytes, Relaxed);
        self.read.notify_waiters();
    }

    /// Returns the size of the responses that the client has not read, and since when it reads nothing. Zero
    /// for a connection that is aborted.
    pub(super) fn unread(&self) -> (usize, Time) {
        let state = self.state();
        let unread = if state.ending == Some(Ending::Abort) { 0 } else { state.unread };
        (unread, state.unread_since)
    }

    /// Returns the time limit that the connection exceeds at `now`.
    pub(super) fn overdue(&self, now: Time, limits: &ConnectionLimits) -> Option<Timeout> {
        let state = self.state();
        let exceeds =
            |since: Time, limit: Duration| u128::from(now.saturating_sub(since)) > limit.as_millis();
        if state.ending == Some(Ending::Abort) {
            return None;
        }
        if state.unread > 0 && exceeds(state.unread_since, limits.read_timeout)
            || state.blocked_since.is_some_and(|since| exceeds(since, limits.read_timeout))
        {
            return Some(Timeout::Read);
        }
        if state.requests > 0 || state.unread > 0 {
            return None;
        }
        if state.head_since.is_some_and(|since| exceeds(since, limits.header_timeout)) {
            return Some(Timeout::Header);
        }
        let (limit, timeout) = match state.phase {
            Phase::Handshake => (limits.handshake_timeout, Timeout::Handshake),
            Phase::New | Phase::Established if state.ending.is_some() => (CONFIRMATION, Timeout::Idle),
            Phase::New => (limits.header_timeout, Timeout::Header),
            Phase::Established => (limits.idle_timeout, Timeout::Idle),
        };
        exceeds(state.idle_since, limit).then_some(timeout)
    }

    /// Ends the connection: over HTTP/2 the client is told first (GOAWAY, RFC 9113, section 6.8), and its
    /// requests in progress finish. A client that does not answer the PING after GOAWAY is not waited for.
    pub(super) fn finish(&self) {
        self.end(Ending::Finish);
    }

    /// Whether [`Self::finish`] or [`Self::abort`] was called.
    pub(super) fn is_ending(&self) -> bool {
        self.state().ending.is_some()
    }

    /// Whether the client uses HTTP/2, which can announce the end of a connection.
    pub(super) fn is_http2(&self) -> bool {
        self.state().protocol == Some(Protocol::Http2)
    }

    /// Returns since when the connection is without a request, after whether it has had one. `None` if it is in use
    /// or is to end.
    pub(super) fn idle(&self) -> Option<(bool, Time)> {
        let state = self.state();
        let is_idle = state.requests == 0 && state.unread == 0 && state.ending.is_none();
        is_idle.then_some((state.phase == Phase::Established, state.idle_since))
    }

    /// Ends the connection at once.
    pub(super) fn abort(&self) {
        self.end(Ending::Abort);
    }

    fn end(&self, ending: Ending) {
        let mut state = self.state();
        if state.ending.is_none() {
            state.idle_since = self.shared.now();
        }
        if state.ending != Some(Ending::Abort) {
            state.ending = Some(ending);
        }
        drop(state);
        self.ended.notify_waiters();
    }

    /// Waits until the connection is to end in another way than `known`.
    pub(super) async fn ending(&self, known: Option<Ending>) -> Ending {
        loop {
            let ended = self.ended.notified();
            match self.state().ending {
                Some(ending) if Some(ending) != known => return ending,
                _ => {}
            }
            ended.await;
        }
    }
}

/// A request in progress until this is dropped.
pub(super) struct RequestInProgress(Arc<Connection>);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.requests -= 1;
        if state.requests == 0 {
            state.idle_since = self.0.shared.now();
        }
    }
}
