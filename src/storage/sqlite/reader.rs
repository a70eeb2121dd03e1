//! Reads, on the thread that asks, with a connection of that thread's own.
//!
//! Rejected, because they were slower: threads that do nothing but read (9 of 10 gets and 7 of 10 lists
//! are left), and `spawn_blocking` with a pool (half of each).

use std::cell::RefCell;
use std::path::PathBuf;
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
    connections: ThreadLocal<RefCell<Option<Connection>>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, lock_timeout: Duration) -> Self {
        Self { path, wait: lock_timeout.min(LONGEST_WAIT), connections: ThreadLocal::new() }
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
            empty => empty.insert(connection::reading(&self.path, self.wait)?),
        };
        query(connection)
    }
}
