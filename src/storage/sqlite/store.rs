//! The SQLite store: hands reads to the readers and writes to the writer.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future;
use jiff::Timestamp;
use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::time::timeout;
use uuid::Uuid;

use super::batch::{Batch, WriteResult};
use super::failure::report;
use super::file::DatabaseFile;
use super::idempotency::KeyHasher;
use super::reader::{self, Readers};
use super::writer::{self, Writer};
use super::{animals, idempotency, keys, migrations, opening, transfer};
use crate::schemas::{NewPet, Pet};
use crate::storage::copy::{Chunk, CopiedKey, Transfer};
use crate::storage::expiry::Expiry;
use crate::storage::key_cache::KeyCache;
use crate::storage::key_uses::KeyUses;
use crate::storage::metrics::Operation;
use crate::storage::options::{OpenError, StoreOptions};
use crate::storage::store::{
    AddedOnce, Animals, IdempotencyKey, KeyRecord, Keys, PetsFound, PetsQuery, Store, StoreError,
};

/// How long closing waits for reads in progress.
const MAX_READ_TO_CLOSE: Duration = Duration::from_millis(500);
const ONE: PetsQuery = PetsQuery { status: None, after: None, limit: 1 };

/// A store in one SQLite file.
pub struct SqliteStore {
    readers: Readers,
    key_readers: Readers,
    /// `None` once closed.
    writer: RwLock<Option<Writer>>,
    stopped: writer::Stopped,
    key_cache: KeyCache,
    key_uses: Arc<KeyUses>,
    expiry: Arc<Expiry>,
    secret: [u8; 32],
    key_hasher: KeyHasher,
    file: Arc<DatabaseFile>,
    options: StoreOptions,
}

impl SqliteStore {
    /// Opens the store in the file `path`, and creates it if the file is missing or empty.
    ///
    /// # Errors
    /// One line that names the file and says what to do, when this program cannot use the file. The file is
    /// then unchanged.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        let opened = opening::open(path, options)?;
        let open = |count| {
            Readers::open(&opened.path, options.lock_timeout, count)
                .map_err(|error| OpenError(format!("cannot open a connection for reading: {error}")))
        };
        let (readers, key_readers) = (open(reader::for_animals())?, open(reader::FOR_KEYS)?);
        let file = Arc::new(opened.file);
        let place = (opened.path, file.clone());
        let (writer, stopped) = Writer::start(opened.connection, place, options)
            .map_err(|error| OpenError(format!("cannot start the thread that writes: {error}")))?;
        Ok(Self {
            readers,
            key_readers,
            writer: RwLock::new(Some(writer)),
            stopped,
            key_cache: KeyCache::default(),
            key_uses: Arc::default(),
            expiry: Arc::default(),
            secret: opened.secret,
            key_hasher: KeyHasher::new(&opened.secret),
            file,
            options: options.clone(),
        })
    }

    async fn read<T: Send + 'static>(
        &self,
        readers: &Readers,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = readers.run(query).await.ok_or_else(closed)?;
        read.inspect(|_| self.options.metrics.read())
            .map_err(|error| report(&self.options, Operation::Read, &error))
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> WriteResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let result = self.enqueue(work)?;
        result.await.unwrap_or_else(|_| Err(writer::stopped()))
    }

    fn enqueue<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> WriteResult<T> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, StoreError>>, StoreError> {
        let writer = self.writer.read().unwrap_or_else(PoisonError::into_inner);
        writer.as_ref().ok_or_else(closed)?.enqueue(work)
    }

    /// Starts a write for which nobody waits. It may fail.
    fn write_later(&self, work: impl FnOnce(&Batch<'_>) -> WriteResult<()> + Send + 'static) {
        // An error was logged.
        if let Ok(written) = self.enqueue(work) {
            // A write without a receiver is skipped.
            tokio::spawn(written);
        }
    }

    async fn change_key<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Batch<'_>) -> WriteResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let result = self.write(work).await;
        // Also after an error: the change may have been made.
        self.key_cache.invalidate();
        result
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}

