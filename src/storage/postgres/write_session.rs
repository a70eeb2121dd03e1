//! A connection for writing, and what is written on it.

use tokio::sync::{oneshot, watch};
use tokio::time::Instant;
use tokio_postgres::{Client, Statement};

use super::address::Address;
use super::animals;
use super::failure::{Failure, WriteResult};
use super::queue::stopped;
use super::session::{Purpose, Session};
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::{Operation, StoreMetrics};
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// A connection for writing with its prepared statement.
pub(super) struct WriteSession {
    pub(super) session: Session,
    insert: Statement,
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
        let insert = animals::prepare_insert(session.client()).await?;
        Ok(Self { session, insert, _counted: Counted::new(connected) })
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

/// Fails if the server is read-only, so that the session is closed and another server is looked for.
pub(super) async fn check_writable(client: &Client) -> WriteResult<()> {
    let sql = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";
    match client.query_one(sql, &[]).await?.try_get(0)? {
        true => Err(Failure::ReadOnly),
        false => Ok(Ok(())),
    }
}
