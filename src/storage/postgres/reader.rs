//! Reads: a few connections that all callers share.
//!
//! A caller does not own a connection while it waits. Callers send their queries on the same connection one
//! after the other (pipelining), so that one system call sends or receives several.
//!
//! A caller waits for a new connection only if no other one responds. Reads are idempotent: a query whose
//! connection is lost is sent again on another one, and so is a query on a connection where nothing arrives,
//! because it is lost without notice or another query on it is slow. Of the second kind are at most a tenth. The first
//! attempt then continues: a request to cancel it would hit whatever query its connection runs by then.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use futures::future::{Either, join_all, select, try_join};
use scopeguard::ScopeGuard;
use tokio::pin;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Client;

use super::address::Address;
use super::error::{ConnectError, PgError};
use super::routing::Target;
use super::second_attempts::SecondAttempts;
use super::session::{NewSession, Purpose, STALL, Session, TEST_INTERVAL};
use super::settled::Settled;
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
    /// Counts the connections, including those that were replaced and still have queries.
    _counted: Arc<()>,
}

impl Reader {
    pub(super) fn client(&self) -> &Client {
        self.session.client()
    }

    /// Whether this is a connection to a standby.
    pub(super) fn is_on_standby(&self) -> bool {
        self.session.target().is_some_and(|target| target.is_standby)
    }
}

/// The connections for reading. One is opened with the first query, the others in the background.
pub(super) struct Readers {
    address: Address,
    options: StoreOptions,
    slots: Vec<RwLock<Option<Arc<Reader>>>>,
    next: AtomicUsize,
    /// Locked during a connection attempt, so that other callers wait; contains the last failure and its time.
    connecting: Arc<Mutex<LastFailure>>,
    counted: Arc<()>,
    second_attempts: SecondAttempts,
    pub(super) settled: Settled,
}

impl Readers {
    /// Must be called within a tokio runtime, which then tests idle connections.
    pub(super) fn new(address: Address, options: &StoreOptions) -> Arc<Self> {
        let readers = Arc::new(Self {
            address,
            options: options.clone(),
            slots: (0..options.postgres.readers.max(1)).map(|_| RwLock::default()).collect(),
            next: AtomicUsize::new(0),
            connecting: Arc::default(),
            counted: Arc::default(),
            second_attempts: SecondAttempts::new(),
            settled: Settled::unknown(),
        });
        tokio::spawn(test(Arc::downgrade(&readers)));
        readers
    }

    /// Whether another host than the primary may be read.
    pub(super) fn may_read_standby(&self) -> bool {
        self.address.len() > 1
    }

