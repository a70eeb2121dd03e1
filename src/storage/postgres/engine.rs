//! The engine PostgreSQL: its reads, and the tasks that write.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::address::Address;
use super::error::PgError;
use super::import::CopyTransaction;
use super::reader::{Reader, Readers};
use super::{animals, idempotency, keys, monitor, opening, pages, writer};
use crate::schemas::Pet;
use crate::storage::batching::{BatchingStore, Engine, closed};
use crate::storage::copy::CopiedKey;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, PostgresOptions, StoreOptions};
use crate::storage::queue;
use crate::storage::store::{KeyRecord, PetsFound, PetsQuery, StoreError};

pub(in crate::storage) struct Postgres {
    /// `None` once closed.
    readers: RwLock<Option<Arc<Readers>>>,
    hosts: usize,
    options: StoreOptions,
}

/// Checks a URL without connecting.
///
/// # Errors
/// One line that does not repeat the URL.
pub fn check_url(url: &str) -> Result<(), OpenError> {
    parse(url, PostgresOptions::default().connect_timeout).map(drop)
}

fn parse(url: &str, connect_timeout: Duration) -> Result<Address, OpenError> {
    Address::parse(url, connect_timeout)
        .map_err(|why| OpenError(format!("the PostgreSQL URL cannot be used: {why}")))
}

/// Opens the store in the database at `url`: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with more
/// hosts and parameters as in the PostgreSQL documentation. Creates the tables if there are none. Must be
/// called within a tokio runtime, which then runs the tasks of the store.
///
/// # Errors
/// One line that names the database and says what to do. The database is then unchanged.
pub(in crate::storage) async fn open(
    url: &str,
    options: &StoreOptions,
) -> Result<BatchingStore<Postgres>, OpenError> {
    let address = monitor::follow(parse(url, options.postgres.connect_timeout)?, options);
    let secret = opening::open(&address, options).await?;
    let hosts = address.len();
    let (queue, batches, stopped) = queue::open(options, Some(options.postgres.call_timeout()));
    writer::start(batches, &address, options);
    let readers = Arc::new(Readers::new(address, options));
    pages::keep_settled(&readers);
    let engine = Postgres { readers: RwLock::new(Some(readers)), hosts, options: options.clone() };
    Ok(BatchingStore::new(engine, secret, queue, stopped))
}

impl Postgres {
    fn readers(&self) -> Result<Arc<Readers>, StoreError> {
        self.readers.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(closed)
    }

    async fn read<T, Query, Running>(&self, query: Query) -> Result<T, StoreError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, PgError>>,
    {
        let readers = self.readers()?;
        self.has_read(readers.run(readers.deadline(), query).await)
    }

    /// Reports the result of a read to the metrics and the log.
    fn has_read<T>(&self, result: Result<T, PgError>) -> Result<T, StoreError> {
        result
            .inspect(|_| self.options.metrics.read())
            .map_err(|failure| failure.report(&self.options, Access::Read))
    }
}

impl Engine for Postgres {
    type Import = CopyTransaction;

    const IS_REPLICATED: bool = true;

    fn descriptors(&self) -> usize {
        let PostgresOptions { readers, writers, .. } = self.options.postgres;
        // A write that takes too long is cancelled on a connection of its own. The monitor has one connection to each of
        // several hosts.
        readers + 2 * writers + self.hosts
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { reader.animals.get(reader.client(), id).await }).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.has_read(self.readers()?.page(query).await)
    }

    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { animals::last(reader.client()).await }).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|reader| async move { keys::all(reader.client()).await }).await
    }

    async fn key_by_hash(&self, hash: [u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.read(|reader| async move { reader.keys.by_hash(reader.client(), &hash).await }).await
    }

    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError> {
        self.read(|reader| async move { idempotency::after(reader.client(), after, limit).await }).await
    }

    async fn begin_import(&self, _: &[u8; 32]) -> Result<Option<CopyTransaction>, StoreError> {
        let began = CopyTransaction::begin(&self.readers()?.address, &self.options).await;
        began.map_err(|failure| failure.store_error())
    }

    /// A read in progress keeps its connection until it ends.
    async fn close(&self) {
        drop(self.readers.write().unwrap_or_else(PoisonError::into_inner).take());
    }
}
