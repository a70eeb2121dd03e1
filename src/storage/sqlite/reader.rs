//! Reads, on the thread that asks, with a connection of that thread's own.
//!
//! To begin a transaction costs more than to get an animal, so that a thread keeps the one it has while
//! nobody has committed since (`wal_index.rs`), and reads what it would read in a new one. It is ended
//!
//! - by the next read, if somebody has committed;
//! - by a task that is left behind when it begins, and comes when the thread has done what it has to do;
//! - by the writer, before and after it moves the log into the database: a log can only begin anew when nobody
//!   reads in it ([`Readers::let_go`]).
//!
//! Rejected, because they were slower: threads that do nothing but read (9 of 10 gets and 7 of 10 lists
//! are left), and `spawn_blocking` with a pool (half of each).

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

/// A read meets a lock only while another process recovers or removes the log. It blocks a thread that
/// serves others, so it does not wait as long as a write may.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// The connections that read, one for each thread that ever did.
pub(super) struct Readers {
    path: PathBuf,
    wait: Duration,
    /// How many threads the machine can run at once.
    usual: NonZeroUsize,
    /// Opened early, for threads that have none yet: when a thread first reads, there may be no file
    /// descriptor left to open one with.
    spare: Mutex<Vec<Reader>>,
    threads: ThreadLocal<Arc<Slot>>,
}

/// A thread's connection; others only ever end its transaction.
#[derive(Default)]
struct Slot {
    reader: Mutex<Option<Reader>>,
    /// Somebody came to end the transaction while the thread was reading.
    should_end: AtomicBool,
}

struct Reader {
    connection: Connection,
    /// What the log held before the transaction began, if there is one.
    begun_at: Option<Header>,
}

impl Readers {
    /// With a connection for each thread that the machine can run at once. What cannot be opened now is
    /// opened when it is needed.
    pub(super) fn new(path: PathBuf, lock_timeout: Duration) -> Self {
        let wait = lock_timeout.min(LONGEST_WAIT);
        let usual = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let spare = (0..usual.get()).map_while(|_| Reader::open(&path, wait, usual).ok()).collect();
        Self { path, wait, usual, spare: Mutex::new(spare), threads: ThreadLocal::new() }
    }

    /// Runs `query` on this thread's connection, opened if need be.
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
                empty.insert(spare.map_or_else(|| Reader::open(&self.path, self.wait, self.usual), Ok)?)
            }
        };
        let had_one = reader.begun_at.is_some();
        let answer = reader.run(query);
        let begun = reader.begun_at.is_some() && !had_one;
        drop(held);
        if begun {
            slot.end_soon();
        } else if slot.should_end.load(Ordering::SeqCst) {
            slot.try_end();
        }
        answer
    }

    /// Ends the transactions that are open. What is read from now on is what is committed now or later.
    pub(super) fn let_go(&self) {
        self.threads.iter().for_each(|slot| slot.end());
    }

    /// Closes all connections. Nobody may read any more.
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

    /// Ends the transaction, or lets the thread do it that is reading in it: it may wait for a disk.
    fn end_without_waiting(&self) {
        // Before the attempt. If that comes too early, the thread looks after it has let go.
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

    /// Ends the transaction when what is ready to run has run.
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
    // If it cannot be ended now, then it is by the next read, or that one fails.
    let _ = reader.as_mut().map_or(Ok(()), Reader::end);
}

impl Reader {
    /// A connection that has all of its files open; SQLite opens the log when it reads for the first time.
    fn open(path: &Path, wait: Duration, usual: NonZeroUsize) -> rusqlite::Result<Self> {
        let connection = connection::reading(path, wait, usual)?;
        connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
        Ok(Self { connection, begun_at: None })
    }

    fn run<T>(&mut self, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
        // Looked at before a transaction begins, so that what is committed meanwhile ends it too early, if at all.
        let now = wal_index::header(&self.connection);
        if self.begun_at.is_none() || self.begun_at != now {
            self.end()?;
            if now.is_some() {
                self.connection.prepare_cached("BEGIN")?.execute([])?;
                self.begun_at = now;
            }
        }
        let answer = query(&self.connection);
        if answer.is_err() {
            self.end()?;
        }
        answer
    }