    /// Returns when a call that starts now must end.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.options.postgres.call_timeout()
    }

    /// Runs `query` on one of the connections.
    pub(super) async fn run<T, Query, Running>(self: &Arc<Self>, query: Query) -> Result<T, PgError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        self.run_until(self.deadline(), query).await
    }

    /// Runs `query` on one of the connections until `deadline`.
    pub(super) async fn run_until<T, Query, Running>(
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
            match self.attempt(deadline, &query).await {
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

    /// Runs `query` on a connection, and on a second one if nothing arrives on the first and a second attempt is left.
    async fn attempt<T, Query, Running>(
        self: &Arc<Self>,
        deadline: Instant,
        query: &Query,
    ) -> Result<T, PgError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        let run = async |reader: &Arc<Reader>| reader.session.until(deadline, query(reader.clone())).await;
        self.second_attempts.read();
        let reader = self.reader(deadline).await?;
        let stalled = async {
            loop {
                reader.session.stalled().await;
                if self.second_attempts.take() {
                    return;
                }
            }
        };
        let first = run(&reader);
        pin!(first, stalled);
        if let Either::Left((result, _)) = select(&mut first, stalled).await {
            return result;
        }
        let second = async { run(&self.reader(deadline).await?).await };
        pin!(second);
        match select(first, second).await {
            Either::Left((Err(failure), second)) if failure.is_connection_failure() => second.await,
            Either::Right((Err(_), first)) => first.await,
            Either::Left((result, _)) | Either::Right((result, _)) => result,
        }
    }

    /// Returns a usable connection to the host that may be read now.
    async fn reader(self: &Arc<Self>, deadline: Instant) -> Result<Arc<Reader>, PgError> {
        let from = self.address.readable().await.map_err(PgError::Unreachable)?;
        let start = self.next.fetch_add(1, Ordering::Relaxed);
        if !self.is_usable(start % self.slots.len()) {
            self.grow();
        }
        if let Some(reader) = self.find(start, from, Session::is_responsive) {
            return Ok(reader);
        }
        // In a box, because the future of each read would be hundreds of KB large.
        let mut connecting = Box::pin(self.connect(from));
        loop {
            // One may respond again before the new one is open.
            let pause = deadline.min(Instant::now() + STALL);
            match timeout_at(pause, connecting.as_mut()).await {
                Ok(result) => return result,
                Err(_) if Instant::now() >= deadline => return Err(PgError::Timeout),
                Err(_) => {}
            }
            if let Some(reader) = self.find(start, from, Session::is_responsive) {
                return Ok(reader);
            }
        }
    }

    /// Returns the first connection from slot `start` to the host `from` with this property.
    fn find(&self, start: usize, from: Option<Target>, has: fn(&Session) -> bool) -> Option<Arc<Reader>> {
        let (before, after) = self.slots.split_at(start % self.slots.len());
        after.iter().chain(before).find_map(|slot| {
            let slot = slot.read().unwrap_or_else(PoisonError::into_inner);
            let is_found = |reader: &&Arc<Reader>| reader.session.target() == from && has(&reader.session);
            slot.as_ref().filter(is_found).cloned()
        })
    }

    fn is_usable(&self, slot: usize) -> bool {
        let slot = self.slots[slot].read().unwrap_or_else(PoisonError::into_inner);
        slot.as_ref().is_some_and(|reader| reader.session.is_usable())
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
    async fn connect(&self, from: Option<Target>) -> Result<Arc<Reader>, PgError> {
        let called = Instant::now();
        let mut failed = self.connecting.lock().await;
        if let Some(reader) = self.find(0, from, Session::is_responsive) {
            return Ok(reader);
        }
        // Another caller tried during the wait.
        if let Some((_, errors)) = failed.as_ref().filter(|(at, _)| *at >= called) {
            return Err(PgError::Unreachable(errors.clone()));
        }
        // No more than two connections for each slot, for example while a table is locked.
        if Arc::strong_count(&self.counted) > 2 * self.slots.len()
            && let Some(reader) =
                self.find(self.next.fetch_add(1, Ordering::Relaxed), from, Session::is_usable)
        {
            return Ok(reader);
        }
        self.open(&mut failed).await
    }

    /// Opens a connection in the place of an unusable one, else of one that does not respond. Queries on the
    /// replaced connection continue.
    async fn open(&self, failed: &mut LastFailure) -> Result<Arc<Reader>, PgError> {
        let session = Session::connect(&self.address, Purpose::Reading, &self.options).await;
        *failed = match &session {
            Err(PgError::Unreachable(errors)) => Some((Instant::now(), errors.clone())),
            _ => None,
        };
        let reader = Arc::new(prepare(session?, self.counted.clone(), &self.options).await?);
        // A synchronous standby has the sequence of every animal that was visible on the primary.
        if !reader.is_on_standby() {
            self.settled.forget();
        }
        let slots = 0..self.slots.len();
        let place = slots.clone().find(|slot| !self.is_usable(*slot)).or_else(|| {
            slots.into_iter().find(|slot| {
                let slot = self.slots[*slot].read().unwrap_or_else(PoisonError::into_inner);
                slot.as_ref().is_some_and(|reader| !reader.session.is_responsive())
            })
        });
        if let Some(place) = place {
            *self.slots[place].write().unwrap_or_else(PoisonError::into_inner) = Some(reader.clone());
        }
        Ok(reader)
    }
}

async fn prepare(session: NewSession, counted: Arc<()>, options: &StoreOptions) -> Result<Reader, PgError> {
    let client = session.client();
    let prepared = try_join(animals::Queries::prepare(client), keys::Queries::prepare(client));
    let (animals, keys) = session.set_up(options, prepared).await?;
    let session = ScopeGuard::into_inner(session);
    Ok(Reader { session, animals, keys, _counted: counted })
}

/// Tests idle connections until the store is closed.
async fn test(readers: Weak<Readers>) {
    loop {
        sleep(TEST_INTERVAL).await;
        let Some(readers) = readers.upgrade() else { return };
        let idle: Vec<_> = (0..readers.slots.len())
            .filter_map(|slot| {
                readers.slots[slot].read().unwrap_or_else(PoisonError::into_inner).as_ref().cloned()
            })
            .collect();
        drop(readers);
        join_all(idle.iter().map(|reader| reader.session.test())).await;
    }
}
