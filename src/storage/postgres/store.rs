//! The PostgreSQL store: hands reads to the readers and writes to the writer.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio_postgres::Client;
use uuid::Uuid;

use super::address::Address;
use super::failure::{Failure, WriteResult};
use super::queue::WriteQueue;
use super::reader::{Reader, Readers};
use super::write_session::check_writable;
use super::writer;
use super::{animals, idempotency, keys, monitor, opening, pages, transfer};
use crate::schemas::{NewPet, Pet};
use crate::storage::copy::{Chunk, CopiedKey, Transfer};
use crate::storage::expiry::Expiry;
use crate::storage::key_cache::KeyCache;
use crate::storage::key_uses::KeyUses;
use crate::storage::metrics::Operation;
use crate::storage::options::{OpenError, PostgresOptions, StoreOptions};
use crate::storage::store::{
    AddedOnce, Animals, IdempotencyKey, KeyRecord, Keys, PetsFound, PetsQuery, Store, StoreError,
};

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    /// `None` once closed.
    open: RwLock<Option<Open>>,
    stopped: writer::Stopped,
    key_cache: KeyCache,
    key_uses: Arc<KeyUses>,
    expiry: Arc<Expiry>,
    secret: [u8; 32],
    hosts: usize,
    options: StoreOptions,
}

struct Open {
    readers: Arc<Readers>,
    writes: WriteQueue,
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

/// Empties the target of an interrupted copy. Must be called within a tokio runtime.
///
/// # Errors
/// One line, when the database is not such a target. Then it is unchanged.
pub async fn discard_copy(url: &str, options: &StoreOptions) -> Result<(), OpenError> {
    let address = monitor::follow(parse(url, options.postgres.connect_timeout)?, options);
    opening::discard_copy(&address, options).await
}

impl PostgresStore {
    /// Opens the store in the database at `url`: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with more
    /// hosts and parameters as in the PostgreSQL documentation. Creates the tables if there are none. Must be
    /// called within a tokio runtime, which then runs the tasks of the store.
    ///
    /// # Errors
    /// One line that names the database and says what to do. The database is then unchanged.
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let address = parse(url, options.postgres.connect_timeout)?.with_metrics(options.metrics.clone());
        let address = monitor::follow(address, options);
        let secret = opening::open(&address, options).await?;
        let hosts = address.len();
        let (writes, stopped) = writer::start(&address, options);
        let readers = Readers::new(address, options);
        pages::keep_settled(&readers);
        Ok(Self {
            open: RwLock::new(Some(Open { readers, writes })),
            stopped,
            key_cache: KeyCache::default(),
            key_uses: Arc::default(),
            expiry: Arc::default(),
            secret,
            hosts,
            options: options.clone(),
        })
    }

    async fn read<T, Query, Running>(&self, query: Query) -> Result<T, StoreError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, Failure>>,
    {
        let readers = self.with_open(|open| Ok(open.readers.clone()))?;
        self.has_read(readers.run(query).await)
    }

    /// Reports the result of a read to the metrics and the log.
    fn has_read<T>(&self, result: Result<T, Failure>) -> Result<T, StoreError> {
        result
            .inspect(|_| self.options.metrics.read())
            .map_err(|failure| failure.report(&self.options, Operation::Read))
    }

