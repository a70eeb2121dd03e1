//! A store that fails on request, around a real one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use animal_store::schemas::{NewPet, Pet};
use animal_store::storage::{AddedOnce, IdempotencyKey, KeyRecord, PetsFound, PetsQuery, Store, StoreError};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Semaphore;

/// A call of the store that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An addition, with or without an idempotency key.
    AddPet,
    Pet,
    Pets,
    KeyByHash,
    /// Every call for animals, whichever operation makes it.
    Any,
}

/// How a call fails.
#[derive(Clone)]
pub enum Fault {
    Busy,
    Unavailable,
    /// An addition is committed, and then fails as if the store had become unavailable.
    UnavailableAfterCommit,
    Broken,
    Panic,
    /// Waits at the gate, then continues normally.
    Stall(Arc<Gate>),
}

/// The message of injected errors, which no response may contain.
pub const INTERNALS: &str = "SQLITE_IOERR in SELECT * FROM animal, /var/lib/animals.db";

/// Holds calls until it is opened.
pub struct Gate {
    arrived: Semaphore,
    open: Semaphore,
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Arc<Self> {
        Arc::new(Self { arrived: Semaphore::new(0), open: Semaphore::new(0) })
    }

    /// Waits for the next call to reach the gate.
    pub async fn arrival(&self) {
        self.arrived.acquire().await.expect("never closed").forget();
    }

    /// Opens the gate for all calls, waiting and future.
    pub fn open(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    async fn pass(&self) {
        self.arrived.add_permits(1);
        self.open.acquire().await.expect("never closed").forget();
    }
}

/// Delegates to another store, and fails where told to.
pub struct FailingStore {
    inner: Arc<dyn Store>,
    faults: Mutex<HashMap<Step, Fault>>,
    page_queries: Mutex<Vec<PetsQuery>>,
    keys_found: Semaphore,
    /// The additions that failed after the commit.
    failed_additions: Semaphore,
}

impl FailingStore {
    /// Returns a store that delegates to `inner`.
    pub fn around(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            faults: Mutex::default(),
            page_queries: Mutex::default(),
            keys_found: Semaphore::new(0),
            failed_additions: Semaphore::new(0),
        }
    }

    /// Makes `step` fail until [`Self::recover`] is called.
    pub fn fail(&self, step: Step, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).insert(step, fault);
    }

    /// Removes all faults.
    pub fn recover(&self) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the queries for pages since the last call, in order.
    pub fn page_queries(&self) -> Vec<PetsQuery> {
        std::mem::take(&mut self.page_queries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the key of a request was looked up and the request waits for more input. Returns once for each
    /// request.
    pub async fn key_found(&self) {
        self.keys_found.acquire().await.expect("never closed").forget();
    }

    /// Waits until an addition has failed after its commit. Returns once for each.
    pub async fn addition_failed(&self) {
        self.failed_additions.acquire().await.expect("never closed").forget();
    }

    fn fault(&self, step: Step) -> Option<Fault> {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let any = faults.get(&Step::Any).filter(|_| step != Step::KeyByHash);
        faults.get(&step).or(any).cloned()
    }

    async fn before(&self, step: Step) -> Result<(), StoreError> {
        match self.fault(step) {
            None | Some(Fault::UnavailableAfterCommit) => Ok(()),
            Some(Fault::Busy) => Err(StoreError::Busy),
            Some(Fault::Unavailable) => Err(StoreError::Unavailable(INTERNALS.to_owned())),
            Some(Fault::Broken) => Err(StoreError::Broken(INTERNALS.to_owned())),
            Some(Fault::Panic) => panic!("{INTERNALS}"),
            Some(Fault::Stall(gate)) => {
                gate.pass().await;
                Ok(())
            }
        }
    }
}

impl FailingStore {
    fn after_adding<T>(&self, added: Result<T, StoreError>) -> Result<T, StoreError> {
        match self.fault(Step::AddPet) {
            Some(Fault::UnavailableAfterCommit) => {
                self.failed_additions.add_permits(1);
                added.and(Err(StoreError::Unavailable(INTERNALS.to_owned())))
            }
            _ => added,
        }
    }
}

#[async_trait]
impl Store for FailingStore {
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        self.before(Step::AddPet).await?;
        self.after_adding(self.inner.add_pet(new).await)
    }

    async fn add_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<AddedOnce, StoreError> {
        self.before(Step::AddPet).await?;
        self.after_adding(self.inner.add_pet_once(new, key, at).await)
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.before(Step::Pet).await?;
        self.inner.pet(id).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.page_queries.lock().unwrap_or_else(PoisonError::into_inner).push(query);
        self.before(Step::Pets).await?;
        self.inner.pets(query).await
    }

    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.inner.add_key(key).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.inner.keys().await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.before(Step::KeyByHash).await?;
        self.inner.key_by_hash(hash).await
    }

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        self.before(Step::KeyByHash).await?;
        let key = self.inner.key_for_authentication(hash).await;
        // On one thread, tasks that wait for this run only when the request waits.
        self.keys_found.add_permits(1);
        key
    }

    fn note_use(&self, key: &KeyRecord, at: Timestamp) {
        self.inner.note_use(key, at);
    }

    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError> {
        self.inner.revoke_key(id, at).await
    }

    async fn rotate_key(
        &self,
        old: &str,
        old_expires: Timestamp,
        new: KeyRecord,
    ) -> Result<bool, StoreError> {
        self.inner.rotate_key(old, old_expires, new).await
    }

    fn secret(&self) -> [u8; 32] {
        self.inner.secret()
    }

    fn is_replicated(&self) -> bool {
        self.inner.is_replicated()
    }

    fn descriptors(&self) -> usize {
        self.inner.descriptors()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
