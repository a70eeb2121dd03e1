//! The store: the write queue, the cache of API keys, their uses, and the expiry of idempotency keys, around an engine.
//!
//! What differs between databases is the engine: its SQL, its connections and its transactions. `tests/store` tests both
//! engines against the promises of [`Store`].
//!
//! A caller puts its write into a bounded queue. The writers of the engine take everything that waits there and commit it
//! together (group commit), because a commit costs far more than a row.
//!
//! Failure modes of a write:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller is gone before it starts: it is skipped. Once started, it is committed with its batch.
//! - A statement or the commit fails: all writes of the batch get the same error. What can be expected, such as an
//!   idempotency key that exists, is looked up and fails no statement. After a failed commit it is unknown what was committed.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::idempotency::{Expiry, RequestKey};
use super::key_cache::{KeyCache, KeyUses};
use super::options::{OpenError, StoreOptions};
use super::postgres::{self, Postgres};
use super::queue::{self, PendingWrite, WriteQueue};
use super::sqlite::{self, Sqlite};
use super::types::{AddedOnce, IdempotencyKey, KeyRecord, PetsFound, PetsQuery, StoreError};
use super::url::{self, DatabaseKind};
use super::write::{Addition, Caller, KeyChange, Write};
use crate::schemas::{NewPet, Pet};

/// A durable store of animals and API keys.
///
/// Promises of every method. The SQL of an engine is in its `animals.rs` and `keys.rs`.
///
/// - A write that returned `Ok` is on disk and survives a crash of the process and of the machine.
/// - A write that failed with [`StoreError::Busy`] did not happen.
/// - A method whose future is dropped leaves the store usable; a write may or may not take effect.
/// - Several processes may use one store and see each other's acknowledged writes.
/// - The cost of reading animals or finding a key is bounded by the query, whatever the filter, the depth of
///   the page and the size of the store. Only [`Store::keys`] reads everything.
pub struct Store {
    engine: Engine,
    secret: [u8; 32],
    /// `None` once closed.
    queue: RwLock<Option<WriteQueue>>,
    /// Cancelled when the writers have ended.
    stopped: CancellationToken,
    key_cache: KeyCache,
    key_uses: KeyUses,
    expiry: Expiry,
    interceptor: OnceLock<Interceptor>,
}

/// The database of a store.
enum Engine {
    Sqlite(Box<Sqlite>),
    Postgres(Postgres),
}

/// Calls a method of the engine, whichever it is.
macro_rules! engine {
    ($store:expr, $method:ident($($argument:expr),*)) => {
        match &$store.engine {
            Engine::Sqlite(engine) => engine.$method($($argument),*),
            Engine::Postgres(engine) => engine.$method($($argument),*),
        }
    };
    ($store:expr, $method:ident($($argument:expr),*).await) => {
        match &$store.engine {
            Engine::Sqlite(engine) => engine.$method($($argument),*).await,
            // In a box: otherwise a get on SQLite moves the memory of this future too (xtask/RECORDS.md, "What made requests
            // cheaper", the future of PostgreSQL).
            Engine::Postgres(engine) => Box::pin(engine.$method($($argument),*)).await,
        }
    };
}

/// A step of a call, for [`Store::intercept`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A write of animals is about to enter the queue.
    Write,
    /// Such a write has succeeded.
    Written,
    /// A read of animals other than a page is about to start.
    Read,
    /// A page is about to be read.
    Pets(PetsQuery),
    /// An API key is about to be looked up for authentication.
    FindKey,
    /// An API key was looked up.
    KeyFound,
}

/// A function that waits or fails at a [`Step`].
pub type Interceptor = Box<dyn Fn(Step) -> BoxFuture<'static, Result<(), StoreError>> + Send + Sync>;

