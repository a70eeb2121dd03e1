//! The open connections of a listener: their number, their time limits, and how they end.
//!
//! A task per connection serves it ([`super::serving`]). One more task per listener looks at all connections
//! several times a second and wakes those whose time is up, so a connection needs no timer. The same task
//! keeps the time, so that the events of a connection need not read the clock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{MissedTickBehavior, interval};

use super::connection::{Connection, MAX_UNREAD_TOTAL, Phase, Shared};
use super::limits::ConnectionLimits;
use super::socket::Observed;
use crate::telemetry::connections::{ConnectionMetrics, Timeout};

/// How often connections are looked at, unless a limit is short.
const PERIOD: Duration = Duration::from_millis(250);
/// How many connections may use HTTP/2 at the same time; with a `max` above 10,000, seven tenths of it. Each takes
/// 20 KiB of memory, most of it buffers of hyper, so that all take less than 150 MiB.
const MAX_HTTP2: usize = 7_000;

/// The open connections of a listener.
pub(super) struct Connections {
    open: Mutex<HashMap<u64, (Arc<Connection>, Observed)>>,
    next: AtomicU64,
    max: usize,
    start: Instant,
    shared: Arc<Shared>,
    shutting_down: AtomicBool,
    last_closed: Notify,
    /// A permit for each connection that may use HTTP/2.
    http2: Arc<Semaphore>,
    /// How many of these permits are kept free.
    http2_room: usize,
}

impl Connections {
    /// Creates the register of at most `max` connections. Must be called within a tokio runtime.
    pub(super) fn new(limits: ConnectionLimits, max: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        let max_http2 = max.min(MAX_HTTP2.max(max / 10 * 7));
        let connections = Arc::new(Self::with_http2(max_http2, limits, max, metrics));
        tokio::spawn(watch(Arc::downgrade(&connections)));
        connections
    }

    fn with_http2(
        max_http2: usize,
        limits: ConnectionLimits,
        max: usize,
        metrics: ConnectionMetrics,
    ) -> Self {
        Self {
            open: Mutex::default(),
            next: AtomicU64::new(0),
            max,
            start: Instant::now(),
            shared: Arc::new(Shared::new(limits, metrics)),
            shutting_down: AtomicBool::new(false),
            last_closed: Notify::new(),
            http2: Arc::new(Semaphore::new(max_http2)),
            // Without a limit of its own, HTTP/2 never waits.
            http2_room: if max_http2 < max { max_http2 / 16 } else { 0 },
        }
    }

    /// Registers a connection that was accepted. Returns `None` when there are too many.
    pub(super) fn register(self: &Arc<Self>, phase: Phase, socket: Observed) -> Option<Registered> {
        let mut open = self.open();
        if open.len() >= self.max {
            self.metrics().refused();
            return None;
        }
        let id = self.next.fetch_add(1, Relaxed);
        let connection = Arc::new(Connection::new(self.shared.clone(), phase));
        open.insert(id, (connection.clone(), socket));
        self.metrics().opened();
        Some(Registered { connection, id, connections: self.clone() })
    }

