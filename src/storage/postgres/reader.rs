//! Reads: a few connections that all callers share.
//!
//! A caller does not own a connection while it waits. Callers send their queries on the same connection one
//! after the other (pipelining), so that one system call sends or receives several.
//!
//! A query takes the connection with the fewest queries, so it waits for a slow one only if all connections have one. A
//! caller waits for a new connection only if there is no other one. Reads are idempotent: a query whose connection is
//! lost is sent again on another one.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::future::{FutureExt as _, try_join};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Client;

use super::address::Address;
use super::error::{ConnectError, PgError};
use super::routing::Target;
use super::session::{Purpose, Session};
use super::{animals, keys};
use crate::storage::options::StoreOptions;

/// The minimum time between two attempts to open a further connection.
const RETRY: Duration = Duration::from_secs(1);

/// When and why the last attempt to connect failed; `None` if it succeeded.
type LastFailure = Option<(Instant, Vec<ConnectError>)>;

/// A connection with its prepared queries.
pub(super) struct Reader {
    session: Session,
    pub(super) animals: animals::Queries,
    pub(super) keys: keys::Queries,
}

impl Reader {
    pub(super) fn client(&self) -> &Client {
        self.session.client()
    }

    /// Whether this is a connection to a standby.
    pub(super) fn is_on_standby(&self) -> bool {
        self.session.target().is_standby
    }
}

/// The connections for reading. One is opened with the first query, the others in the background.
pub(super) struct Readers {
    pub(super) address: Address,
    options: StoreOptions,
    slots: Vec<RwLock<Option<Arc<Reader>>>>,
    next: AtomicUsize,
    /// Locked during a connection attempt, so that other callers wait; contains the last failure and its time.
    connecting: Arc<Mutex<LastFailure>>,
    /// The highest identifier up to which no animal can be added any more, as far as this process knows (`pages.rs`).
    pub(super) settled: AtomicI64,
}

impl Readers {
    pub(super) fn new(address: Address, options: &StoreOptions) -> Self {
        Self {
            address,
            options: options.clone(),
            slots: (0..options.postgres.readers.max(1)).map(|_| RwLock::default()).collect(),
            next: AtomicUsize::new(0),
            connecting: Arc::default(),
            settled: AtomicI64::new(i64::MIN),
        }
    }

    /// Whether another host than the primary may be read.
    pub(super) fn may_read_standby(&self) -> bool {
        self.address.len() > 1
    }

    /// Returns when a call that starts now must end.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.options.postgres.call_timeout()
    }

    /// Runs `query` on one of the connections until `deadline`.
    pub(super) async fn run<T, Query, Running>(
        self: &Arc<Self>,
        deadline: Instant,
        query: Query,
    ) -> Result<T, PgError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        let mut lost = 0;
        loop {
            let reader = self.reader(deadline).await?;
            match reader.session.until(deadline, query(reader.clone())).await {
                // All connections may be lost, which each query notices separately.
                Err(failure) if failure.is_connection_failure() && Instant::now() < deadline => {
                    lost += 1;
                    if lost > self.slots.len() {
                        return Err(failure);
                    }
                }
                result => return result,
            }
        }
    }

    /// Returns a usable connection to the host that may be read now.
    async fn reader(self: &Arc<Self>, deadline: Instant) -> Result<Arc<Reader>, PgError> {
        let from = self.address.target(Purpose::Reading).await.map_err(PgError::Unreachable)?;
        let start = self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len();
        if self.in_slot(start).is_none() {
            self.grow();
        }
        if let Some(reader) = self.find(start, from) {
            return Ok(reader);
        }
        // In a box, because the future of each read would be hundreds of KB large.
        let connecting = Box::pin(self.connect(from));
        timeout_at(deadline, connecting).await.unwrap_or(Err(PgError::Timeout))
    }

    /// Returns the connection to the host `from` with the fewest queries: each of them has the reader. Of equal ones, the
    /// first from slot `start`.
    fn find(&self, start: usize, from: Target) -> Option<Arc<Reader>> {
        let slots = (start..self.slots.len()).chain(0..start);
        let readers = slots.filter_map(|slot| self.in_slot(slot));
        readers.filter(|reader| reader.session.target() == from).min_by_key(Arc::strong_count)
    }

    /// Returns the connection in a slot, if it is usable.
    fn in_slot(&self, slot: usize) -> Option<Arc<Reader>> {
        let reader = self.slots[slot].read().unwrap_or_else(PoisonError::into_inner);
        reader.as_ref().filter(|reader| reader.session.is_usable()).cloned()
    }

    /// Opens a further connection in the background, unless an attempt runs or failed a moment ago.
    fn grow(self: &Arc<Self>) {
        let Ok(mut failed) = self.connecting.clone().try_lock_owned() else { return };
        if failed.as_ref().is_some_and(|(at, _)| at.elapsed() < RETRY) {
            return;
        }
        let readers = self.clone();
        tokio::spawn(async move {
            // The next caller without a connection tries again and gets the failure.
            let _ = readers.open(&mut failed).await;
        });
    }

    /// Returns a connection to the host `from`, or to the one that is read by then, that was opened during the call.
    async fn connect(&self, from: Target) -> Result<Arc<Reader>, PgError> {
        let called = Instant::now();
        let mut failed = self.connecting.lock().await;
        if let Some(reader) = self.find(0, from) {
            return Ok(reader);
        }
        // Another caller tried during the wait.
        if let Some((_, errors)) = failed.as_ref().filter(|(at, _)| *at >= called) {
            return Err(PgError::Unreachable(errors.clone()));
        }
        self.open(&mut failed).await
    }

    /// Opens a connection in the place of an unusable one.
    async fn open(&self, failed: &mut LastFailure) -> Result<Arc<Reader>, PgError> {
        let connecting = Session::connect(&self.address, Purpose::Reading, &self.options, |client| {
            try_join(animals::Queries::prepare(client), keys::Queries::prepare(client)).boxed()
        });
        let connected = connecting.await;
        *failed = match &connected {
            Err(PgError::Unreachable(errors)) => Some((Instant::now(), errors.clone())),
            _ => None,
        };
        let (session, (animals, keys)) = connected?;
        let reader = Arc::new(Reader { session, animals, keys });
        // A synchronous standby has the sequence of every animal that was visible on the primary.
        if !reader.is_on_standby() {
            // After a crash or a failover, the sequence may assign the latest identifiers again.
            self.settled.store(i64::MIN, Ordering::SeqCst);
        }
        if let Some(free) = (0..self.slots.len()).find(|slot| self.in_slot(*slot).is_none()) {
            *self.slots[free].write().unwrap_or_else(PoisonError::into_inner) = Some(reader.clone());
        }
        Ok(reader)
    }
}
