//! The engine PostgreSQL: its reads, and the tasks that write.

use std::sync::{Arc, PoisonError, RwLock};

use super::address::Address;
use super::connector::Connector;
use super::error::PgError;
use super::reader::{Reader, Readers};
use super::writer::Writer;
use super::{keys, opening};
use crate::schemas::Pet;
use crate::storage::error::StoreError;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, PostgresOptions, StoreOptions};
use crate::storage::queue::{Batches, closed};
use crate::storage::types::{KeyRecord, PetsFound, PetsQuery};

pub(in crate::storage) struct Postgres {
    /// `None` once closed.
    readers: RwLock<Option<Arc<Readers>>>,
    connector: Arc<Connector>,
}

/// Checks a URL without connecting.
///
/// # Errors
/// One line that does not repeat the URL.
pub fn check_url(url: &str) -> Result<(), OpenError> {
    let parsed = Address::parse(url, PostgresOptions::default().connect_timeout);
    parsed.map(drop).map_err(|why| OpenError(format!("the PostgreSQL URL cannot be used: {why}")))
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
    mut batches: Batches,
) -> Result<(Postgres, [u8; 32]), OpenError> {
    let connector = Arc::new(Connector::new(url, options)?);
    let secret = opening::open(&connector).await?;
    let mut writer = Writer::new(connector.clone());
    tokio::spawn(async move { batches.commit_with(&mut writer).await });
    let readers = RwLock::new(Some(Arc::new(Readers::new(connector.clone()))));
    Ok((Postgres { readers, connector }, secret))
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
        let options = &self.connector.options;
        let result = self.readers()?.run(query).await;
        result.inspect(|_| options.metrics.read()).map_err(|failure| failure.report(options, Access::Read))
    }

    /// Returns the maximum number of connections.
    pub(in crate::storage) fn descriptors(&self) -> usize {
        // A write that takes too long is cancelled on a connection of its own, while another one is opened.
        self.connector.options.postgres.readers + 3
    }

    /// Returns the animal with this identifier.
    pub(in crate::storage) async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { reader.animals.get(reader.client(), id).await }).await
    }

    /// Returns a page of animals.
    pub(in crate::storage) async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.read(|reader| async move { reader.animals.page(reader.client(), query).await }).await
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
