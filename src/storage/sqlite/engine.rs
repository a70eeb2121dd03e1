//! The engine SQLite: reads on the threads of the runtime, over a few connections.
//!
//! A query is one statement. SQLite runs it in a transaction of its own, which reads the newest commit.
//!
//! A disk can hold a read back for seconds. Everything else goes on meanwhile:
//!
//! - A read is a task of its own, so that the request that waits for it gets its 503 in time.
//! - It waits for its connection without a thread, and the runtime has more threads than there are connections
//!   ([`blocking_reads`]).
//!
//! Other ways take more CPU time (see "Reads on a slow disk" in xtask/RECORDS.md).

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use futures::future;
use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinError;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::connection;
use super::error::report;
use super::file::DatabaseFile;
use crate::storage::metrics::Access;
use crate::storage::options::{OpenError, StoreOptions};
use crate::storage::queue::closed;
use crate::storage::types::StoreError;

/// A read meets a lock only while another process recovers or removes the WAL. The wait blocks a thread of
/// the runtime, so it is shorter than that of a write.
const MAX_LOCK_TIMEOUT: Duration = Duration::from_millis(200);
/// How long closing waits for reads in progress.
const MAX_READ_TO_CLOSE: Duration = Duration::from_millis(500);
/// The number of connections for reading API keys, which no read of animals delays.
const FOR_KEYS: usize = 1;

/// The number of connections for reading animals, also where one processor would need only one.
fn for_animals() -> usize {
    const MIN: usize = 3;
    thread::available_parallelism().map_or(MIN, |parallelism| parallelism.get().max(MIN))
}

/// Returns how many reads of one database can each block a thread of the runtime, as long as the disk takes.
pub fn blocking_reads() -> usize {
    for_animals() + FOR_KEYS
}

/// The reads of animals are in `animals.rs`, those of API keys in `keys.rs`.
pub(in crate::storage) struct Sqlite {
    pub(super) animals: Readers,
    pub(super) keys: Readers,
    pub(super) file: Arc<DatabaseFile>,
    options: StoreOptions,
}

impl Sqlite {
    /// Opens the connections to a file that this program can use.
    pub(super) fn open(file: Arc<DatabaseFile>, options: &StoreOptions) -> Result<Self, OpenError> {
        let open = |count| {
            Readers::open(&file.path, options.lock_timeout, count).map_err(|error| {
                OpenError::Unsuitable(format!("cannot open a connection for reading: {error}"))
            })
        };
        let (animals, keys) = (open(for_animals())?, open(FOR_KEYS)?);
        Ok(Self { animals, keys, file, options: options.clone() })
    }

    /// Returns the maximum number of file descriptors of the database.
    pub(in crate::storage) fn descriptors(&self) -> usize {
        // The file, its WAL, and the memory that connections share; one connection is for writing.
        3 * (blocking_reads() + 1)
    }

    /// Checks that the disk has space. Quotas and other limits of a disk fail only a commit.
    pub(in crate::storage) fn check_disk(&self) -> Result<(), StoreError> {
        self.file.check_space().map_err(|error| report(&self.options, Access::Write, &error))
    }

    /// Runs a query on one of these connections.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        readers: &Readers,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let read = readers.run(query).await.ok_or_else(closed)?;
        read.inspect(|_| self.options.metrics.read())
            .map_err(|error| report(&self.options, Access::Read, &error))
    }

    /// Closes the connections for reading.
    pub(in crate::storage) async fn close(&self) {
        let reads = future::join(self.animals.close(), self.keys.close());
        // The last connection removes the WAL. After a read that is held, the next start does it.
        let _ = timeout(MAX_READ_TO_CLOSE, reads).await;
    }
}

/// Connections for reading.
pub(super) struct Readers {
    /// Those that no read uses. All are opened in advance: later there may be no file descriptor left.
    idle: Arc<Mutex<Vec<Connection>>>,
    /// A permit for each of them.
    free: Arc<Semaphore>,
    count: usize,
    /// Runs the reads, also those of another runtime.
    runtime: Handle,
}

impl Readers {
    /// Opens `count` connections to the file at `path`. Must be called within the runtime that runs the reads.
    pub(super) fn open(path: &Path, lock_timeout: Duration, count: usize) -> rusqlite::Result<Self> {
        let open = |_| {
            let lock_timeout = lock_timeout.min(MAX_LOCK_TIMEOUT);
            let connection = connection::open_for_reading(path, lock_timeout, blocking_reads())?;
            // SQLite opens the WAL with the first read.
            connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
            Ok(connection)
        };
        let idle = (0..count).map(open).collect::<rusqlite::Result<_>>()?;
        let free = Arc::new(Semaphore::new(count));
        Ok(Self { idle: Arc::new(Mutex::new(idle)), free, count, runtime: Handle::current() })
    }

