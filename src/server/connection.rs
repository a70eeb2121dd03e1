//! One connection: what its client has done, when its time is up, and how it ends.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::yield_now;

use super::first_request::Protocol;
use super::limits::ConnectionLimits;
use super::sending::{Sending, Time};
use super::socket::Taken;
use crate::telemetry::connections::{ConnectionMetrics, Timeout};

/// The maximum size in bytes of the responses that a client has not read when its next request starts. Requests that
/// were started but not answered count with what they reserve.
const MAX_UNREAD: usize = 1024 * 1024;
/// What a request that reads reserves for its response, in bytes: a page of 100 animals with the longest names has 104
/// KB. Without this, all requests of an HTTP/2 connection would start before the first response is counted.
pub(super) const RESERVED_TO_READ: usize = 128 * 1024;
/// The maximum size in bytes of all responses that the clients of a listener have not read.
pub(super) const MAX_UNREAD_TOTAL: usize = 64 * 1024 * 1024;

/// How long a client over HTTP/2 may take to confirm that its connection ends.
const CONFIRMATION: Duration = Duration::from_secs(1);
/// How long a connection without a request stays open during shutdown. A client that uses it sends its next
/// request within this time, and the response says that the connection closes.
const LINGER: Duration = Duration::from_secs(1);

/// What the connections of a listener share.
#[derive(Default)]
pub(super) struct Shared {
    /// The time at the last look at the connections.
    pub(super) now: AtomicU64,
    limits: ConnectionLimits,
    /// Whether connections without a request are closed after [`LINGER`].
    pub(super) closing: AtomicBool,
    pub(super) metrics: ConnectionMetrics,
    /// The size in bytes of all responses that clients have not read.
    unread: AtomicUsize,
    /// Notified when `unread` exceeds [`MAX_UNREAD_TOTAL`].
    pub(super) too_much_unread: Notify,
}

impl Shared {
    pub(super) fn new(limits: ConnectionLimits, metrics: ConnectionMetrics) -> Self {
        Self { limits, metrics, ..Self::default() }
    }

    fn now(&self) -> Time {
        self.now.load(Relaxed)
    }

    /// Returns the limits, which are shorter during shutdown.
    pub(super) fn limits(&self) -> ConnectionLimits {
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

/// An open connection.
pub(super) struct Connection {
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Notified when a waiting request may find [room](State::has_room).
    room: Notify,
    /// Notified when the connection is to end or has exceeded a time limit.
    ended: Notify,
}

/// Times are those of [`Shared::now`].
struct State {
    phase: Phase,
    /// `None` until the client's first bytes.
    protocol: Option<Protocol>,
    /// The number of requests whose response was not sent.
    requests: usize,
    /// How many of these have a response, which waits for the client.
    responses: usize,
    /// When the last response was sent, or the phase or the end of the connection began.
    idle_since: Time,
    /// When the first byte of the next request arrived.
    head_since: Option<Time>,
    /// Whether the kernel has no room for what is to be sent.
    blocked: bool,
    /// How fast the client takes what waits for it; `None` while nothing does.
    sending: Option<Sending>,
    /// The size in bytes of the responses that the client has not read.
    unread: usize,
    /// The size in bytes that the requests in progress reserve for their responses.
    reserved: usize,
    ending: Option<Ending>,
}

impl State {
    /// Whether a request may start.
    fn has_room(&self) -> bool {
        self.unread + self.reserved < MAX_UNREAD
    }

    /// Whether something waits for the client in the memory of this process.
    fn waits_for_client(&self) -> bool {
        self.responses > 0 || self.blocked
    }

    /// Records that something waits for the client. [`Connection::look`] notes when the client has taken it.
    fn begin_sending(&mut self, now: Time) {
        self.sending.get_or_insert_with(|| Sending::new(now));
    }

    /// Records that the kernel accepted bytes which waited, because the client has taken others.
    fn has_taken(&mut self, now: Time) {
        if let Some(sending) = &mut self.sending {
            sending.taken_at = now;
        }
    }

    /// Returns the time limit that the connection exceeds.
    fn overdue(&self, now: Time, limits: &ConnectionLimits) -> Option<Timeout> {
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
        exceeds(self.idle_since, limit).then_some(timeout)
    }
}

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
            responses: 0,
            idle_since: now,
            head_since: None,
            blocked: false,
            sending: None,
            unread: 0,
            reserved: 0,
            ending: None,
        };
        Self { shared, state: Mutex::new(state), room: Notify::new(), ended: Notify::new() }
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

