//! A store that does as it should, until it is told to fail.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use animal_store::schemas::{NewPet, Pet};
use animal_store::storage::{Animals, KeyRecord, Keys, PetsFound, PetsQuery, Store, StoreError};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Semaphore;

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    AddPet,
    Pet,
    Pets,
    KeyByHash,
    /// Every call of [`Animals`], whichever operation makes it.
    Any,
}

/// How it fails.
#[derive(Clone)]
pub enum Fault {
    Busy,
    Unavailable,
    Broken,
    Panic,
    /// Waits at the gate, then goes on as usual.
    Stall(Arc<Gate>),
}

/// Words that the store says when it fails, and no client may read.
pub const INTERNALS: &str = "SQLITE_IOERR in SELECT * FROM animal, /var/lib/animals.db";

/// Where calls wait until they are let through.
pub struct Gate {
    arrived: Semaphore,
    open: Semaphore,
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Arc<Self> {
        Arc::new(Self { arrived: Semaphore::new(0), open: Semaphore::new(0) })
    }

    /// Waits for the next call to arrive.
    pub async fn arrival(&self) {
        self.arrived.acquire().await.expect("never closed").forget();
    }

    /// Lets all through, now and later.
    pub fn open(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    async fn pass(&self) {
        self.arrived.add_permits(1);
        self.open.acquire().await.expect("never closed").forget();
    }
}

/// A store around another one.
pub struct Faulty {
    inner: Arc<dyn Store>,
    faults: Mutex<HashMap<Step, Fault>>,
    asked: Mutex<Vec<PetsQuery>>,
    keys_found: Semaphore,
}

impl Faulty {
    /// A store that does what `inner` does.
    pub fn around(inner: Arc<dyn Store>) -> Self {
        Self { inner, faults: Mutex::default(), asked: Mutex::default(), keys_found: Semaphore::new(0) }
    }

    /// From now on, `step` fails.
    pub fn fail(&self, step: Step, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).insert(step, fault);
    }

    /// From now on, nothing fails.
    pub fn heal(&self) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The pages that were asked for since the last time, in order.
    pub fn asked(&self) -> Vec<PetsQuery> {
        std::mem::take(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the key of a request was looked up, and the service has done what it can do of the request
    /// without waiting. Each request counts once.
    pub async fn key_found(&self) {
        self.keys_found.acquire().await.expect("never closed").forget();
    }

    async fn before(&self, step: Step) -> Result<(), StoreError> {
        let fault = {
            let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            let any = faults.get(&Step::Any).filter(|_| step != Step::KeyByHash);
            faults.get(&step).or(any).cloned()
        };
        match fault {
            None => Ok(()),
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

#[async_trait]
impl Animals for Faulty {
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError> {
        self.before(Step::AddPet).await?;
        self.inner.add_pet(new).await
    }

    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError> {
        self.before(Step::Pet).await?;
        self.inner.pet(id).await
    }

    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(query);
        self.before(Step::Pets).await?;
        self.inner.pets(query).await
    }
}

#[async_trait]
impl Keys for Faulty {
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

    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.before(Step::KeyByHash).await?;
        let key = self.inner.key_for_authentication(hash).await;
        // With one thread, whoever waits for this runs when the request has to wait.
        self.keys_found.add_permits(1);
        key
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
}

#[async_trait]
impl Store for Faulty {
    fn secret(&self) -> [u8; 32] {
        self.inner.secret()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
