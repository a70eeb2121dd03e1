//! One connection: what its client has done, when its time is up, and how it ends.

#[cfg(test)]
mod model;
mod open_request;
mod shared;
mod state;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::futures::OwnedNotified;
use tokio::sync::{Notify, Semaphore};
use tokio::task::yield_now;

pub(super) use open_request::{Charge, OpenRequest};
pub(super) use shared::Shared;
pub(super) use state::{Ending, Phase};
use state::{FIRST_READS, State};

use super::first_request::Protocol;
use super::memory;
use super::sending::Time;
use super::socket::Taken;
use crate::telemetry::connections::Timeout;

/// An open connection.
pub(super) struct Connection {
    shared: Arc<Shared>,
    /// Whether the client has sent a valid API key. Changes while `state` is locked.
    has_key: AtomicBool,
    state: Mutex<State>,
    /// Notified when a waiting request may find [room](State::has_room).
    room: Notify,
    /// Notified when the connection is to end or has exceeded a time limit.
    ended: Notify,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, phase: Phase) -> Self {
        let now = shared.now();
        let state = State {
            phase,
            protocol: None,
            requests: 0,
            running: 0,
            responses: 0,
            reads: 0,
            read_limit: FIRST_READS,
            most_requests: 0,
            active_at: now,
            head_since: None,
            blocked: false,
            sending: None,
            memory: 0,
            ending: None,
        };
        let connection = Self {
            shared,
            has_key: AtomicBool::new(false),
            state: Mutex::new(state),
            room: Notify::new(),
            ended: Notify::new(),
        };
        let tls = if phase == Phase::Handshake { memory::TLS } else { 0 };
        connection.charge(&mut connection.state(), memory::ACCEPTED + tls);
        connection
    }

    /// Adds to what the connection holds.
    fn charge(&self, state: &mut State, bytes: usize) {
        state.memory += bytes;
        self.shared.memory.add(self.has_key(), bytes);
    }

    /// Subtracts from what the connection holds.
    fn release(&self, state: &mut State, bytes: usize) {
        state.memory -= bytes;
        self.shared.memory.subtract(self.has_key(), bytes);
    }

    /// Records that the client has sent a valid API key.
    pub(super) fn set_has_key(&self) {
        if self.has_key() {
            return;
        }
        let state = self.state();
        if !self.has_key.swap(true, Relaxed) {
            self.shared.memory.subtract(false, state.memory);
            self.shared.memory.add(true, state.memory);
            self.room.notify_one();
        }
    }

    /// Whether the client has sent a valid API key.
    pub(super) fn has_key(&self) -> bool {
        self.has_key.load(Relaxed)
    }

    pub(super) fn turns(&self) -> Arc<Semaphore> {
        self.shared.turns.0.clone()
    }

    /// Returns what the connection has to wait for before it takes more memory.
    pub(super) fn wait_for_memory(&self) -> Option<Pin<Box<OwnedNotified>>> {
        self.shared.memory.wait(self.has_key())
    }

    /// Returns the time, in steps of a few hundred milliseconds.
    pub(super) fn now(&self) -> Time {
        self.shared.now()
    }

    /// Closes the connection, because its client sends too many frames without a request.
    pub(super) fn exceed_frames(&self) {
        if self.abort() {
            self.shared.metrics.closed_because_of("frames");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the TLS handshake is complete.
    pub(super) fn handshake_complete(&self) {
        let mut state = self.state();
        (state.phase, state.active_at) = (Phase::New, self.shared.now());
    }

    /// Records the version of HTTP that the client uses.
    pub(super) fn set_protocol(&self, protocol: Protocol) {
        let mut state = self.state();
        state.protocol = Some(protocol);
        self.charge(&mut state, memory::buffers(protocol));
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

    /// Charges a request, which has this size, until the returned value is dropped.
    pub(super) fn open_request(self: &Arc<Self>, bytes: usize) -> OpenRequest {
        let mut state = self.state();
        state.phase = Phase::Established;
        state.requests += 1;
        state.active_at = self.shared.now();
        state.head_since = None;
        if state.requests > state.most_requests {
            state.most_requests = state.requests;
            self.charge(&mut state, memory::STREAM);
        }
        drop(state);
        OpenRequest { charge: self.hold(bytes), reads: false, runs: false, has_response: false }
    }

    /// Charges bytes until the returned value is dropped.
    pub(super) fn hold(self: &Arc<Self>, bytes: usize) -> Charge {
        self.charge(&mut self.state(), bytes);
        Charge { connection: self.clone(), bytes }
    }

    /// Returns what the connection holds, and how it may be closed. `None` if it is ending.
    pub(super) fn holding(&self) -> Option<Holding> {
        let state = self.state();
        let since = state.sending.as_ref().map_or(state.active_at, |sending| sending.taken_at);
        state.ending.is_none().then_some(Holding {
            memory: state.memory,
            has_key: self.has_key(),
            unused: self.shared.now().saturating_sub(since),
            is_idle: state.requests == 0 && state.sending.is_none(),
        })
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
                state.active_at = now;
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
    fn is_ending(&self) -> bool {
        self.state().ending.is_some()
    }

    /// Whether the client uses HTTP/2, which can announce the end of a connection.
    pub(super) fn is_http2(&self) -> bool {
        self.state().protocol == Some(Protocol::Http2)
    }

    /// Ends the connection at once. Returns whether this is news.
    pub(super) fn abort(&self) -> bool {
        self.end(Ending::Abort)
    }

    fn end(&self, ending: Ending) -> bool {
        let mut state = self.state();
        let is_news = state.ending.is_none();
        if is_news {
            state.active_at = self.shared.now();
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

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.state();
        let memory = state.memory;
        self.release(&mut state, memory);
    }
}

/// What a connection holds.
pub(super) struct Holding {
    /// In bytes of memory.
    pub(super) memory: usize,
    /// Whether its client has sent a valid API key.
    pub(super) has_key: bool,
    /// How long its client has sent no request and taken no byte.
    pub(super) unused: Time,
    /// Whether it has no request and nothing to send.
    pub(super) is_idle: bool,
}

#[cfg(test)]
mod tests {
    use tokio::task::{JoinHandle, yield_now};

    use super::state::{MAX_READS, MAX_RUNNING_WITHOUT_KEY};
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
        let mut request = connection.open_request(0);
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
    async fn requests_start_as_the_client_takes_responses() {
        let connection = Arc::new(Connection::new(Arc::default(), Phase::New));
        connection.set_has_key();
        let begin = |connection: Arc<Connection>| async move {
            let mut request = connection.open_request(0);
            request.begin(true).await;
            request
        };
        let mut requests: Vec<_> = (0..20).map(|_| tokio::spawn(begin(connection.clone()))).collect();
        let mut unread = Vec::new();
        for count in [FIRST_READS, MAX_READS, MAX_READS] {
            unread.clear();
            unread = started(&mut requests).await;
            assert_eq!(unread.len(), count, "one event makes room for several");
            unread.iter_mut().for_each(|request| request.respond(1));
            assert_eq!(started(&mut requests).await.len(), 0, "their responses are unread");
        }
    }

    #[tokio::test]
    async fn few_requests_run_before_a_valid_key() {
        let connection = Arc::new(Connection::new(Arc::default(), Phase::New));
        let begin = |connection: Arc<Connection>| async move {
            let mut request = connection.open_request(0);
            request.begin(false).await;
            request
        };
        let mut requests: Vec<_> = (0..20).map(|_| tokio::spawn(begin(connection.clone()))).collect();
        let mut first = started(&mut requests).await;
        assert_eq!(first.len(), MAX_RUNNING_WITHOUT_KEY);
        first[0].respond(1);
        assert_eq!(started(&mut requests).await.len(), 1, "one has its response");
        connection.set_has_key();
        drop(first);
        assert_eq!(started(&mut requests).await.len(), 11);
    }
}