/// Opens the store at a database URL: `sqlite:PATH` or `postgres://...`. Must be called within a tokio runtime, which
/// then also runs the background tasks of the store.
///
/// # Errors
/// One line that says what to do.
pub async fn open(url: &str, options: &StoreOptions) -> Result<Arc<Store>, OpenError> {
    let (engine, secret, queue, stopped) = match DatabaseKind::of(url) {
        Some(DatabaseKind::Sqlite(path)) => {
            // The lock timeout limits how long a caller waits.
            let (queue, batches, stopped) = queue::open(options, None);
            let (engine, secret) = sqlite::open(path, options, batches)?;
            (Engine::Sqlite(Box::new(engine)), secret, queue, stopped)
        }
        Some(DatabaseKind::Postgres) => {
            let (queue, batches, stopped) = queue::open(options, Some(options.postgres.call_timeout()));
            let (engine, secret) = postgres::open(url, options, batches).await?;
            (Engine::Postgres(engine), secret, queue, stopped)
        }
        None => return Err(url::unknown_kind()),
    };
    Ok(Arc::new(Store {
        engine,
        secret,
        queue: RwLock::new(Some(queue)),
        stopped,
        key_cache: KeyCache::default(),
        key_uses: KeyUses::default(),
        expiry: Expiry::default(),
        interceptor: OnceLock::new(),
    }))
}

impl Store {
    /// Calls `interceptor` at each [`Step`]; its error is that of the call. For tests of what uses the store. Has no effect
    /// on a store that has one.
    pub fn intercept(&self, interceptor: Interceptor) {
        // Documented above.
        let _ = self.interceptor.set(interceptor);
    }

    async fn step(&self, step: Step) -> Result<(), StoreError> {
        match self.interceptor.get() {
            None => Ok(()),
            Some(interceptor) => interceptor(step).await,
        }
    }

    /// Returns the secret of the store: 32 random bytes, generated once and the same for all processes.
    pub fn secret(&self) -> [u8; 32] {
        self.secret
    }

    /// Returns the maximum number of file descriptors that the store has open at the same time, so that connections of
    /// clients leave them free.
    pub fn descriptors(&self) -> usize {
        engine!(self, descriptors())
    }

    /// Checks that the store can be read and written now, without writing an animal or a key.
    ///
    /// # Errors
    /// The error with which a read or a write would fail.
    pub async fn check_ready(&self) -> Result<(), StoreError> {
        engine!(self, pets(PetsQuery { status: None, after: None, limit: 1 }).await)?;
        engine!(self, key_by_hash([0; 32]).await)?;
        if let Engine::Sqlite(engine) = &self.engine {
            engine.check_disk()?;
        }
        match self.enqueue(Write::Check) {
            // The writers work, and have more to do than they can.
            Err(StoreError::Busy) => Ok(()),
            checking => checking?.wait().await,
        }
    }

    /// Completes when the store can never write again until the process is restarted, such as after a panic of
    /// the thread that writes. Never completes while the store works, nor after [`Store::close`].
    pub async fn failed(&self) {
        self.stopped.cancelled().await;
        // After `close`, the writers end as they should.
        if self.queue.read().unwrap_or_else(PoisonError::into_inner).is_none() {
            std::future::pending().await
        }
    }

    /// Finishes the accepted writes and closes the store. Later calls fail with [`StoreError::Unavailable`].
    pub async fn close(&self) {
        engine!(self, close().await);
        // Closes the queue, and so ends the writers.
        drop(self.queue.write().unwrap_or_else(PoisonError::into_inner).take());
        self.stopped.cancelled().await;
    }