    /// Records whether the kernel has no room for what is to be sent.
    pub(super) fn set_blocked(&self, blocked: bool) {
        let now = self.shared.now();
        let mut state = self.state();
        state.blocked = blocked;
        state.begin_sending(now);
        if !blocked {
            state.has_taken(now);
        }
    }

    /// Counts a request until the returned value is dropped, and reserves these bytes for its response. First waits
    /// until the client has read its responses.
    pub(super) async fn begin_request(self: &Arc<Self>, reserve: usize) -> OpenRequest {
        let mut request = {
            let mut state = self.state();
            state.phase = Phase::Established;
            state.requests += 1;
            state.head_since = None;
            OpenRequest { connection: self.clone(), reserved: 0, response: None }
        };
        loop {
            {
                let mut state = self.state();
                if state.has_room() {
                    state.reserved += reserve;
                    request.reserved = reserve;
                    if state.has_room() {
                        self.room.notify_one();
                    }
                    return request;
                }
            }
            self.room.notified().await;
        }
    }

    /// Returns the size of the responses that the client has not read, and since when it takes nothing. Zero
    /// for a connection that is aborted.
    pub(super) fn unread(&self) -> (usize, Time) {
        let state = self.state();
        let unread = if state.ending == Some(Ending::Abort) { 0 } else { state.unread };
        (unread, state.sending.as_ref().map_or(state.idle_since, |sending| sending.taken_at))
    }

    /// Returns the time limit that the connection exceeds.
    fn overdue(&self) -> Option<Timeout> {
        self.state().overdue(self.shared.now(), &self.shared.limits())
    }

    /// Notes what the client has taken. Wakes the task of the connection if a time limit is exceeded. [`Self::ending`]
    /// decides.
    pub(super) fn look(&self, taken: impl FnOnce() -> Taken) {
        let (now, limits) = (self.shared.now(), self.shared.limits());
        let mut state = self.state();
        let waits_here = state.waits_for_client();
        if let Some(sending) = &mut state.sending {
            // After the kernel accepted the last response, the client may still have to take it.
            let taken = taken();
            if waits_here || taken.more {
                sending.look(now, taken.bytes);
            } else {
                state.sending = None;
                state.idle_since = now;
            }
        }
        let is_overdue = state.overdue(now, &limits).is_some();
        drop(state);
        if is_overdue {
            self.ended.notify_waiters();
        }
    }

    /// Ends the connection: over HTTP/2 the client is told first (GOAWAY, RFC 9113, section 6.8), and its
    /// requests in progress finish. A client that does not answer the PING after GOAWAY is not waited for.
    ///
    /// Returns whether this is news.
    pub(super) fn finish(&self) -> bool {
        self.end(Ending::Finish)
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
        let is_idle = state.requests == 0 && state.sending.is_none() && state.ending.is_none();
        is_idle.then_some((state.phase == Phase::Established, state.idle_since))
    }

    /// Ends the connection at once. Returns whether this is news.
    pub(super) fn abort(&self) -> bool {
        self.end(Ending::Abort)
    }

    fn end(&self, ending: Ending) -> bool {
        let mut state = self.state();
        let is_news = state.ending.is_none();
        if is_news {
            state.idle_since = self.shared.now();
        }
        if state.ending != Some(Ending::Abort) {
            state.ending = Some(ending);
        }
        drop(state);
        self.ended.notify_waiters();
        is_news
    }

    /// Waits until the connection is to end in another way than `known`, because of a call or of a time limit.
    ///
    /// The caller polls the work of the connection first. A busy server may have responses to send and bytes to receive
    /// that are older than the limit, and the client is closed only if it is late after these were handled.
    pub(super) async fn ending(&self, known: Option<Ending>) -> Ending {
        loop {
            let ended = self.ended.notified();
            if self.overdue().is_some() {
                yield_now().await;
                if let Some(timeout) = self.overdue() {
                    self.exceed(timeout);
                }
            }
            match self.state().ending {
                Some(ending) if Some(ending) != known => return ending,
                _ => {}
            }
            ended.await;
        }
    }

