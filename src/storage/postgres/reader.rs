//! Reads: a few connections that all callers share.
//!
//! A caller does not own a connection while it waits. Callers send their queries on the same connection one
//! after the other (pipelining), so that one system call sends or receives several. Rejected, because it was
//! slower: a pool that lends a connection to one caller. On two cores with 64 callers, a pool of 16 had 60 %
//! of the gets and lists per second.
//!
//! A query whose connection is lost is sent again on another one, because reads are idempotent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use slog::Logger;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Client, Error};

use super::address::Address;
use super::failure::{ConnectError, Failure};
use super::session::{MAX_WAIT, Purpose, Session};
use super::{animals, keys};

/// The maximum number of connections.
const CONNECTIONS: usize = 8;

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
}

/// The connections for reading. Each is opened when it is first needed, and again after a failure.
pub(super) struct Readers {
    address: Address,
    lock_timeout: Duration,
    log: Logger,
    slots: [Slot; CONNECTIONS],
    next: AtomicUsize,
}

#[derive(Default)]
struct Slot {
    live: RwLock<Option<Arc<Reader>>>,
    /// Locked during a connection attempt, so that other callers wait; contains the last failure and its
    /// time.
    connecting: Mutex<Option<(Instant, Vec<ConnectError>)>>,
}

impl Slot {
    fn live(&self) -> Option<Arc<Reader>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.as_ref().filter(|reader| reader.session.is_usable()).cloned()
    }
}

impl Readers {
    pub(super) fn new(address: Address, lock_timeout: Duration, log: Logger) -> Self {
        Self { address, lock_timeout, log, slots: Default::default(), next: AtomicUsize::new(0) }
    }

    /// Runs `query` on one of the connections.
    pub(super) async fn run<T, Query, Running>(&self, query: Query) -> Result<T, Failure>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, Failure>>,
    {
        let deadline = Instant::now() + MAX_WAIT;
        let mut lost = 0;
        loop {
            let reader = self.reader(deadline).await?;
            match reader.session.until(deadline, query(reader.clone())).await {
                // All connections may be lost, which each query notices separately.
                Err(failure) if failure.is_connection_failure() && Instant::now() < deadline => {
                    lost += 1;
                    if lost > CONNECTIONS {
                        return Err(failure);
                    }
                }
                result => return result,
            }
        }
    }

    /// Returns a usable connection.
    async fn reader(&self, deadline: Instant) -> Result<Arc<Reader>, Failure> {
        let slot = &self.slots[self.next.fetch_add(1, Ordering::Relaxed) % CONNECTIONS];
        match slot.live() {
            Some(reader) => Ok(reader),
            None => {
                let called = Instant::now();
                timeout_at(deadline, self.connect(slot, called)).await.unwrap_or(Err(Failure::Timeout))
            }
        }
    }

    async fn connect(&self, slot: &Slot, called: Instant) -> Result<Arc<Reader>, Failure> {
        let mut failed = slot.connecting.lock().await;
        if let Some(reader) = slot.live() {
            return Ok(reader);
        }
        // Another caller tried during the wait.
        if let Some((_, errors)) = failed.as_ref().filter(|(at, _)| *at >= called) {
            return Err(Failure::Unreachable(errors.clone()));
        }
        let session = Session::connect(&self.address, Purpose::Reading, self.lock_timeout, &self.log).await;
        if let Err(Failure::Unreachable(errors)) = &session {
            *failed = Some((Instant::now(), errors.clone()));
        }
        let reader = Arc::new(prepare(session?).await?);
        *slot.live.write().unwrap_or_else(PoisonError::into_inner) = Some(reader.clone());
        Ok(reader)
    }
}

async fn prepare(session: Session) -> Result<Reader, Error> {
    let animals = animals::Queries::prepare(session.client()).await?;
    let keys = keys::Queries::prepare(session.client()).await?;
    Ok(Reader { session, animals, keys })
}