#[async_trait]
impl Store for SqliteStore {
    fn secret(&self) -> [u8; 32] {
        self.secret
    }

    fn is_replicated(&self) -> bool {
        false
    }

    fn descriptors(&self) -> usize {
        /// The file, its log, and the memory that connections share.
        const PER_CONNECTION: usize = 3;
        // Those of the writer and of the thread that checkpoints a long log.
        const WRITING: usize = 2;
        PER_CONNECTION * (reader::blocking_reads().get() + WRITING)
    }

    /// Reads an animal, checks that the disk has space for a batch, and commits a write of one page that changes nothing:
    /// quotas and other limits of a disk fail only a commit.
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.read(&self.readers, |connection| animals::page(connection, ONE)).await?;
        self.file.check_space().map_err(|error| report(&self.options, Operation::Write, &error))?;
        match self.write(|connection| migrations::rewrite_version(connection).map(Ok)).await {
            // The writer works, and has more to do than it can.
            Err(StoreError::Busy) => Ok(()),
            checked => checked,
        }
    }

    async fn failed(&self) {
        self.stopped.wait_for_panic().await;
    }

    async fn close(&self) {
        let reads = future::join(self.readers.close(), self.key_readers.close());
        // The last connection removes the log. After a read that is held, the next start does it.
        let _ = timeout(MAX_READ_TO_CLOSE, reads).await;
        // Closes the queue, and so ends the writer thread.
        drop(self.writer.write().unwrap_or_else(PoisonError::into_inner).take());
        self.stopped.wait().await;
    }
}

#[async_trait]
impl Animals for SqliteStore {
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        self.write(move |batch| animals::insert(batch, new)).await
    }

    async fn add_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<AddedOnce, StoreError> {
        let hash = self.key_hasher.hash(&key.client, &key.value);
        let added = self.write(move |batch| idempotency::insert(batch, new, &key, hash, at)).await?;
        if let Some(after) = self.expiry.due(at) {
            let expiry = self.expiry.clone();
            self.write_later(move |connection| {
                let removed = idempotency::remove_expired(connection, after, at)?;
                Ok(removed.map(|removed| expiry.removed(removed, at)))
            });
        }
        Ok(added)
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(&self.readers, move |connection| animals::get(connection, id)).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        query.check()?;
        self.read(&self.readers, move |connection| animals::page(connection, query)).await
    }
}

#[async_trait]
impl Keys for SqliteStore {
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.write(move |connection| keys::insert(connection, &key)).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(&self.key_readers, keys::all).await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        let (file, hash) = (self.file.clone(), *hash);
        let read = self.read(&self.key_readers, move |connection| {
            // The key may be revoked in a file that replaced this one.
            file.check()?;
            keys::by_hash(connection, &hash)
        });
        read.await
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.key_cache.get_or_query(hash, || self.key_by_hash(hash)).await
    }

    fn note_use(&self, key: &KeyRecord, at: Timestamp) {
        if let Some(uses) = self.key_uses.note(key, at) {
            self.write_later(move |connection| keys::note_uses(connection, &uses.take()));
        }
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.change_key(move |connection| keys::revoke(connection, &id, at)).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        let old = old.to_owned();
        self.change_key(move |connection| keys::rotate(connection, &old, old_expires, &new)).await
    }
}

#[async_trait]
impl Transfer for SqliteStore {
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(&self.readers, animals::last).await
    }

    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError> {
        self.read(&self.readers, move |connection| idempotency::after(connection, after, limit)).await
    }

    // No other process discards the copy while this one has the file open, so the mark needs no identifier.
    async fn begin_copy(&self, _: Uuid) -> Result<bool, StoreError> {
        self.write(|connection| transfer::begin(connection)).await
    }

    async fn import(&self, _: Uuid, chunk: Chunk) -> Result<bool, StoreError> {
        let hasher = self.key_hasher.clone();
        self.write(move |batch| transfer::import(batch, &hasher, &chunk)).await
    }

    async fn finish_copy(&self, _: Uuid) -> Result<bool, StoreError> {
        self.write(|connection| transfer::finish(connection)).await
    }
}
