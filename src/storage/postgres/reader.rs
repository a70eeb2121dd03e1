//! Reads: a few connections that all callers share.
//!
//! A caller does not own a connection while it waits. Callers send their queries on the same connection one
//! after the other (pipelining), so that one system call sends or receives several.
//!
//! A query takes the connection with the fewest queries, so it waits for a slow one only if all connections have one. A
//! task opens connections when a query finds none that is idle; a caller waits for it only if there is none at all. Reads
//! are idempotent: a query whose connection is lost is sent again on another one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use super::connector::Connector;
use super::error::PgError;
use super::session::Session;

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

/// The connections for reading. They are closed when this is dropped and the queries on them have ended.
pub(super) struct Readers {
    shared: Arc<Shared>,
    _opening: JoinSet<()>,
}

struct Shared {
    connector: Arc<Connector>,
    slots: Vec<RwLock<Option<Arc<Reader>>>>,
    /// Notified when a query found no idle connection.
    wanted: Notify,
    /// Changed by each attempt to connect: its failure, or `None` for success.
    attempts: watch::Sender<Option<PgError>>,
}

impl Readers {
    /// Must be called within a tokio runtime.
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        let slots = (0..connector.options.postgres.readers.max(1)).map(|_| RwLock::default()).collect();
        let shared =
            Arc::new(Shared { connector, slots, wanted: Notify::new(), attempts: watch::Sender::new(None) });
        let mut opening = JoinSet::new();
        opening.spawn(open_connections(shared.clone()));
        Self { shared, _opening: opening }
    }

    /// Runs `query` on one of the connections.
    pub(super) async fn run<T, Query, Running>(&self, query: Query) -> Result<T, PgError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        let deadline = Instant::now() + self.shared.connector.options.postgres.call_timeout();
        // All connections may be lost, which each query notices separately.
        let mut attempts = self.shared.slots.len() + 1;
        loop {
            let reader = self.shared.reader(deadline).await?;
            attempts -= 1;
            match reader.session.until(deadline, query(reader.clone())).await {
                Err(failure)
                    if failure.is_connection_failure() && attempts > 0 && Instant::now() < deadline => {}
                result => return result,
            }
        }
    }
}

impl Shared {
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
async fn open_connections(shared: Arc<Shared>) {
    loop {
        shared.wanted.notified().await;
        let Some(free) = shared.slots.iter().find(|slot| in_slot(slot).is_none()) else { continue };
        let failure = match Reader::open(&shared.connector).await {
            Ok(reader) => {
                *free.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(reader));
                None
            }
            Err(failure) => Some(failure),
        };
        let has_failed = failure.is_some();
        shared.attempts.send_replace(failure);
        if has_failed {
            sleep(RETRY).await;
        }
    }
}
