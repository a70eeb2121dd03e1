//! The store of a service, which fails on request.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use animal_store::storage::{self, PetsQuery, Store, StoreError};
use futures::FutureExt as _;
use tokio::sync::Semaphore;

/// A call of the store that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A write of animals, such as an addition with or without an idempotency key.
    Write,
    /// A read of animals other than a page.
    Read,
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
    /// A write is committed, and then fails as if the store had become unavailable.
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

/// A store that fails where it is told to.
pub struct FailingStore {
    store: Arc<Store>,
    faults: Arc<Faults>,
}

struct Faults {
    faults: Mutex<HashMap<Step, Fault>>,
    page_queries: Mutex<Vec<PetsQuery>>,
    keys_found: Semaphore,
    /// The writes that failed after the commit.
    failed_writes: Semaphore,
}

impl FailingStore {
    /// Makes `store` fail on request.
    pub fn around(store: Arc<Store>) -> Self {
        let faults = Arc::new(Faults {
            faults: Mutex::default(),
            page_queries: Mutex::default(),
            keys_found: Semaphore::new(0),
            failed_writes: Semaphore::new(0),
        });
        let intercepting = faults.clone();
        store.intercept(Box::new(move |step| {
            let faults = intercepting.clone();
            async move { faults.at(step).await }.boxed()
        }));
        Self { store, faults }
    }

    /// Returns the store, for a server.
    pub fn store(&self) -> Arc<Store> {
        self.store.clone()
    }

    /// Makes `step` fail until [`Self::recover`] is called.
    pub fn fail(&self, step: Step, fault: Fault) {
        self.faults.faults.lock().unwrap_or_else(PoisonError::into_inner).insert(step, fault);
    }

    /// Removes all faults.
    pub fn recover(&self) {
        self.faults.faults.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the queries for pages since the last call, in order.
    pub fn page_queries(&self) -> Vec<PetsQuery> {
        std::mem::take(&mut self.faults.page_queries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the key of a request was looked up and the request waits for more input. Returns once for each
    /// request.
    pub async fn key_found(&self) {
        self.faults.keys_found.acquire().await.expect("never closed").forget();
    }

    /// Waits until a write has failed after its commit. Returns once for each.
    pub async fn write_failed(&self) {
        self.faults.failed_writes.acquire().await.expect("never closed").forget();
    }
}

impl Deref for FailingStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Faults {
    fn fault(&self, step: Step) -> Option<Fault> {
        let faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        let any = faults.get(&Step::Any).filter(|_| step != Step::KeyByHash);
        faults.get(&step).or(any).cloned()
    }

    async fn at(&self, step: storage::Step) -> Result<(), StoreError> {
        match step {
            storage::Step::Write => self.before(Step::Write).await,
            storage::Step::Written => self.after_writing(),
            storage::Step::Read => self.before(Step::Read).await,
            storage::Step::Pets(query) => {
                self.page_queries.lock().unwrap_or_else(PoisonError::into_inner).push(query);
                self.before(Step::Pets).await
            }
            storage::Step::FindKey => self.before(Step::KeyByHash).await,
            storage::Step::KeyFound => {
                // On one thread, tasks that wait for this run only when the request waits.
                self.keys_found.add_permits(1);
                Ok(())
            }
        }
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

    fn after_writing(&self) -> Result<(), StoreError> {
        match self.fault(Step::Write) {
            Some(Fault::UnavailableAfterCommit) => {
                self.failed_writes.add_permits(1);
                Err(StoreError::Unavailable(INTERNALS.to_owned()))
            }
            _ => Ok(()),
        }
    }
}
