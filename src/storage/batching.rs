//! The store of every engine: the write queue, the cache of API keys, their uses, and the expiry of idempotency keys.
//!
//! A caller puts its write into a bounded queue. The writers of the engine take everything that waits there and commit it
//! together (group commit), because a commit costs far more than a row.
//!
//! Failure modes of a write, for every engine:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller is gone before it starts: it is skipped. Once started, it is committed with its batch.
//! - The database rejects its values: only this write fails.
//! - The batch fails: all of its writes get the same error. It is unknown whether they were committed.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::copy::{CopiedKey, Import, Transfer};
use super::expiry::Expiry;
use super::key_cache::KeyCache;
use super::key_uses::KeyUses;
use super::queue::{PendingWrite, WriteQueue};
use super::store::{AddedOnce, IdempotencyKey, KeyRecord, PetsFound, PetsQuery, Store, StoreError};
use super::write::{Addition, Caller, Change, Write};
use crate::schemas::{NewPet, Pet};

/// What differs between databases: reads, and the writers that empty the queue, which are started when it is opened.
pub(super) trait Engine: Send + Sync + 'static {
    type Import: Import + 'static;

    /// The value of [`Store::is_replicated`].
    const IS_REPLICATED: bool;

    /// Returns the value of [`Store::descriptors`].
    fn descriptors(&self) -> usize;

    /// Checks what the engine knows without the database.
    fn check_disk(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn pet(&self, id: i64) -> impl Future<Output = Result<Option<Pet>, StoreError>> + Send;

    fn pets(&self, query: PetsQuery) -> impl Future<Output = Result<PetsFound, StoreError>> + Send;

    fn last_pet(&self) -> impl Future<Output = Result<Option<Pet>, StoreError>> + Send;

    fn keys(&self) -> impl Future<Output = Result<Vec<KeyRecord>, StoreError>> + Send;

    fn key_by_hash(
        &self,
        hash: [u8; 32],
    ) -> impl Future<Output = Result<Option<KeyRecord>, StoreError>> + Send;

    fn idempotency_keys(
        &self,
        after: i64,
        limit: u32,
    ) -> impl Future<Output = Result<Vec<CopiedKey>, StoreError>> + Send;

    fn begin_import(
        &self,
        secret: &[u8; 32],
    ) -> impl Future<Output = Result<Option<Self::Import>, StoreError>> + Send;

    /// Closes the connections for reading.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// A store whose writes are committed in batches.
pub(super) struct BatchingStore<E> {
    engine: E,
    secret: [u8; 32],
    /// `None` once closed.
    queue: RwLock<Option<WriteQueue>>,
    /// Cancelled when the writers have ended.
    stopped: CancellationToken,
    key_cache: KeyCache,
    key_uses: KeyUses,
    expiry: Arc<Expiry>,
}

impl<E: Engine> BatchingStore<E> {
    pub(super) fn new(engine: E, secret: [u8; 32], queue: WriteQueue, stopped: CancellationToken) -> Self {
        Self {
            engine,
            secret,
            queue: RwLock::new(Some(queue)),
            stopped,
            key_cache: KeyCache::default(),
            key_uses: KeyUses::default(),
            expiry: Arc::default(),
        }
    }

    fn enqueue<T>(&self, write: impl FnOnce(Caller<T>) -> Write) -> Result<PendingWrite<T>, StoreError> {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().ok_or_else(closed)?.push(write)
    }

    async fn add(&self, addition: Addition) -> Result<AddedOnce, StoreError> {
        self.enqueue(|caller| Write::Add(addition, caller))?.wait().await
    }

    async fn change(&self, change: Change) -> Result<bool, StoreError> {
        self.enqueue(|caller| Write::Change(change, caller))?.wait().await
    }

    /// Starts a change without waiting for it. It may fail.
    fn change_later(&self, change: Change) {
        // An error was logged.
        if let Ok(pending) = self.enqueue(|caller| Write::Change(change, caller)) {
            // A write without a caller is skipped.
            tokio::spawn(pending.wait());
        }
    }

    async fn change_key(&self, change: Change) -> Result<bool, StoreError> {
        let result = self.change(change).await;
        // Also after an error: the change may have been made.
        self.key_cache.invalidate();
        result
    }
}

/// Returns the error of a call after the store was closed.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}

#[async_trait]
impl<E: Engine> Store for BatchingStore<E> {
    fn secret(&self) -> [u8; 32] {
        self.secret
    }

    fn is_replicated(&self) -> bool {
        E::IS_REPLICATED
    }

    fn descriptors(&self) -> usize {
        self.engine.descriptors()
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        self.engine.pets(PetsQuery { status: None, after: None, limit: 1 }).await?;
        self.engine.check_disk()?;
        match self.change(Change::Check).await {
            // The writers work, and have more to do than they can.
            Err(StoreError::Busy) => Ok(()),
            checked => checked.map(drop),
        }
    }

    async fn failed(&self) {
        self.stopped.cancelled().await;
        // After `close`, the writers end as they should.
        if self.queue.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            std::future::pending().await
        }
    }

    async fn close(&self) {
        self.engine.close().await;
        // Closes the queue, and so ends the writers.
        drop(self.queue.write().unwrap_or_else(PoisonError::into_inner).take());
        self.stopped.cancelled().await;
    }

    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        match self.add(Addition { new, key: None }).await? {
            AddedOnce::Now(pet) | AddedOnce::Before(pet) => Ok(pet),
            AddedOnce::Differs | AddedOnce::Removed => {
                Err(StoreError::Broken("an addition without a key was compared with another".to_owned()))
            }
        }
    }

    async fn add_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<AddedOnce, StoreError> {
        let added = self.add(Addition { new, key: Some((key, at)) }).await?;
        if let Some(after) = self.expiry.due(at) {
            self.change_later(Change::RemoveExpired { after, at, expiry: self.expiry.clone() });
        }
        Ok(added)
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.engine.pet(id).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        query.check()?;
        self.engine.pets(query).await
    }

    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.change_key(Change::AddKey(Box::new(key))).await.map(drop)
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.engine.keys().await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.engine.key_by_hash(*hash).await
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        self.key_cache.get_or_query(hash, || self.engine.key_by_hash(*hash)).await
    }

    fn note_use(&self, key: &KeyRecord, at: Timestamp) {
        if let Some(at) = self.key_uses.note(key, at) {
            self.change_later(Change::NoteUse { id: key.id.clone(), at });
        }
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.change_key(Change::RevokeKey { id: id.to_owned(), at }).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        self.change_key(Change::RotateKey { old: old.to_owned(), old_expires, new: Box::new(new) }).await
    }
}

#[async_trait]
impl<E: Engine> Transfer for BatchingStore<E> {
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.engine.last_pet().await
    }

    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError> {
        self.engine.idempotency_keys(after, limit).await
    }

    async fn begin_import(&self) -> Result<Option<Box<dyn Import>>, StoreError> {
        let import = self.engine.begin_import(&self.secret).await?;
        Ok(import.map(|import| -> Box<dyn Import> { Box::new(import) }))
    }
}
