//! The open connections of a listener: their number, their time limits, and how they end.
//!
//! A task per connection serves it ([`super::serving`]). One more task per listener looks at all connections
//! several times a second and wakes those whose time is up, so a connection needs no timer. The same task
//! keeps the time, so that the events of a connection need not read the clock.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::connection::{Connection, Holding, Phase, Shared};
use super::limits::ConnectionLimits;
use super::socket::Observed;
use crate::telemetry::connections::ConnectionMetrics;

/// How often connections are looked at, unless a limit is short.
const PERIOD: Duration = Duration::from_millis(250);
/// The open connections of a listener.
pub(super) struct Connections {
    open: Mutex<HashMap<u64, (Arc<Connection>, Observed)>>,
    next: AtomicU64,
    max: usize,
    start: Instant,
    shared: Arc<Shared>,
    shutting_down: AtomicBool,
    tracker: TaskTracker,
}

impl Connections {
    /// Creates the register of at most `max` connections. Must be called within a tokio runtime.
    pub(super) fn new(limits: ConnectionLimits, max: usize, metrics: ConnectionMetrics) -> Arc<Self> {
        let connections = Arc::new(Self::unwatched(limits, max, metrics));
        tokio::spawn(watch(Arc::downgrade(&connections)));
        connections
    }

    fn unwatched(limits: ConnectionLimits, max: usize, metrics: ConnectionMetrics) -> Self {
        Self {
            open: Mutex::default(),
            next: AtomicU64::new(0),
            max,
            start: Instant::now(),
            shared: Arc::new(Shared::new(limits, metrics)),
            shutting_down: AtomicBool::new(false),
            tracker: TaskTracker::new(),
        }
    }

    /// Registers a connection that was accepted. Returns `None` when there are too many.
    pub(super) fn register(self: &Arc<Self>, phase: Phase, socket: Observed) -> Option<Registered> {
        let mut open = self.open();
        if open.len() >= self.max {
            self.metrics().refused.inc();
            return None;
        }
        let id = self.next.fetch_add(1, Relaxed);
        let connection = Arc::new(Connection::new(self.shared.clone(), phase));
        open.insert(id, (connection.clone(), socket));
        self.metrics().open.inc();
        Some(Registered { connection, id, connections: self.clone(), _open: self.tracker.token() })
    }

    fn remove(&self, id: u64) {
        self.open().remove(&id);
        self.metrics().open.dec();
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, (Arc<Connection>, Observed)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.tracker.close();
        self.tracker.wait().await;
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

    /// Closes connections until those without a valid API key and then all are within their limits of memory.
    fn free_memory(&self) {
        let memory = &self.shared.memory;
        let open = self.open();
        let mut held: Vec<_> =
            open.values().filter_map(|(connection, _)| Some((connection.holding()?, connection))).collect();
        // What has been held for long ends first, and of that what is large. A client in use holds nothing for long.
        held.sort_by_key(|(it, _)| Reverse((it.memory as u64).saturating_mul(it.unused + 1)));
        for (pool, only_without_key) in [(&memory.without_key, true), (&memory.all, false)] {
            let concerned = |it: &Holding| !only_without_key || !it.has_key;
            let mut sum: usize = held.iter().filter(|(it, _)| concerned(it)).map(|(it, _)| it.memory).sum();
            let enough = if pool.is_full() { pool.enough() } else { pool.limit };
            held.retain(|(it, connection)| {
                let ends = sum > enough && concerned(it);
                if ends {
                    sum -= it.memory;
                    // A client with a key may be told first.
                    let is_news = if it.is_idle && it.has_key && connection.is_http2() {
                        connection.finish()
                    } else {
                        connection.abort()
                    };
                    if is_news {
                        self.metrics().closed_because_of("memory");
                    }
                }
                !ends
            });
        }
        drop(open);
        memory.update();
    }
}

/// A registered connection. It is removed when this is dropped.
pub(super) struct Registered {
    pub(super) connection: Arc<Connection>,
    id: u64,
    connections: Arc<Connections>,
    _open: TaskTrackerToken,
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
        let exceeded = tokio::select! {
            _ = periods.tick() => false,
            () = shared.memory.exceeded.notified() => true,
        };
        let Some(connections) = connections.upgrade() else { return };
        // Also without an event: connections may hold more than enough and less than the limit.
        if exceeded || shared.memory.all.is_full() || shared.memory.without_key.is_full() {
            connections.free_memory();
        }
        if !exceeded {
            connections.wake_overdue();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::server::connection::{Charge, Ending};
    use crate::server::first_request::Protocol;
    use crate::server::socket::split;

    const MIB: usize = 1024 * 1024;

    /// Connections with limits of 4 MiB, and 2 MiB without a key.
    async fn register(count: u64) -> (Arc<Connections>, Vec<Registered>) {
        let limits =
            ConnectionLimits { memory_mib: 4, memory_without_key_mib: 2, ..ConnectionLimits::default() };
        let connections = Arc::new(Connections::unwatched(limits, 64, Default::default()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut open = Vec::new();
        for time in 0..count {
            connections.shared.now.store(time, Relaxed);
            let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (_, observed) = split(client);
            open.push(connections.register(Phase::New, observed).expect("room for a connection"));
        }
        (connections, open)
    }

    /// Frees memory, and returns the numbers of the connections that are ending.
    fn freed(connections: &Connections, open: &[Registered]) -> Vec<usize> {
        connections.free_memory();
        let ending = open.iter().enumerate().filter(|(_, it)| it.connection.holding().is_none());
        ending.map(|(number, _)| number).collect()
    }

    #[tokio::test]
    async fn connections_without_a_key_have_a_limit_of_their_own() {
        let (connections, open) = register(10).await;
        open[0].connection.set_has_key();
        let held: Vec<Charge> = open.iter().map(|it| it.connection.hold(MIB / 5)).collect();
        assert_eq!(
            freed(&connections, &open),
            [] as [usize; 0],
            "9 times a fifth of a MiB are less than two"
        );
        connections.shared.now.store(1_000, Relaxed);
        let more = [open[0].connection.hold(MIB), open[7].connection.hold(MIB)];
        assert_eq!(freed(&connections, &open), [7], "it holds most");
        assert_eq!(freed(&connections, &open), [7], "this is enough");
        drop((held, more));
    }

    #[tokio::test]
    async fn all_connections_have_a_limit_and_those_in_use_stay() {
        let (connections, open) = register(10).await;
        open.iter().for_each(|it| it.connection.set_has_key());
        open.iter().for_each(|it| it.connection.set_protocol(Protocol::Http2));
        let held: Vec<Charge> = open.iter().map(|it| it.connection.hold(MIB / 2)).collect();
        connections.shared.now.store(1_000, Relaxed);
        let used = open[0].connection.open_request(0);
        assert_eq!(freed(&connections, &open), [1, 2, 3, 4], "the oldest that are not in use");
        assert_eq!(open[1].connection.ending(None).await, Ending::Finish, "its client is told first");
        drop((used, held));
    }

    #[tokio::test]
    async fn a_connection_that_ended_holds_nothing() {
        let (connections, mut open) = register(2).await;
        drop(open[0].connection.open_request(MIB));
        open[1].connection.set_has_key();
        open.clear();
        assert_eq!(connections.shared.memory.held(), [0, 0]);
    }
}
