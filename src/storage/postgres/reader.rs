//! Reads: a few connections that all callers share.
//!
//! A caller does not own a connection while it waits for its answer. Callers put their queries on the same
//! connection one after the other (pipelining), and what is sent and received goes through the kernel
//! together. Rejected, because it was slower: a pool that lends a connection to one caller at a time. On
//! two cores with 64 callers, a pool of 16 gave 6 of 10 gets and of 10 lists.
//!
//! A query whose connection is lost is sent again on another one, since reading twice does no harm.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use slog::Logger;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Client, Error};

use super::address::{Address, ConnectError};
use super::failure::Failure;
use super::session::{Purpose, Session};
use super::{LONGEST_WAIT, animals, keys};

/// How many connections there are at the most.
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

/// The connections that read. Each is made when it is first needed, and made again after a failure.
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
    /// Held while connecting, so that one does and the others wait; the last failure and when it came.
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
        let deadline = Instant::now() + LONGEST_WAIT;
        let mut lost = 0;
        loop {
            let reader = self.reader(deadline).await?;
            match reader.session.until(deadline, query(reader.clone())).await {
                // All of them may be lost, and this be noticed one after the other.
                Err(failure) if failure.is_of_connection() && Instant::now() < deadline => {
                    lost += 1;
                    if lost > CONNECTIONS {
                        return Err(failure);
                    }
                }
                done => return done,
            }
        }
    }

    /// A connection that works, as far as one can tell.
    async fn reader(&self, deadline: Instant) -> Result<Arc<Reader>, Failure> {
        let slot = &self.slots[self.next.fetch_add(1, Ordering::Relaxed) % CONNECTIONS];
        match slot.live() {
            Some(reader) => Ok(reader),
            None => {
                let asked = Instant::now();
                timeout_at(deadline, self.connect(slot, asked)).await.unwrap_or(Err(Failure::Late))
            }
        }
    }

    async fn connect(&self, slot: &Slot, asked: Instant) -> Result<Arc<Reader>, Failure> {
        let mut failed = slot.connecting.lock().await;
        if let Some(reader) = slot.live() {
            return Ok(reader);
        }
        // Somebody else tried while we waited.
        if let Some((_, errors)) = failed.as_ref().filter(|(at, _)| *at >= asked) {
            return Err(Failure::Unreachable(errors.clone()));
        }
        let made = Session::connect(&self.address, Purpose::Reading, self.lock_timeout, &self.log).await;
        if let Err(Failure::Unreachable(errors)) = &made {
            *failed = Some((Instant::now(), errors.clone()));
        }
        let reader = Arc::new(prepare(made?).await?);
        *slot.live.write().unwrap_or_else(PoisonError::into_inner) = Some(reader.clone());
        Ok(reader)
    }
}

async fn prepare(session: Session) -> Result<Reader, Error> {
    let animals = animals::Queries::prepare(session.client()).await?;
    let keys = keys::Queries::prepare(session.client()).await?;
    Ok(Reader { session, animals, keys })
}
