//! The engine PostgreSQL: its reads, and the tasks that write.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::address::Address;
use super::error::PgError;
use super::reader::{Reader, Readers};
use super::{keys, monitor, opening, pages, writer};
use crate::schemas::Pet;
use crate::storage::error::StoreError;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, PostgresOptions, StoreOptions};
use crate::storage::queue::{Batches, closed};
use crate::storage::types::{KeyRecord, PetsFound, PetsQuery};

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

/// Returns the address of a URL, to which connections can be opened.
pub(super) fn connectable(url: &str, options: &StoreOptions) -> Result<Address, OpenError> {
    Ok(monitor::follow(parse(url, options.postgres.connect_timeout)?, options))
}

/// Opens the store in the database at `url`: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with more
/// hosts and parameters as in the PostgreSQL documentation. Creates the tables if there are none. Must be
/// called within a tokio runtime, which then runs the tasks of the store. Returns the engine and the secret of the store.
///
/// # Errors
/// One line that names the database and says what to do. The database is then unchanged.
pub(in crate::storage) async fn open(
    url: &str,
    options: &StoreOptions,
    batches: Batches,
) -> Result<(Postgres, [u8; 32]), OpenError> {
    let address = connectable(url, options)?;
    let secret = opening::open(&address, options).await?;
    let hosts = address.len();
    writer::start(batches, &address, options);
    let readers = Arc::new(Readers::new(address, options));
    pages::keep_settled(&readers);
    Ok((Postgres { readers: RwLock::new(Some(readers)), hosts, options: options.clone() }, secret))
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

    /// Returns the maximum number of connections.
    pub(in crate::storage) fn descriptors(&self) -> usize {
        let PostgresOptions { readers, writers, .. } = self.options.postgres;
        // A write that takes too long is cancelled on a connection of its own. The monitor has one connection to each of
        // several hosts.
        readers + 2 * writers + self.hosts
    }

    /// Returns the animal with this identifier.
    pub(in crate::storage) async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { reader.animals.get(reader.client(), id).await }).await
    }

    /// Returns a page of animals.
    pub(in crate::storage) async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.has_read(self.readers()?.page(query).await)
    }

    /// Returns all keys, oldest first.
    pub(in crate::storage) async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|reader| async move { keys::all(reader.client()).await }).await
    }

    /// Returns the key with this SHA-256.
    pub(in crate::storage) async fn key_by_hash(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<KeyRecord>, StoreError> {
        self.read(|reader| async move { reader.keys.by_hash(reader.client(), &hash).await }).await
    }

    /// Closes the connections for reading. A read in progress keeps its connection until it ends.
    pub(in crate::storage) async fn close(&self) {
        drop(self.readers.write().unwrap_or_else(PoisonError::into_inner).take());
    }
}