    /// Runs one statement that writes.
    async fn write<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_open(|open| open.writes.enqueue(work))?.wait().await
    }

    /// Starts one statement that writes, for which nobody waits. It may fail.
    fn write_later(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<()>> + Send + 'static,
    ) {
        // An error was logged.
        if let Ok(written) = self.with_open(|open| open.writes.enqueue(work)) {
            // A write without a receiver is skipped.
            tokio::spawn(written.wait());
        }
    }

    async fn change_key(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<bool>> + Send + 'static,
    ) -> Result<bool, StoreError> {
        let result = self.write(work).await;
        // Also after an error: the change may have been made.
        self.key_cache.invalidate();
        result
    }

    fn with_open<T>(&self, work: impl FnOnce(&Open) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        work(open.as_ref().ok_or_else(|| StoreError::Unavailable("it was closed".to_owned()))?)
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn secret(&self) -> [u8; 32] {
        self.secret
    }

    fn is_replicated(&self) -> bool {
        true
    }

    fn descriptors(&self) -> usize {
        let PostgresOptions { readers, writers, .. } = self.options.postgres;
        // A connection that does not respond is replaced before its queries end, and a write that takes too long is
        // cancelled on a connection of its own. The monitor has one connection to each of several hosts.
        2 * readers + 2 * writers + self.hosts
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        self.pets(PetsQuery { status: None, after: None, limit: 1 }).await?;
        match self.with_open(|open| open.writes.enqueue_check(|client| Box::pin(check_writable(client)))) {
            // The queue is full, but tasks write it.
            Err(StoreError::Busy) => Ok(()),
            queued => queued?.wait().await,
        }
    }

    async fn failed(&self) {
        self.stopped.wait().await;
        // After `close`, the tasks end as they should.
        if self.with_open(|_| Ok(())).is_err() {
            std::future::pending().await
        }
    }

    async fn close(&self) {
        // Closes the queue, and so ends the tasks. A read in progress keeps its connection until it ends.
        drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take());
        self.stopped.wait().await;
    }
}

#[async_trait]
impl Animals for PostgresStore {
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        self.with_open(|open| open.writes.enqueue_pet(new))?.wait().await
    }

    async fn add_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<AddedOnce, StoreError> {
        let added = self.with_open(|open| open.writes.enqueue_pet_once(new, key, at))?.wait().await?;
        if let Some(after) = self.expiry.due(at) {
            let expiry = self.expiry.clone();
            self.write_later(move |client| {
                Box::pin(async move {
                    let removed = idempotency::remove_expired(client, after, at).await?;
                    Ok(removed.map(|removed| expiry.removed(removed, at)))
                })
            });
        }
        Ok(added)
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { reader.animals.get(reader.client(), id).await }).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        query.check()?;
        let readers = self.with_open(|open| Ok(open.readers.clone()))?;
        self.has_read(readers.page(query).await)
    }
}

#[async_trait]
impl Keys for PostgresStore {
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.change_key(move |client| Box::pin(async move { keys::insert(client, &key).await }))
            .await
            .map(drop)
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(|reader| async move { reader.keys.all(reader.client()).await }).await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        let hash = *hash;
        self.read(|reader| async move { reader.keys.by_hash(reader.client(), &hash).await }).await
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.key_cache.get_or_query(hash, || self.key_by_hash(hash)).await
    }

    fn note_use(&self, key: &KeyRecord, at: Timestamp) {
        if let Some(uses) = self.key_uses.note(key, at) {
            self.write_later(move |client| {
                Box::pin(async move { keys::note_uses(client, uses.take()).await })
            });
        }
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.change_key(move |client| Box::pin(async move { keys::revoke(client, &id, at).await })).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        let old = old.to_owned();
        self.change_key(move |client| {
            Box::pin(async move { keys::rotate(client, &old, old_expires, &new).await })
        })
        .await
    }
}

#[async_trait]
impl Transfer for PostgresStore {
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { animals::last(reader.client()).await }).await
    }

    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError> {
        self.read(|reader| async move { idempotency::after(reader.client(), after, limit).await }).await
    }

    async fn begin_copy(&self, copy: Uuid) -> Result<bool, StoreError> {
        self.write(move |client| Box::pin(transfer::begin(client, copy))).await
    }

    async fn import(&self, copy: Uuid, chunk: Chunk) -> Result<bool, StoreError> {
        self.write(move |client| Box::pin(transfer::import(client, copy, chunk))).await
    }

    async fn finish_copy(&self, copy: Uuid) -> Result<bool, StoreError> {
        self.write(move |client| Box::pin(transfer::finish(client, copy))).await
    }
}
