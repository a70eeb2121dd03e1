//! Reads on the caller's thread, with one connection for each thread.
//!
//! Starting a transaction costs more than reading an animal. So a thread keeps its transaction until the next
//! commit (`wal_index.rs`): until then, a new one would read the same snapshot. The transaction is ended by
//!
//! - the next read after a commit;
//! - a task that is spawned when it starts, and runs when the thread has no other work;
//! - the writer, before and after a checkpoint: the log can restart only when no transaction uses it
//!   ([`Readers::end_transactions`]).
//!
//! Rejected, because they were slower: dedicated reader threads (90 % of the gets and 70 % of the lists per
//! second), and `spawn_blocking` with a pool (half of each).

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use thread_local::ThreadLocal;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use super::connection;
use super::wal_index::{self, Header};

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
    spare: Mutex<Vec<Reader>>,
    threads: ThreadLocal<Arc<Slot>>,
}

/// The connection of a thread. Other threads only end its transaction.
#[derive(Default)]
struct Slot {
    reader: Mutex<Option<Reader>>,
    /// Another thread wanted to end the transaction during a read.
    should_end: AtomicBool,
}

struct Reader {
    connection: Connection,
    /// The header before the transaction started; `None` without a transaction.
    snapshot: Option<Header>,
}

impl Readers {
    /// Opens a connection for each parallel thread. Those that fail are opened when they are needed.
    pub(super) fn new(path: PathBuf, lock_timeout: Duration) -> Self {
        let lock_timeout = lock_timeout.min(MAX_LOCK_TIMEOUT);
        let parallelism = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let spare = (0..parallelism.get())
            .map_while(|_| Reader::open(&path, lock_timeout, parallelism).ok())
            .collect();
        Self { path, lock_timeout, parallelism, spare: Mutex::new(spare), threads: ThreadLocal::new() }
    }

    /// Runs `query` on the connection of this thread, and opens one if there is none.
    pub(super) fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let slot = self.threads.get_or_default();
        let mut held = slot.lock();
        let reader = match &mut *held {
            Some(reader) => reader,
            empty => {
                let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
                empty.insert(
                    spare
                        .map_or_else(|| Reader::open(&self.path, self.lock_timeout, self.parallelism), Ok)?,
                )
            }
        };
        let was_open = reader.snapshot.is_some();
        let result = reader.run(query);
        let started = reader.snapshot.is_some() && !was_open;
        drop(held);
        if started {
            slot.end_soon();
        } else if slot.should_end.load(Ordering::SeqCst) {
            slot.try_end();
        }
        result
    }

    /// Ends all transactions. Later reads use a snapshot of now or later.
    pub(super) fn end_transactions(&self) {
        self.threads.iter().for_each(|slot| slot.end());
    }

    /// Closes all connections. There must be no read from then on.
    pub(super) fn close(&self) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.threads.iter().for_each(|slot| drop(slot.lock().take()));
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Reader>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        end(&mut self.lock());
    }

    /// Ends the transaction, or leaves it to the thread that is reading, which may be waiting for a disk.
    fn end_without_waiting(&self) {
        // Set before the attempt: a thread that holds the lock checks it after releasing the lock.
        self.should_end.store(true, Ordering::SeqCst);
        self.try_end();
    }

    fn try_end(&self) {
        let mut reader = match self.reader.try_lock() {
            Ok(reader) => reader,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.should_end.store(false, Ordering::SeqCst);
        end(&mut reader);
    }

    /// Ends the transaction after the tasks that are ready to run.
    fn end_soon(self: &Arc<Self>) {
        let slot = self.clone();
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                yield_now().await;
                slot.end_without_waiting();
            })),
            Err(_) => self.end(),
        }
    }
}

fn end(reader: &mut Option<Reader>) {
    // If this fails, the next read tries again, or fails.
    let _ = reader.as_mut().map_or(Ok(()), Reader::end);
}

impl Reader {
    /// Opens a connection with all of its files: SQLite opens the log with the first read.
    fn open(path: &Path, lock_timeout: Duration, parallelism: NonZeroUsize) -> rusqlite::Result<Self> {
        let connection = connection::open_for_reading(path, lock_timeout, parallelism)?;
        connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
        Ok(Self { connection, snapshot: None })
    }

