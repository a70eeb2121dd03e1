//! Reads, on the thread that asks, with a connection of that thread's own.
//!
//! Rejected, because they were slower: threads that do nothing but read (9 of 10 gets and 7 of 10 lists
//! are left), and `spawn_blocking` with a pool (half of each).

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use thread_local::ThreadLocal;

use super::connection;

/// A read meets a lock only while another process recovers or removes the log. It blocks a thread that
/// serves others, so it does not wait as long as a write may.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// The connections that read, one for each thread that ever did.
pub(super) struct Readers {
    path: PathBuf,
    wait: Duration,
    /// Opened early, for threads that have none yet: when a thread first reads, there may be no file
    /// descriptor left to open one with.
    spare: Mutex<Vec<Connection>>,
    connections: ThreadLocal<RefCell<Option<Connection>>>,
}

impl Readers {
    /// With a connection for each thread that the machine can run at once. What cannot be opened now is
    /// opened when it is needed.
    pub(super) fn new(path: PathBuf, lock_timeout: Duration) -> Self {
        let wait = lock_timeout.min(LONGEST_WAIT);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let spare = (0..threads).map_while(|_| ready(&path, wait).ok()).collect();
        Self { path, wait, spare: Mutex::new(spare), connections: ThreadLocal::new() }
    }

    /// Runs `query` on this thread's connection, opened if need be.
    pub(super) fn run<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        // Borrowed by this thread alone, and no query calls back into here.
        let mut slot = self.connections.get_or_default().borrow_mut();
        let connection = match &mut *slot {
            Some(connection) => connection,
            empty => {
                let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let opened = spare.map_or_else(|| connection::reading(&self.path, self.wait), Ok);
                empty.insert(opened?)
            }
        };
        query(connection)
    }
}

/// A connection that has all of its files open; SQLite opens the log when it reads for the first time.
fn ready(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    let connection = connection::reading(path, wait)?;
    connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))?;
    Ok(connection)
}
