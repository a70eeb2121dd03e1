//! The engine SQLite: its reads, and the thread that writes.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures::future;
use rusqlite::Connection;
use tokio::time::timeout;

use super::error::{report, store_error};
use super::file::DatabaseFile;
use super::idempotency::KeyHasher;
use super::import::CopyTransaction;
use super::reader::{self, Readers};
use super::writer::Writer;
use super::{animals, idempotency, keys, opening};
use crate::schemas::Pet;
use crate::storage::batching::{BatchingStore, Engine, closed};
use crate::storage::copy::CopiedKey;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, StoreOptions};
use crate::storage::queue;
use crate::storage::store::{KeyRecord, PetsFound, PetsQuery, StoreError};

/// How long closing waits for reads in progress.
const MAX_READ_TO_CLOSE: Duration = Duration::from_millis(500);

pub(in crate::storage) struct Sqlite {
    readers: Readers,
    key_readers: Readers,
    file: Arc<DatabaseFile>,
    options: StoreOptions,
}

/// Opens the store in the file `path`, and creates it if the file is missing or empty.
///
/// # Errors
/// One line that names the file and says what to do, when this program cannot use the file. The file is
/// then unchanged.
pub(in crate::storage) fn open(
    path: &Path,
    options: &StoreOptions,
) -> Result<BatchingStore<Sqlite>, OpenError> {
    let opened = opening::open(path, options)?;
    let open = |count| {
        Readers::open(&opened.file.path, options.lock_timeout, count)
            .map_err(|error| OpenError(format!("cannot open a connection for reading: {error}")))
    };
    let (readers, key_readers) = (open(reader::for_animals())?, open(reader::FOR_KEYS)?);
    let (file, secret) = (Arc::new(opened.file), opened.secret);
    let key_hasher = KeyHasher::new(&secret);
    let writer = Writer::new(opened.connection, file.clone(), key_hasher, options);
    // The lock timeout limits how long a caller waits.
    let (queue, batches, stopped) = queue::open(options, None);
    thread::Builder::new()
        .name("sqlite-writer".to_owned())
        .spawn(move || writer.run(batches))
        .map_err(|error| OpenError(format!("cannot start the thread that writes: {error}")))?;
    let engine = Sqlite { readers, key_readers, file, options: options.clone() };
    Ok(BatchingStore::new(engine, secret, queue, stopped))
}

impl Sqlite {
    async fn read<T: Send + 'static>(
        &self,
        readers: &Readers,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = readers.run(query).await.ok_or_else(closed)?;
        read.inspect(|_| self.options.metrics.read())
            .map_err(|error| report(&self.options, Access::Read, &error))
    }
}

impl Engine for Sqlite {
    type Import = CopyTransaction;

    const IS_REPLICATED: bool = false;

    fn descriptors(&self) -> usize {
        /// The file, its WAL, and the memory that connections share.
        const PER_CONNECTION: usize = 3;
        const WRITING: usize = 1;
        PER_CONNECTION * (reader::blocking_reads().get() + WRITING)
    }

    /// Quotas and other limits of a disk fail only a commit.
    fn check_disk(&self) -> Result<(), StoreError> {
        self.file.check_space().map_err(|error| report(&self.options, Access::Write, &error))
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(&self.readers, move |connection| animals::get(connection, id)).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.read(&self.readers, move |connection| animals::page(connection, query)).await
    }

    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(&self.readers, animals::last).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(&self.key_readers, keys::all).await
    }

    async fn key_by_hash(&self, hash: [u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        let file = self.file.clone();
        let read = self.read(&self.key_readers, move |connection| {
            // The key may be revoked in a file that replaced this one.
            file.check()?;
            keys::by_hash(connection, &hash)
        });
        read.await
    }

    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError> {
        self.read(&self.readers, move |connection| idempotency::after(connection, after, limit)).await
    }

    async fn begin_import(&self, secret: &[u8; 32]) -> Result<Option<CopyTransaction>, StoreError> {
        CopyTransaction::begin(&self.file.path, secret, self.options.lock_timeout)
            .map_err(|error| store_error(&error))
    }

    async fn close(&self) {
        let reads = future::join(self.readers.close(), self.key_readers.close());
        // The last connection removes the WAL. After a read that is held, the next start does it.
        let _ = timeout(MAX_READ_TO_CLOSE, reads).await;
    }
}
