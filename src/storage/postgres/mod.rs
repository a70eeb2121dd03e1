//! The shared store: a PostgreSQL database that any number of replicas of the service use at once.
//!
//! # Data model
//!
//! Numbered SQL files make the tables and are applied by themselves (`migrations.rs`):
//!
//! - `animal`: identifier, name, category and status. The identifier is drawn from the sequence
//!   `animal_id`, so that none is given twice. An index on (status, id) holds the animals that have a status.
//! - `api_key`: public identifier, name, SHA-256, and the seconds when it was made, expires, was revoked.
//! - `secret`: 32 random bytes, made with the store.
//! - `animal_store_migration`: which of the files were applied.
//!
//! # Interface
//!
//! [`PostgresStore`] keeps the promises of [`Store`]:
//!
//! - A write goes through a bounded queue to a few tasks, each with its own connection. A task stores all
//!   animals that wait in one statement and answers after the commit (`writer.rs`). What became of a write is
//!   told or said to be unknown; no write is ever sent twice.
//! - A read goes over one of a few connections that all callers share (`reader.rs`).
//! - A key that was found is taken for known for a second (`../known_keys.rs`), since to look it up would cost as
//!   much as to get an animal.
//! - A commit is on the server's disk when it is acknowledged: a server or a user with
//!   `synchronous_commit` off is overruled for our connections (`session.rs`), and a commit that did not
//!   reach the synchronous standby, because somebody cut the wait for it short, is not acknowledged.
//! - Every call ends within [`LONGEST_WAIT`], whatever the server does. A lost server is tried again with
//!   each call, and so service resumes when it is back. Of several hosts in the URL the one that takes
//!   writes is used, and so the store follows a failover (`address.rs`).
//! - A query of a page is written so that the planner has one index to choose from, whatever it knows about
//!   the table (`animals.rs`).
//! - Opening looks before it touches (`opening.rs`).
//!
//! # Limits
//!
//! - After a failover, what was acknowledged is there only if the standby was a synchronous one
//!   (`synchronous_standby_names`). A server with `fsync` off loses what it likes; that is logged at start.
//! - A primary that was replaced but still runs and is still reachable answers reads with what it has.
//! - Up to 12 connections for each process. A proxy between must keep a connection to one server session,
//!   because settings and prepared statements belong to it (of PgBouncer's modes, `session`).
//! - The identifiers of one task's batch and another's may be committed in the other order: a list read
//!   meanwhile may go past an identifier that appears a moment later.
//! - Tested with PostgreSQL 15. The statements keep to what CockroachDB and YugabyteDB document as well, and
//!   nothing depends on the advisory lock, but neither was tried.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;

use super::copy::Transfer;
use super::known_keys::KnownKeys;
use super::metrics::Operation;
use super::{KeyRecord, OpenError, Store, StoreError, StoreOptions};
use crate::schemas::Pet;
use address::Address;
use failure::Failure;
use reader::{Reader, Readers};
use tokio_postgres::Client;
use writer::{Attempt, Writer};

mod address;
mod animals;
mod failure;
mod keys;
mod migrations;
mod opening;
mod reader;
mod session;
mod tls;
mod writer;

/// The longest that a call takes. Well below the time that a request may take, so that its caller is
/// answered and not cut off.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    /// `None` once closed.
    open: RwLock<Option<Open>>,
    ended: writer::Ended,
    known_keys: KnownKeys,
    secret: [u8; 32],
    options: StoreOptions,
}

struct Open {
    readers: Arc<Readers>,
    writer: Writer,
}

impl PostgresStore {
    /// Opens the store in the database at `url`, which is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`
    /// with more hosts and parameters as in the PostgreSQL documentation. The tables are made if there are
    /// none. Must be called within a tokio runtime, which then runs the tasks of the store.
    ///
    /// # Errors
    /// One line that names the database and says what to do. The database is then as it was.
    pub async fn open(url: &str, options: &StoreOptions) -> Result<Self, OpenError> {
        let address = Address::parse(url)
            .map_err(|why| OpenError(format!("the PostgreSQL URL cannot be used: {why}")))?;
        let secret = opening::open(&address, options).await?;
        let (writer, ended) = Writer::start(&address, options);
        let readers = Arc::new(Readers::new(address, options.lock_timeout, options.log.clone()));
        Ok(Self {
            open: RwLock::new(Some(Open { readers, writer })),
            ended,
            known_keys: KnownKeys::default(),
            secret,
            options: options.clone(),
        })
    }

    async fn read<T, Query, Running>(&self, query: Query) -> Result<T, StoreError>
    where
        Query: Fn(Arc<Reader>) -> Running,
        Running: Future<Output = Result<T, Failure>>,
    {
        let readers = self.with_open(|open| Ok(open.readers.clone()))?;
        readers.run(query).await.map_err(|failure| failure.tell(&self.options, Operation::Read))
    }

    /// Does work of one statement that writes.
    async fn write<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, Attempt<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.with_open(|open| open.writer.submit(work))?.wait().await
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

    async fn close(&self) {
        // Ends the queue, and with it the tasks; a read that is under way keeps its connection until it ends.
        drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take());
        self.ended.wait().await;
    }
}

#[async_trait]
impl Transfer for PostgresStore {
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(|reader| async move { animals::last(reader.client()).await }).await
    }

    async fn take_pets(&self, pets: Vec<Pet>) -> Result<(), StoreError> {
        self.write(move |client| Box::pin(async move { animals::take(client, &pets).await })).await
    }

    async fn take_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.change_key(move |client| Box::pin(async move { keys::take(client, &key).await })).await.map(drop)
    }
}