    fn remove(&self, id: u64) {
        let mut open = self.open();
        open.remove(&id);
        self.metrics().closed();
        if open.is_empty() {
            self.last_closed.notify_waiters();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, Observed)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more connection may use HTTP/2.
    pub(super) async fn permit_http2(&self) -> Option<OwnedSemaphorePermit> {
        self.http2.clone().acquire_owned().await.ok()
    }

    pub(super) fn metrics(&self) -> &ConnectionMetrics {
        &self.shared.metrics
    }

    /// Makes responses over HTTP/1 say `Connection: close`.
    pub(super) fn begin_shutdown(&self) {
        self.shutting_down.store(true, Relaxed);
    }

    pub(super) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Relaxed)
    }

    /// Closes each connection when it has no request in progress, and waits until all are closed.
    pub(super) async fn finish(&self) {
        self.begin_shutdown();
        self.shared.closing.store(true, Relaxed);
        for (connection, _) in self.open().values().filter(|(it, _)| it.is_http2()) {
            connection.finish();
        }
        loop {
            let last_closed = self.last_closed.notified();
            if self.open().is_empty() {
                return;
            }
            last_closed.await;
        }
    }

    /// Closes all connections.
    pub(super) fn abort(&self) {
        for (connection, _) in self.open().values() {
            connection.abort();
        }
    }

    /// Looks at what clients have taken, and wakes the connections whose time is up.
    fn wake_overdue(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.shared.now.store(now, Relaxed);
        self.open().values().for_each(|(connection, socket)| connection.look(|| socket.taken()));
    }

    /// When few permits are left, closes connections over HTTP/2: first those that have had no request, then those
    /// that have been without one for longest.
    fn make_room_for_http2(&self) {
        let available = self.http2.available_permits();
        if available >= self.http2_room {
            return;
        }
        let open = self.open();
        let http2 = || open.values().map(|(connection, _)| connection).filter(|it| it.is_http2());
        let ending = http2().filter(|connection| connection.is_ending()).count();
        let mut idle: Vec<_> = http2().filter_map(|it| Some((it.idle()?, it))).collect();
        idle.sort_by_key(|(idle, _)| *idle);
        for (_, connection) in idle.iter().take(self.http2_room.saturating_sub(available + ending)) {
            if connection.finish() {
                self.metrics().timed_out(Timeout::Idle);
            }
        }
    }

    /// Closes the connections whose clients have read nothing for longest, until all responses that are not
    /// read are within [`MAX_UNREAD_TOTAL`].
    fn abort_unread(&self) {
        let open = self.open();
        let mut unread: Vec<_> =
            open.values().map(|(connection, _)| (connection, connection.unread())).collect();
        let mut sum: usize = unread.iter().map(|(_, (bytes, _))| bytes).sum();
        unread.retain(|(_, (bytes, _))| *bytes > 0);
        unread.sort_by_key(|(_, (_, since))| *since);
        for (connection, (bytes, _)) in unread {
            if sum <= MAX_UNREAD_TOTAL {
                break;
            }
            sum -= bytes;
            if connection.abort() {
                self.metrics().timed_out(Timeout::Send);
            }
        }
    }
}

/// A registered connection. It is removed when this is dropped.
pub(super) struct Registered {
    pub(super) connection: Arc<Connection>,
    id: u64,
    connections: Arc<Connections>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.connections.remove(self.id);
    }
}

async fn watch(connections: Weak<Connections>) {
    let Some((period, shared)) =
        connections.upgrade().map(|it| (it.shared.limits().shortest() / 8, it.shared.clone()))
    else {
        return;
    };
    let mut periods = interval(period.clamp(Duration::from_millis(1), PERIOD));
    periods.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let too_much_unread = tokio::select! {
            _ = periods.tick() => false,
            () = shared.too_much_unread.notified() => true,
        };
        let Some(connections) = connections.upgrade() else { return };
        if too_much_unread {
            connections.abort_unread();
        } else {
            connections.wake_overdue();
            connections.make_room_for_http2();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::server::first_request::Protocol;
    use crate::server::socket::split;

    #[tokio::test]
    async fn the_longest_idle_connections_over_http2_make_room() {
        let connections =
            Arc::new(Connections::with_http2(32, ConnectionLimits::default(), 64, Default::default()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut open = Vec::new();
        for time in 0..32 {
            connections.shared.now.store(time, Relaxed);
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let registered =
                connections.register(Phase::New, split(client).1).expect("room for a connection");
            registered.connection.set_protocol(Protocol::Http2);
            open.push((registered, connections.permit_http2().await.expect("a permit")));
        }
        drop(open[0].0.connection.begin_request(0).await);
        let with_request = open[1].0.connection.begin_request(0).await;
        let ending = |open: &[(Registered, OwnedSemaphorePermit)]| -> Vec<usize> {
            let ending = open.iter().enumerate().filter(|(_, (it, _))| it.connection.is_ending());
            ending.map(|(number, _)| number).collect()
        };
        connections.make_room_for_http2();
        assert_eq!(ending(&open), [2, 3]);
        connections.make_room_for_http2();
        assert_eq!(ending(&open), [2, 3], "these are enough");

        open.retain(|(it, _)| !it.connection.is_ending());
        connections.make_room_for_http2();
        assert_eq!(ending(&open), [] as [usize; 0], "two permits are left");
        drop(with_request);
    }
}