    fn end(&mut self) -> rusqlite::Result<()> {
        self.begun_at = None;
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

    fn place() -> (tempfile::TempDir, Connection, Readers) {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("some.db");
        let theirs = Connection::open(&path).unwrap();
        theirs.pragma_update(None, "journal_mode", "WAL").unwrap();
        theirs.busy_timeout(Duration::ZERO).unwrap();
        theirs.execute_batch("CREATE TABLE some (thing)").unwrap();
        let readers = Readers::new(path, Duration::ZERO);
        (place, theirs, readers)
    }

    fn count(readers: &Readers) -> i64 {
        readers.run(|connection| connection.query_row(COUNT, [], |row| row.get(0))).unwrap()
    }

    fn add(theirs: &Connection) {
        theirs.execute("INSERT INTO some VALUES (1)", []).unwrap();
    }

    fn keeps(readers: &Readers) -> bool {
        readers.threads.iter().any(|slot| slot.lock().as_ref().unwrap().begun_at.is_some())
    }

    /// Whether the log can begin anew: nobody reads in it.
    fn can_begin_anew(theirs: &Connection) -> bool {
        theirs.query_row("PRAGMA wal_checkpoint(RESTART)", [], |row| row.get::<_, i64>(0)).unwrap() == 0
    }

    #[tokio::test]
    async fn a_transaction_is_kept_for_those_who_are_ready_to_read_and_no_longer() {
        let (_place, theirs, readers) = place();
        for expected in 1..=3 {
            add(&theirs);
            assert_eq!([count(&readers), count(&readers)], [expected, expected]);
            assert!(keeps(&readers));
            assert!(!can_begin_anew(&theirs));
            // The task that ends it does so as well, once.
            yield_now().await;
            yield_now().await;
            assert!(!keeps(&readers));
            assert!(can_begin_anew(&theirs));
        }
    }

    #[tokio::test]
    async fn what_others_committed_is_read_within_a_kept_transaction_as_well() {
        let (_place, theirs, readers) = place();
        for expected in 0..100 {
            assert_eq!([count(&readers), count(&readers)], [expected, expected]);
            add(&theirs);
        }
    }

    #[tokio::test]
    async fn an_error_ends_the_transaction_and_not_the_reading() {
        let (_place, theirs, readers) = place();
        assert_eq!(count(&readers), 0);
        readers
            .run(|connection| connection.query_row("SELECT nothing FROM some", [], |_| Ok(())))
            .unwrap_err();
        assert!(!keeps(&readers));
        add(&theirs);
        assert_eq!(count(&readers), 1);
    }

    #[tokio::test]
    async fn who_reads_is_not_waited_for_and_ends_it_afterwards() {
        let (_place, theirs, readers) = place();
        add(&theirs);
        assert_eq!(count(&readers), 1);
        let slot = readers.threads.get().unwrap();
        let read = readers.run(|connection| {
            slot.end_without_waiting();
            assert!(!connection.is_autocommit(), "it is in use");
            connection.query_row(COUNT, [], |row| row.get::<_, i64>(0))
        });
        assert_eq!(read.unwrap(), 1);
        assert!(!keeps(&readers));
        assert!(can_begin_anew(&theirs));
    }

    #[test]
    fn without_a_runtime_nothing_is_kept() {
        let (_place, theirs, readers) = place();
        assert_eq!(count(&readers), 0);
        add(&theirs);
        assert!(can_begin_anew(&theirs));
        assert_eq!(count(&readers), 1);
    }

    #[tokio::test]
    async fn all_of_them_let_go() {
        let (_place, theirs, readers) = place();
        add(&theirs);
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
        assert!(!can_begin_anew(&theirs));
        readers.let_go();
        assert!(can_begin_anew(&theirs));
        readers.close();
    }
}