    fn run<T>(&mut self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        // Read before the transaction starts: a commit in between may end the transaction early, never late.
        let now = wal_index::header(&self.connection);
        if self.snapshot.is_none() || self.snapshot != now {
            self.end()?;
            if now.is_some() {
                self.connection.prepare_cached("BEGIN")?.execute([])?;
                self.snapshot = now;
            }
        }
        let result = query(&self.connection);
        if result.is_err() {
            self.end()?;
        }
        result
    }

    fn end(&mut self) -> rusqlite::Result<()> {
        self.snapshot = None;
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.connection.prepare_cached("ROLLBACK")?.execute([]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: &str = "SELECT count(*) FROM some";

    fn open() -> (tempfile::TempDir, Connection, Readers) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "journal_mode", "WAL").unwrap();
        other.busy_timeout(Duration::ZERO).unwrap();
        other.execute_batch("CREATE TABLE some (thing)").unwrap();
        let readers = Readers::new(path, Duration::ZERO);
        (directory, other, readers)
    }

    fn count(readers: &Readers) -> i64 {
        readers.run(|connection| connection.query_row(COUNT, [], |row| row.get(0))).unwrap()
    }

    fn add(other: &Connection) {
        other.execute("INSERT INTO some VALUES (1)", []).unwrap();
    }

    fn has_transaction(readers: &Readers) -> bool {
        readers.threads.iter().any(|slot| slot.lock().as_ref().unwrap().snapshot.is_some())
    }

    /// Whether the log can restart: no transaction uses it.
    fn can_restart_log(other: &Connection) -> bool {
        other.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>(0)).unwrap() == 0
    }

    #[tokio::test]
    async fn a_transaction_is_kept_until_ready_tasks_have_run() {
        let (_directory, other, readers) = open();
        for expected in 1..=3 {
            add(&other);
            assert_eq!([count(&readers), count(&readers)], [expected, expected]);
            assert!(has_transaction(&readers));
            assert!(!can_restart_log(&other));
            // The spawned task ends it.
            yield_now().await;
            yield_now().await;
            assert!(!has_transaction(&readers));
            assert!(can_restart_log(&other));
        }
    }

    #[tokio::test]
    async fn a_commit_of_another_connection_is_read_despite_a_kept_transaction() {
        let (_directory, other, readers) = open();
        for expected in 0..100 {
            assert_eq!([count(&readers), count(&readers)], [expected, expected]);
            add(&other);
        }
    }

    #[tokio::test]
    async fn after_an_error_the_next_read_starts_a_transaction() {
        let (_directory, other, readers) = open();
        assert_eq!(count(&readers), 0);
        readers
            .run(|connection| connection.query_row("SELECT nothing FROM some", [], |_| Ok(())))
            .unwrap_err();
        assert!(!has_transaction(&readers));
        add(&other);
        assert_eq!(count(&readers), 1);
    }

    #[tokio::test]
    async fn a_transaction_in_use_is_ended_after_the_read() {
        let (_directory, other, readers) = open();
        add(&other);
        assert_eq!(count(&readers), 1);
        let slot = readers.threads.get().unwrap();
        let read = readers.run(|connection| {
            slot.end_without_waiting();
            assert!(!connection.is_autocommit(), "it is in use");
            connection.query_row(COUNT, [], |row| row.get::<_, i64>(0))
        });
        assert_eq!(read.unwrap(), 1);
        assert!(!has_transaction(&readers));
        assert!(can_restart_log(&other));
    }

    #[test]
    fn without_a_runtime_no_transaction_is_kept() {
        let (_directory, other, readers) = open();
        assert_eq!(count(&readers), 0);
        add(&other);
        assert!(can_restart_log(&other));
        assert_eq!(count(&readers), 1);
    }

    #[tokio::test]
    async fn the_transactions_of_all_threads_are_ended() {
        let (_directory, other, readers) = open();
        add(&other);
        thread::scope(|scope| {
            for _ in 0..4 {
                let runtime = Handle::current();
                let readers = &readers;
                scope.spawn(move || {
                    let _runtime = runtime.enter();
                    assert_eq!(count(readers), 1);
                });
            }
        });
        assert!(!can_restart_log(&other));
        readers.end_transactions();
        assert!(can_restart_log(&other));
        readers.close();
    }
}