    /// Stores an animal and returns it with an identifier that no other animal has or had.
    ///
    /// On a store with one writer, an animal that is added after another was acknowledged gets the greater
    /// identifier. Name, category and status are returned unchanged.
    pub async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        let addition = Addition { new, key: None };
        match self.write(|caller| Write::AddPet(addition, caller)).await? {
            AddedOnce::Now(pet) | AddedOnce::Before(pet) => Ok(pet),
            AddedOnce::Differs => {
                Err(StoreError::Broken("an addition without a key was compared with another".to_owned()))
            }
        }
    }

    /// Stores an animal like [`Store::add_pet`], and the key with it, unless the client added an animal with this key
    /// before. A key is remembered for [`IdempotencyKey::LIFETIME`] at least, whatever happens to its animal. Of concurrent
    /// calls with the same key, by any processes, one stores its animal and the others wait for it. A rejected animal
    /// leaves no key.
    pub async fn add_pet_once(&self, new: NewPet, key: IdempotencyKey) -> Result<AddedOnce, StoreError> {
        let addition = Addition { key: Some(RequestKey::of_addition(key, &new)), new };
        let added = self.write(|caller| Write::AddPet(addition, caller)).await?;
        if self.expiry.is_due() {
            self.write_later(|caller| Write::RemoveExpired(self.expiry.clone(), caller));
        }
        Ok(added)
    }

    /// Returns the animal with this identifier.
    pub async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.step(Step::Read).await?;
        engine!(self, pet(id).await)
    }

    /// Returns a page of animals. Pages linked by `after` contain each animal that existed at the start
    /// exactly once, also while animals are added, and the last page has no more. No animal is added before the
    /// last one of a page, so a later page after it contains everything that was added since.
    pub async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.step(Step::Pets(query)).await?;
        query.check()?;
        engine!(self, pets(query).await)
    }

    /// Stores a key. Fails with [`StoreError::Broken`] if its `id` or `hash` exists; both are random.
    pub async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.change_key(KeyChange::Add(Box::new(key))).await.map(drop)
    }

    /// Returns all keys, including revoked and expired ones, oldest first.
    pub async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        engine!(self, keys().await)
    }

    /// Returns the key with this SHA-256, whether valid or not.
    pub async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        engine!(self, key_by_hash(*hash).await)
    }

    /// Returns the same as [`Store::key_by_hash`], but may miss changes that another process made in the last
    /// two seconds. It never misses a change made through this store.
    pub async fn key_for_authentication(
        &self,
        hash: &[u8; 32],
    ) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        self.step(Step::FindKey).await?;
        let key = self.key_cache.get_or_query(hash, || self.key_by_hash(hash)).await?;
        self.step(Step::KeyFound).await?;
        Ok(key)
    }

    /// Stores that `key` was used at `at`, to the hour: returns at once, and the write happens later, at most once
    /// for each key, hour and store. It may be lost when the write or the process fails. Must be called within
    /// a tokio runtime.
    pub fn note_use(&self, key: &KeyRecord, at: Timestamp) {
        if let Some(at) = self.key_uses.note(key, at) {
            self.write_later(|caller| Write::Key(KeyChange::NoteUse { id: key.id.clone(), at }, caller));
        }
    }

    /// Revokes a key at `at`. A key that is already revoked keeps its time. Returns `false` when there is no
    /// such key.
    pub async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.change_key(KeyChange::Revoke { id: id.to_owned(), at }).await
    }

    /// Atomically stores `new` and makes the key `old` expire at `old_expires`, unless it expires earlier.
    /// Returns `false` and stores nothing when there is no key `old`, or it is revoked.
    pub async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        self.change_key(KeyChange::Rotate { old: old.to_owned(), old_expires, new: Box::new(new) }).await
    }

    fn enqueue<T>(&self, write: impl FnOnce(Caller<T>) -> Write) -> Result<PendingWrite<T>, StoreError> {
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().ok_or_else(queue::closed)?.push(write)
    }

    /// Puts a write of animals into the queue, and returns its result.
    async fn write<T>(&self, write: impl FnOnce(Caller<T>) -> Write) -> Result<T, StoreError> {
        self.step(Step::Write).await?;
        let result = self.enqueue(write)?.wait().await?;
        self.step(Step::Written).await?;
        Ok(result)
    }

    /// Starts a write without waiting for it. It may fail.
    fn write_later<T: Send + 'static>(&self, write: impl FnOnce(Caller<T>) -> Write) {
        // An error was logged.
        if let Ok(pending) = self.enqueue(write) {
            // A write without a caller is skipped.
            tokio::spawn(pending.wait());
        }
    }

    async fn change_key(&self, change: KeyChange) -> Result<bool, StoreError> {
        let result = self.enqueue(|caller| Write::Key(change, caller))?.wait().await;
        // Also after an error: the change may have been made.
        self.key_cache.invalidate();
        result
    }
}
