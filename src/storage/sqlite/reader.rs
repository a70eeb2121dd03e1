//! Reads on the caller's thread, with one connection for each thread.
//!
//! A query is one statement. SQLite runs it in a transaction of its own, which reads the newest commit.
//!
//! Rejected, because they were slower: dedicated reader threads (90 % of the gets and 70 % of the lists per
//! second), and `spawn_blocking` with a pool (half of each).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use thread_local::ThreadLocal;

use super::connection;

/// A read meets a lock only while another process recovers or removes the log. The wait blocks a thread of
/// the runtime, so it is shorter than that of a write.
const MAX_LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The connections for reading: one for each thread that has read.
pub(super) struct Readers {
    path: PathBuf,
    lock_timeout: Duration,
    /// The number of threads that the machine runs in parallel.
    parallelism: NonZeroUsize,
    /// Connections opened in advance: when a thread reads for the first time, there may be no file descriptor
    /// left.
    spare: Mutex<Vec<Connection>>,
    /// Locked during a read.
    threads: ThreadLocal<Mutex<Connection>>,
}

impl Readers {
    /// Opens a connection for each parallel thread. Those that fail are opened when they are needed.
    pub(super) fn new(path: PathBuf, lock_timeout: Duration) -> Self {
        let lock_timeout = lock_timeout.min(MAX_LOCK_TIMEOUT);
        let parallelism = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let spare =
            (0..parallelism.get()).map_while(|_| open(&path, lock_timeout, parallelism).ok()).collect();
        Self { path, lock_timeout, parallelism, spare: Mutex::new(spare), threads: ThreadLocal::new() }
    }

    /// Runs `query` on the connection of this thread, and opens one if there is none.
    pub(super) fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let connection = self.threads.get_or_try(|| {
            let spare = lock(&self.spare).pop();
            spare.map_or_else(|| open(&self.path, self.lock_timeout, self.parallelism), Ok).map(Mutex::new)
        })?;
        query(&lock(connection))
    }

    /// Waits until the reads in progress have ended. Later reads use the snapshot of now or a newer one.
    pub(super) fn wait(&self) {
        self.threads.iter().for_each(|connection| drop(lock(connection)));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a connection with all of its files: SQLite opens the log with the first read.
fn open(path: &Path, lock_timeout: Duration, parallelism: NonZeroUsize) -> rusqlite::Result<Connection> {
    let connection = connection::open_for_reading(path, lock_timeout, parallelism)?;
    connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn open() -> (tempfile::TempDir, Connection, Readers) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "journal_mode", "WAL").unwrap();
        other.execute_batch("CREATE TABLE some (thing)").unwrap();
        let readers = Readers::new(path, Duration::ZERO);
        (directory, other, readers)
    }

    fn count(readers: &Readers) -> i64 {
        let count = "SELECT count(*) FROM some";
        readers.run(|connection| connection.prepare_cached(count)?.query_row([], |row| row.get(0))).unwrap()
    }

    #[test]
    fn each_commit_of_another_connection_is_read_by_all_threads() {
        let (_directory, other, readers) = open();
        for expected in 1..=100 {
            other.execute("INSERT INTO some VALUES (1)", []).unwrap();
            thread::scope(|scope| {
                let reads = [(); 2].map(|()| scope.spawn(|| count(&readers)));
                assert_eq!(reads.map(|read| read.join().unwrap()), [expected; 2]);
            });
            assert_eq!(count(&readers), expected);
        }
    }

    #[test]
    fn after_a_read_or_an_error_the_log_can_restart() {
        let (_directory, other, readers) = open();
        let can_restart = || {
            other.execute("INSERT INTO some VALUES (1)", []).unwrap();
            let restarted = other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>(0));
            restarted.unwrap() == 0
        };
        assert_eq!(count(&readers), 0);
        assert!(can_restart());
        // Stops before the last row, as a page with more animals does.
        let is_some = readers.run(|connection| connection.prepare_cached("VALUES (1), (2)")?.exists([]));
        assert!(is_some.unwrap());
        assert!(can_restart());
        readers.run(|connection| connection.execute("INSERT INTO some VALUES (1)", [])).unwrap_err();
        assert!(can_restart());
        assert_eq!(count(&readers), 3);
    }

    #[test]
    fn waiting_ends_after_the_reads_in_progress() {
        let (_directory, _other, readers) = open();
        let (step, has_ended) = (Barrier::new(2), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let read = readers.run(|_| {
                    step.wait();
                    step.wait();
                    has_ended.store(true, Ordering::Relaxed);
                    Ok(())
                });
                read.unwrap();
            });
            step.wait();
            assert!(!has_ended.load(Ordering::Relaxed));
            step.wait();
            readers.wait();
            assert!(has_ended.load(Ordering::Relaxed));
        });
    }

    #[test]
    fn a_thread_takes_a_connection_that_was_opened_in_advance() {
        let (directory, _other, readers) = open();
        // Opening would fail from now on.
        directory.close().unwrap();
        let schema = "SELECT count(*) FROM sqlite_schema";
        let first: i64 =
            readers.run(|connection| connection.query_row(schema, [], |row| row.get(0))).unwrap();
        assert_eq!(first, 1);
    }
}