    /// Runs `query` on a connection that is free, or waits for one. Returns `None` when they are closed.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Option<rusqlite::Result<T>> {
        let (free, idle) = (self.free.clone(), self.idle.clone());
        let read = self.runtime.spawn(async move {
            let permit = free.acquire_owned().await.ok()?;
            let connection = lock(&idle).pop()?;
            // Also after a panic.
            let connection = scopeguard::guard(connection, move |connection| {
                lock(&idle).push(connection);
                drop(permit);
            });
            Some(query(&connection))
        });
        // A read whose caller is gone waits no longer.
        match AbortOnDropHandle::new(read).await.map_err(JoinError::try_into_panic) {
            Ok(result) => result,
            Err(Ok(panic)) => resume_unwind(panic),
            Err(Err(_)) => None,
        }
    }

    /// Closes the connections after the reads in progress.
    pub(super) async fn close(&self) {
        let all = u32::try_from(self.count).unwrap_or(u32::MAX);
        if let Ok(permits) = self.free.acquire_many(all).await {
            self.free.close();
            lock(&self.idle).clear();
            drop(permits);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::mpsc;

    use futures::FutureExt as _;

    use super::*;

    fn open(count: usize) -> (tempfile::TempDir, Connection, Readers) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "journal_mode", "WAL").unwrap();
        other.execute_batch("CREATE TABLE some (thing)").unwrap();
        let readers = Readers::open(&path, Duration::ZERO, count).unwrap();
        (directory, other, readers)
    }

    async fn count(readers: &Readers) -> i64 {
        let count = "SELECT count(*) FROM some";
        let read = readers.run(move |it| it.prepare_cached(count)?.query_row([], |row| row.get(0)));
        read.await.unwrap().unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn each_commit_of_another_connection_is_read_on_all_connections() {
        let (_directory, other, readers) = open(2);
        for expected in 1..=100 {
            other.execute("INSERT INTO some VALUES (1)", []).unwrap();
            assert_eq!(tokio::join!(count(&readers), count(&readers)), (expected, expected));
        }
    }

    #[tokio::test]
    async fn after_a_read_or_an_error_the_wal_can_restart() {
        let (_directory, other, readers) = open(1);
        let can_restart = || {
            other.execute("INSERT INTO some VALUES (1)", []).unwrap();
            let restarted = other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>(0));
            restarted.unwrap() == 0
        };
        assert_eq!(count(&readers).await, 0);
        assert!(can_restart());
        // Stops before the last row, as a page with more animals does.
        let is_some = readers.run(|connection| connection.prepare_cached("VALUES (1), (2)")?.exists([]));
        assert!(is_some.await.unwrap().unwrap());
        assert!(can_restart());
        let write = readers.run(|connection| connection.execute("INSERT INTO some VALUES (1)", []));
        write.await.unwrap().unwrap_err();
        assert!(can_restart());
        assert_eq!(count(&readers).await, 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn a_read_that_is_held_delays_only_those_without_a_connection_and_the_end() {
        let (_directory, _other, readers) = open(2);
        let readers = Arc::new(readers);
        let hold = |readers: &Arc<Readers>| {
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            let (end, may_end) = mpsc::channel::<()>();
            let readers = readers.clone();
            let read = tokio::spawn(async move {
                let held = readers.run(move |_| {
                    begun.send(()).unwrap();
                    may_end.recv().unwrap();
                    Ok(())
                });
                held.await.unwrap().unwrap();
            });
            (has_begun, end, read)
        };
        let (has_begun, end_first, first) = hold(&readers);
        has_begun.await.unwrap();
        assert_eq!(count(&readers).await, 0);
        let (has_begun, end_second, second) = hold(&readers);
        has_begun.await.unwrap();
        let mut waiting = Box::pin(count(&readers));
        assert!((&mut waiting).now_or_never().is_none());
        end_first.send(()).unwrap();
        first.await.unwrap();
        assert_eq!(waiting.await, 0);
        let mut closing = Box::pin(readers.close());
        assert!((&mut closing).now_or_never().is_none());
        end_second.send(()).unwrap();
        second.await.unwrap();
        closing.await;
        assert!(readers.run(|_| Ok(())).await.is_none());
    }

    #[tokio::test]
    async fn a_read_whose_caller_is_gone_does_not_begin() {
        let (_directory, _other, readers) = open(1);
        let held = readers.free.clone().acquire_owned().await.unwrap();
        let (begun, has_begun) = mpsc::channel();
        let mut read = Box::pin(readers.run(move |_| {
            begun.send(()).unwrap();
            Ok(())
        }));
        assert!((&mut read).now_or_never().is_none());
        tokio::task::yield_now().await;
        drop(read);
        drop(held);
        // It would have come first.
        assert_eq!(count(&readers).await, 0);
        assert!(has_begun.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_the_connection_is_used_again() {
        let (_directory, _other, readers) = open(1);
        let read = readers.run(|_| -> rusqlite::Result<()> { panic!("for the test") });
        assert!(AssertUnwindSafe(read).catch_unwind().await.is_err());
        assert_eq!(count(&readers).await, 0);
    }

    #[tokio::test]
    async fn a_read_takes_a_connection_that_was_opened_in_advance() {
        let (directory, _other, readers) = open(1);
        // Opening would fail from now on.
        directory.close().unwrap();
        let schema = "SELECT count(*) FROM sqlite_schema";
        let first =
            readers.run(move |connection| connection.query_row(schema, [], |row| row.get::<_, i64>(0)));
        assert_eq!(first.await.unwrap().unwrap(), 1);
    }
}
