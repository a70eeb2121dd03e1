//! The engine PostgreSQL: its connections for reading.

use std::sync::{Arc, PoisonError, RwLock};

use super::connector::Connector;
use super::error::PgError;
use super::reader::{Reader, Readers};
use crate::storage::error::StoreError;
use crate::storage::metrics::Access;
use crate::storage::queue::closed;

/// The reads of animals are in `animals.rs`, those of API keys in `keys.rs`.
pub(in crate::storage) struct Postgres {
    /// `None` once closed.
    readers: RwLock<Option<Arc<Readers>>>,
    connector: Arc<Connector>,
}

impl Postgres {
    /// Must be called within a tokio runtime, which then opens the connections.
    pub(super) fn new(connector: Arc<Connector>) -> Self {
        Self { readers: RwLock::new(Some(Arc::new(Readers::new(connector.clone())))), connector }
    }

    fn readers(&self) -> Result<Arc<Readers>, StoreError> {
        self.readers.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(closed)
    }

    /// Runs a query.
    pub(super) async fn read<T, Query, Running>(&self, query: Query) -> Result<T, StoreError>
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

    /// Closes the connections for reading. A read in progress keeps its connection until it ends.
    pub(in crate::storage) async fn close(&self) {
        drop(self.readers.write().unwrap_or_else(PoisonError::into_inner).take());
    }
}
