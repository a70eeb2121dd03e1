//! The embedded store: one SQLite file and nothing to run beside it.
//!
//! # Data model
//!
//! Numbered SQL files make the tables and are applied by themselves (`migrations.rs`):
//!
//! - `animal`: identifier, name, category and status. The identifier is `AUTOINCREMENT`, so that none is
//!   given twice. An index on (status, id) holds the animals that have a status.
//! - `api_key`: public identifier, name, SHA-256, and the seconds when it was made, expires, was revoked.
//! - `secret`: 32 random bytes, made with the store.
//!
//! The file is in write-ahead logging mode with `synchronous=FULL`: a transaction is on disk when COMMIT
//! returns, and readers neither wait for a writer nor hold one up.
//!
//! # Interface
//!
//! [`SqliteStore`] keeps the promises of [`Store`]:
//!
//! - A write goes through a bounded queue to the one thread that writes. It takes what is waiting into one
//!   transaction and answers after COMMIT (`writer.rs`), so that 64 callers share one fsync. A mutex or a
//!   pool of connections pays for one each, and with a pool they also race for the file's lock.
//! - A read runs on the caller's own thread with that thread's own connection, in one transaction with the reads
//!   before it while nobody commits (`reader.rs`). Every query is bounded by an index and a limit, so handing it
//!   to another thread would cost more than running it.
//! - A key that was found is taken for known for a second (`../known_keys.rs`): to look it up costs as much as
//!   to get an animal.
//! - Opening looks before it touches: a file that is not ours, newer or damaged stays as it is (`opening.rs`).
//!
//! # Limits
//!
//! - One machine: the log needs memory shared by the processes that use the file, so no network file system.
//! - A read of pages that are not in memory blocks its thread for as long as the disk takes.
//! - Processes that write to one file at once wait for one another, up to the lock timeout.
//! - Each thread that reads holds a connection: two file descriptors, and its part of 64 MiB of cache, or 2 MiB
//!   if there are many.
//! - Damage is looked for at start within a time limit. What lies beyond it is found when it is read.
//! - Removing the file while a process uses it goes unnoticed until the process ends.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use rusqlite::Connection;

use super::copy::Transfer;
use super::known_keys::KnownKeys;
use super::metrics::Operation;
use super::{KeyRecord, OpenError, Store, StoreError, StoreOptions};
use crate::schemas::Pet;
use failure::failure;
use reader::Readers;
use writer::{Attempt, Writer};

mod animals;
mod backup;
mod connection;
mod failure;
mod keys;
mod migrations;
mod opening;
mod reader;
mod wal_index;
mod writer;

pub use backup::backup;

/// A store in one SQLite file.
pub struct SqliteStore {
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

impl SqliteStore {
    /// Opens the store in the file `path`, which is made if there is none or it is empty.
    ///
    /// # Errors
    /// One line that names the file and says what to do, when the file is not a store that this program
    /// can use. The file is then as it was.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Self, OpenError> {
        let opened = opening::open(path, options)?;
        let readers = Arc::new(Readers::new(opened.path.clone(), options.lock_timeout));
        let (writer, ended) = Writer::start(opened.connection, opened.path, readers.clone(), options)
            .map_err(|error| OpenError(format!("cannot start the thread that writes: {error}")))?;
        Ok(Self {
            open: RwLock::new(Some(Open { readers, writer })),
            ended,
            known_keys: KnownKeys::default(),
            secret: opened.secret,
            options: options.clone(),
        })
    }

    fn read<T>(&self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let open = open.as_ref().ok_or_else(closed)?;
        open.readers.run(query).map_err(|error| failure(&self.options, Operation::Read, &error))
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Attempt<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            open.as_ref().ok_or_else(closed)?.writer.submit(work)?
        };
        answer.await.unwrap_or_else(|_| Err(writer::stopped()))
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

    async fn close(&self) {
        // Ends the queue, and with it the writer's thread, which closes all connections.
        drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take());
        self.ended.wait().await;
    }
}

#[async_trait]
impl Transfer for SqliteStore {
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError> {
        self.read(animals::last)
    }

    async fn take_pets(&self, pets: Vec<Pet>) -> Result<(), StoreError> {
        self.write(move |connection| animals::take(connection, &pets)).await
    }

    async fn take_key(&self, key: KeyRecord) -> Result<(), StoreError> {
        self.write(move |connection| keys::take(connection, &key)).await
    }
}
