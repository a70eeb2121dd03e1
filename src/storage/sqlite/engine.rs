//! The engine SQLite: its connections for reading.

use std::sync::Arc;
use std::time::Duration;

use futures::future;
use rusqlite::Connection;
use tokio::time::timeout;

use super::error::report;
use super::file::DatabaseFile;
use super::reader::{self, Readers};
use crate::storage::error::StoreError;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, StoreOptions};
use crate::storage::queue::closed;

/// How long closing waits for reads in progress.
const MAX_READ_TO_CLOSE: Duration = Duration::from_millis(500);

/// The reads of animals are in `animals.rs`, those of API keys in `keys.rs`.
pub(in crate::storage) struct Sqlite {
    readers: Readers,
    key_readers: Readers,
    pub(super) file: Arc<DatabaseFile>,
    options: StoreOptions,
}

impl Sqlite {
    /// Opens the connections to a file that this program can use.
    pub(super) fn open(file: Arc<DatabaseFile>, options: &StoreOptions) -> Result<Self, OpenError> {
        let open = |count| {
            Readers::open(&file.path, options.lock_timeout, count)
                .map_err(|error| OpenError(format!("cannot open a connection for reading: {error}")))
        };
        let (readers, key_readers) = (open(reader::for_animals())?, open(reader::FOR_KEYS)?);
        Ok(Self { readers, key_readers, file, options: options.clone() })
    }

    /// Returns the maximum number of file descriptors of the database.
    pub(in crate::storage) fn descriptors(&self) -> usize {
        /// The file, its WAL, and the memory that connections share.
        const PER_CONNECTION: usize = 3;
        const WRITING: usize = 1;
        PER_CONNECTION * (reader::blocking_reads().get() + WRITING)
    }

    /// Checks that the disk has space. Quotas and other limits of a disk fail only a commit.
    pub(in crate::storage) fn check_disk(&self) -> Result<(), StoreError> {
        self.file.check_space().map_err(|error| report(&self.options, Access::Write, &error))
    }

    /// Runs a query for animals.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_with(&self.readers, query).await
    }

    /// Runs a query for API keys, which no read of animals delays.
    pub(super) async fn read_keys<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.read_with(&self.key_readers, query).await
    }

    async fn read_with<T: Send + 'static>(
        &self,
        readers: &Readers,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = readers.run(query).await.ok_or_else(closed)?;
        read.inspect(|_| self.options.metrics.read())
            .map_err(|error| report(&self.options, Access::Read, &error))
    }

    /// Closes the connections for reading.
    pub(in crate::storage) async fn close(&self) {
        let reads = future::join(self.readers.close(), self.key_readers.close());
        // The last connection removes the WAL. After a read that is held, the next start does it.
        let _ = timeout(MAX_READ_TO_CLOSE, reads).await;
    }
}