    /// Ends the connection because it exceeded a time limit.
    fn exceed(&self, timeout: Timeout) {
        let can_finish = timeout == Timeout::Idle && self.is_http2() && !self.is_ending();
        if self.end(if can_finish { Ending::Finish } else { Ending::Abort }) {
            self.shared.metrics.timed_out(timeout);
        }
    }
}

/// A request of a connection, from its head until its response was sent. Then this is dropped.
pub(super) struct OpenRequest {
    connection: Arc<Connection>,
    reserved: usize,
    /// The size of the response that waits for the client.
    response: Option<usize>,
}

impl OpenRequest {
    /// Records that a response of this size in memory waits for the client.
    pub(super) fn respond(&mut self, bytes: usize) {
        let shared = &self.connection.shared;
        self.response = Some(bytes);
        let mut state = self.connection.state();
        state.reserved -= mem::take(&mut self.reserved);
        state.responses += 1;
        state.unread += bytes;
        state.begin_sending(shared.now());
        drop(state);
        if shared.unread.fetch_add(bytes, Relaxed) + bytes > MAX_UNREAD_TOTAL {
            shared.too_much_unread.notify_one();
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let shared = &self.connection.shared;
        let mut state = self.connection.state();
        state.requests -= 1;
        state.reserved -= self.reserved;
        if let Some(bytes) = self.response {
            state.responses -= 1;
            state.unread -= bytes;
            state.has_taken(shared.now());
            shared.unread.fetch_sub(bytes, Relaxed);
        }
        if state.requests == 0 {
            state.idle_since = shared.now();
        }
        drop(state);
        self.connection.room.notify_one();
    }
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use tokio::task::{JoinHandle, yield_now};

    use super::*;

    /// Takes the requests that have started.
    async fn started(requests: &mut Vec<JoinHandle<OpenRequest>>) -> Vec<OpenRequest> {
        // The runtime has one thread and runs tasks in turn, so each waiting request has been woken after this.
        for _ in 0..2 * requests.len() {
            yield_now().await;
        }
        let mut started = Vec::new();
        for request in requests.extract_if(.., |request| request.is_finished()) {
            started.push(request.await.expect("it has started"));
        }
        started
    }

    /// Returns how a connection with an unread response ends after the time limit. The client reads it if `reads`, in a
    /// task that has not run yet, as when the server is late.
    async fn ending_after_the_limit(reads: bool) -> Option<Ending> {
        let connection = Arc::new(Connection::new(Arc::default(), Phase::Established));
        let mut request = connection.begin_request(0).await;
        request.respond(1);
        connection.shared.now.store(31_000, Relaxed);
        let ready = Arc::new(Notify::new());
        let reader = ready.clone();
        tokio::spawn(async move {
            if reads {
                reader.notify_one();
            }
        });
        let work = async {
            ready.notified().await;
            drop(request);
            yield_now().await;
        };
        tokio::select! {
            biased;
            () = work => None,
            ending = connection.ending(None) => Some(ending),
        }
    }

    #[tokio::test]
    async fn what_is_ready_comes_before_a_time_limit() {
        assert_eq!(ending_after_the_limit(true).await, None);
        assert_eq!(ending_after_the_limit(false).await, Some(Ending::Abort));
    }

    #[tokio::test]
    async fn no_more_requests_start_than_their_responses_may_be_unread() {
        let connection = Arc::new(Connection::new(Arc::default(), Phase::New));
        let begin =
            |connection: Arc<Connection>| async move { connection.begin_request(RESERVED_TO_READ).await };
        let mut requests: Vec<_> = (0..20).map(|_| tokio::spawn(begin(connection.clone()))).collect();
        let first = started(&mut requests).await;
        assert_eq!(first.len(), 8);
        let mut first = first;
        first.iter_mut().for_each(|request| request.respond(RESERVED_TO_READ));
        assert_eq!(started(&mut requests).await.len(), 0, "their responses are unread");
        first.truncate(1);
        let second = started(&mut requests).await;
        assert_eq!(second.len(), 7, "one event makes room for several");
        drop(second);
        assert_eq!(started(&mut requests).await.len(), 5);
    }
}
