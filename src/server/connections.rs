//! The open connections of a listener: their number, their time limits, and how they end.
//!
//! A task per connection serves it ([`super::serving`]). One more task per listener looks at all connections
//! several times a second and closes those whose time is up, so a connection needs no timer. The same task
//! keeps the time, so that the events of a connection need not read the clock.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use super::connection::{Connection, Phase, Registered, Time};
use super::limits::ConnectionLimits;
use crate::telemetry::connections::{ConnectionMetrics, Timeout};

/// How often connections are looked at, unless a limit is short.
const PERIOD: Duration = Duration::from_millis(250);
/// How long a connection without a request stays open during shutdown. A client that uses it sends its next
/// request within this time, and the response says that the connection closes.
const LINGER: Duration = Duration::from_secs(1);
/// The maximum size in bytes of all responses that clients have not read.
const MAX_UNREAD: usize = 64 * 1024 * 1024;

/// The open connections of a listener.
pub(super) struct Connections {
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    next: AtomicU64,
    limits: ConnectionLimits,
    max: usize,
    start: Instant,
    /// Milliseconds since `start`, at the last look at the connections.
    now: AtomicU64,
    /// The size in bytes of all responses that clients have not read.
    unread: AtomicUsize,
    shutting_down: AtomicBool,
    /// Whether connections without a request are closed after [`LINGER`].
    closing: AtomicBool,
    last_closed: Notify,
    metrics: ConnectionMetrics,
}

impl Connections {
    /// Creates the register of at most `max` connections. Must be called within a tokio runtime.
    pub(super) fn new(limits: ConnectionLimits, max: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        let connections = Arc::new(Self {
            open: Mutex::default(),
            next: AtomicU64::new(0),
            limits,
            max,
            start: Instant::now(),
            now: AtomicU64::new(0),
            unread: AtomicUsize::new(0),
            shutting_down: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            last_closed: Notify::new(),
            metrics,
        });
        tokio::spawn(close_overdue(Arc::downgrade(&connections)));
        connections
    }

    /// Registers a connection that was accepted. Returns `None` when there are too many.
    pub(super) fn register(self: &Arc<Self>, phase: Phase) -> Option<Registered> {
        let mut open = self.open();
        if open.len() >= self.max {
            self.metrics.refused();
            return None;
        }
        let id = self.next.fetch_add(1, Relaxed);
        let connection = Arc::new(Connection::new(self.clone(), id, phase));
        open.insert(id, connection.clone());
        self.metrics.opened();
        Some(Registered(connection))
    }

    pub(super) fn remove(&self, id: u64) {
        let mut open = self.open();
        open.remove(&id);
        self.metrics.closed();
        if open.is_empty() {
            self.last_closed.notify_waiters();
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time at the last look at the connections.
    pub(super) fn now(&self) -> Time {
        self.now.load(Relaxed)
    }

    pub(super) fn metrics(&self) -> &ConnectionMetrics {
        &self.metrics
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
        self.closing.store(true, Relaxed);
        self.open().values().filter(|it| it.is_http2()).for_each(|it| it.finish());
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
        self.open().values().for_each(|connection| connection.abort());
    }

    /// Closes the connections whose time is up.
    fn close_overdue(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.now.store(now, Relaxed);
        let mut limits = self.limits;
        if self.closing.load(Relaxed) {
            for limit in [&mut limits.handshake_timeout, &mut limits.header_timeout, &mut limits.idle_timeout]
            {
                *limit = LINGER.min(*limit);
            }
        }
        for connection in self.open().values() {
            let Some(timeout) = connection.overdue(now, &limits) else { continue };
            if connection.is_ending() {
                connection.abort();
                continue;
            }
            self.metrics.timed_out(timeout);
            if timeout == Timeout::Idle && connection.is_http2() {
                connection.finish();
            } else {
                connection.abort();
            }
        }
    }

    pub(super) fn add_unread(&self, bytes: usize) {
        if self.unread.fetch_add(bytes, Relaxed) + bytes > MAX_UNREAD {
            self.abort_unread();
        }
    }

    pub(super) fn remove_unread(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Relaxed);
    }

    /// Closes the connections whose clients have read nothing for longest, until all responses that are not
    /// read are within [`MAX_UNREAD`].
    fn abort_unread(&self) {
        let open = self.open();
        let mut unread: Vec<_> = open.values().map(|connection| (connection, connection.unread())).collect();
        let mut sum: usize = unread.iter().map(|(_, (bytes, _))| bytes).sum();
        unread.retain(|(_, (bytes, _))| *bytes > 0);
        unread.sort_by_key(|(_, (_, since))| *since);
        for (connection, (bytes, _)) in unread {
            if sum <= MAX_UNREAD {
                break;
            }
            sum -= bytes;
            self.metrics.timed_out(Timeout::Read);
            connection.abort();
        }
    }
}

async fn close_overdue(connections: Weak<Connections>) {
    let period = connections.upgrade().map(|it| it.limits.shortest() / 8).unwrap_or_default();
    let mut periods = interval(period.clamp(Duration::from_millis(1), PERIOD));
    periods.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        periods.tick().await;
        let Some(connections) = connections.upgrade() else { return };
        connections.close_overdue();
    }
}
