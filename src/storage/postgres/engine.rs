//! The engine PostgreSQL: reads over a few connections that all callers share.
//!
//! A caller does not own a connection while it waits. Callers send their queries on the same connection one
//! after the other (pipelining), so that one system call sends or receives several.
//!
//! A query takes the connection with the fewest queries, so it waits for a slow one only if all connections have one. A
//! task opens connections when a query finds none that is idle; a caller waits for it only if there is none at all. Reads
//! are idempotent: a query whose connection is lost is sent again on another one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use tokio_util::task::AbortOnDropHandle;

use super::connector::Connector;
use super::error::PgError;
use super::session::Session;
use crate::storage::metrics::Access;
use crate::storage::queue::closed;
use crate::storage::types::StoreError;

/// The time between a failed attempt to connect and the next one.
const RETRY: Duration = Duration::from_millis(100);

/// A connection with the statements that it has prepared.
pub(super) struct Reader {
    session: Session,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

impl Reader {
    async fn open(connector: &Connector) -> Result<Self, PgError> {
        Ok(Self { session: connector.connect().await?, statements: Mutex::default() })
    }

    /// Runs a query, and returns its rows. The first one with this text on the connection also prepares the statement.
    pub(super) async fn query(
        &self,
        text: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, PgError> {
        let client = self.session.client();
        let statements = || self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        let prepared = statements().get(text).cloned();
        let statement = match prepared {
            Some(statement) => statement,
            None => {
                let statement = client.prepare(text).await?;
                statements().insert(text, statement.clone());
                statement
            }
        };
        Ok(client.query(&statement, parameters).await?)
    }
}

/// The reads of animals are in `animals.rs`, those of API keys in `keys.rs`.
pub(in crate::storage) struct Postgres {
    readers: Arc<Readers>,
    opening: AbortOnDropHandle<()>,
    is_closed: AtomicBool,
}

/// The connections for reading.
struct Readers {
    connector: Arc<Connector>,
    slots: Vec<RwLock<Option<Arc<Reader>>>>,
    /// Notified when a query found no idle connection.
    wanted: Notify,
    /// Changed by each attempt to connect: its failure, or `None` for success.
    attempts: watch::Sender<Option<PgError>>,
}

impl Postgres {
    /// Must be called within a tokio runtime, which then opens the connections.
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        let slots = (0..connector.options.postgres.readers).map(|_| RwLock::default()).collect();
        let attempts = watch::Sender::new(None);
        let readers = Arc::new(Readers { connector, slots, wanted: Notify::new(), attempts });
        let opening = AbortOnDropHandle::new(tokio::spawn(open_connections(readers.clone())));
        Self { readers, opening, is_closed: AtomicBool::new(false) }
    }

    /// Runs a query on one of the connections.
    pub(super) async fn read<T, Query, Running>(&self, query: Query) -> Result<T, StoreError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        if self.is_closed.load(Relaxed) {
            return Err(closed());
        }
        let options = &self.readers.connector.options;
        let result = self.readers.run(query).await;
        result.inspect(|_| options.metrics.read()).map_err(|failure| failure.report(options, Access::Read))
    }

    /// Returns the maximum number of connections.
    pub(in crate::storage) fn descriptors(&self) -> usize {
        // A write that takes too long is cancelled on a connection of its own, while another one is opened.
        self.readers.connector.options.postgres.readers + 3
    }

    /// Closes the connections for reading. A read in progress keeps its connection until it ends.
    pub(in crate::storage) async fn close(&self) {
        self.is_closed.store(true, Relaxed);
        self.opening.abort();
        for slot in &self.readers.slots {
            drop(slot.write().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl Readers {
    /// Runs `query` on one of the connections.
    async fn run<T, Query, Running>(&self, query: Query) -> Result<T, PgError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        let deadline = Instant::now() + self.connector.options.postgres.call_timeout();
        // All connections may be lost, which each query notices separately.
        let mut attempts = self.slots.len() + 1;
        loop {
            let reader = self.reader(deadline).await?;
            attempts -= 1;
            match reader.session.until(deadline, query(reader.clone())).await {
                Err(failure)
                    if failure.is_connection_failure() && attempts > 0 && Instant::now() < deadline => {}
                result => return result,
            }
        }
    }

    /// Returns the connection with the fewest queries, or the first one that is opened.
    async fn reader(&self, deadline: Instant) -> Result<Arc<Reader>, PgError> {
        let mut attempts = self.attempts.subscribe();
        loop {
            let found = self.least_used();
            // The slot and this function have a reference each.
            if found.as_ref().is_none_or(|reader| Arc::strong_count(reader) > 2) {
                self.wanted.notify_one();
            }
            if let Some(reader) = found {
                return Ok(reader);
            }
            let attempted = timeout_at(deadline, attempts.changed()).await;
            if attempted.is_err() {
                return Err(PgError::Timeout);
            }
            if let Some(failure) = attempts.borrow_and_update().clone() {
                return Err(failure);
            }
        }
    }

    fn least_used(&self) -> Option<Arc<Reader>> {
        self.slots.iter().filter_map(in_slot).min_by_key(Arc::strong_count)
    }
}

/// Returns the connection in a slot, if it is usable.
fn in_slot(slot: &RwLock<Option<Arc<Reader>>>) -> Option<Arc<Reader>> {
    let reader = slot.read().unwrap_or_else(PoisonError::into_inner);
    reader.as_ref().filter(|reader| reader.session.is_usable()).cloned()
}

/// Opens connections one after the other, each when a query wants one.
async fn open_connections(readers: Arc<Readers>) {
    loop {
        readers.wanted.notified().await;
        let Some(free) = readers.slots.iter().find(|slot| in_slot(slot).is_none()) else { continue };
        let failure = match Reader::open(&readers.connector).await {
            Ok(reader) => {
                *free.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(reader));
                None
            }
            Err(failure) => Some(failure),
        };
        let has_failed = failure.is_some();
        readers.attempts.send_replace(failure);
        if has_failed {
            sleep(RETRY).await;
        }
    }
}
