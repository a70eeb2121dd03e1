//! A connection for writing, and what is written on it.

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio::try_join;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use super::address::Address;
use super::failure::{Failure, WriteResult};
use super::once::AddOnce;
use super::queue::stopped;
use super::session::{Purpose, Session};
use super::{animals, idempotency, once};
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::{Operation, StoreMetrics};
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// A connection for writing with its prepared statement.
pub(super) struct WriteSession {
    pub(super) session: Session,
    insert: Statement,
    once: idempotency::Statements,
    _counted: Counted,
}

/// Counts a connection.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(connected: &watch::Sender<usize>) -> Self {
        connected.send_modify(|count| *count += 1);
        Self(connected.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl WriteSession {
    /// Connects, and counts the connection in `connected` until it is dropped.
    pub(super) async fn connect(
        address: &Address,
        connected: &watch::Sender<usize>,
        options: &StoreOptions,
    ) -> Result<Self, Failure> {
        let session = Session::connect(address, Purpose::Writing, options).await?;
        let client = session.client();
        let (insert, once) =
            try_join!(animals::prepare_insert(client), idempotency::Statements::prepare(client))?;
        Ok(Self { session, insert, once, _counted: Counted::new(connected) })
    }

    /// Stores animals and sends the result to each caller.
    pub(super) async fn add(
        &self,
        animals: Vec<(NewPet, oneshot::Sender<Result<Pet, StoreError>>)>,
        until: Instant,
        options: &StoreOptions,
    ) {
        let all: Vec<&NewPet> = animals.iter().map(|(new, _)| new).collect();
        let ids: Vec<Result<i64, StoreError>> = match self.insert(&all, until, &options.metrics).await {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(failure) if failure.is_value_error() => self.insert_each(&all, until, options).await,
            Err(failure) => {
                failure.report(options, Operation::Write);
                all.iter().map(|_| Err(failure.store_error())).collect()
            }
        };
        for ((NewPet { name, category_id, status }, caller), id) in animals.into_iter().zip(ids) {
            // The caller may be gone.
            let _ = caller.send(id.map(|id| Pet { id, name, category_id, status }));
        }
    }

    /// Stores animals with idempotency keys and sends the result to each caller.
    pub(super) async fn add_once(&self, animals: Vec<AddOnce>, until: Instant, options: &StoreOptions) {
        once::add(&self.session, &self.once, animals, until, options).await;
    }

    async fn insert(
        &self,
        animals: &[&NewPet],
        until: Instant,
        metrics: &StoreMetrics,
    ) -> Result<Vec<i64>, Failure> {
        let insert = animals::insert(self.session.client(), &self.insert, animals);
        let ids = self.session.write_until(until, insert).await?;
        metrics.committed(animals.len());
        Ok(ids)
    }

    /// Stores animals one by one, after the batch was rejected.
    async fn insert_each(
        &self,
        animals: &[&NewPet],
        until: Instant,
        options: &StoreOptions,
    ) -> Vec<Result<i64, StoreError>> {
        let mut ids = Vec::with_capacity(animals.len());
        for animal in animals {
            let id = match self.insert(&[animal], until, &options.metrics).await {
                Ok(one) => one.first().copied().ok_or_else(stopped),
                Err(failure) => Err(failure.report(options, Operation::Write)),
            };
            ids.push(id);
        }
        ids
    }
}

// Rows that take more than `work_mem` go to a temporary file, which takes its space from the disk of the database. A row
// of a table would not show that the disk is full while it fits into a page that exists.
const CHECK: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean; \
     SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true); \
     SELECT count(*) FROM unnest(array_fill(repeat('x', 1000), ARRAY[1000]))";

/// Checks that the server is not read-only, else the session is closed and another server is looked for, and that its
/// disk has space for 1 MB, more than a batch takes. Nothing is flushed.
pub(super) async fn check_writable(client: &Client) -> WriteResult<()> {
    let results = match client.simple_query(CHECK).await {
        // `temp_file_limit` does not allow the temporary file.
        Err(error) if error.code() == Some(&SqlState::CONFIGURATION_LIMIT_EXCEEDED) => return Ok(Ok(())),
        results => results?,
    };
    let mut rows = results.iter().filter_map(|result| match result {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    match rows.next().and_then(|row| row.get(0)) {
        Some("f") => Ok(Ok(())),
        _ => Err(Failure::ReadOnly),
    }
}
