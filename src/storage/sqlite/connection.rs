//! How connections are set up: one kind that writes, one that reads.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// KiB of cache for the connection that writes, which is at the end of the file most of the time, and the least
/// for one that reads.
const CACHE_KIB: usize = 2048;
/// KiB of cache for all connections that read; the operating system caches the file as well.
const READING_KIB: usize = 64 * 1024;
/// The log is cut back to this size after a checkpoint.
const LOG_BYTES: i64 = 16 * 1024 * 1024;
/// SQLite counts milliseconds in 31 bits.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A connection that may write, to a file that exists.
pub(super) fn writing(path: &Path, wait: Duration) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    // A COMMIT returns when the log is on disk.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    // The writer does it, where no caller waits.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // What a savepoint may have to take back: otherwise 64 KiB are asked of the allocator for each.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// A connection that cannot write, one of `count`.
pub(super) fn reading(path: &Path, wait: Duration, count: NonZeroUsize) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, wait)?;
    set_cache(&connection, (READING_KIB / count).max(CACHE_KIB))?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Sets how long the connection waits for a lock, before it gives up with `SQLITE_BUSY`.
pub(super) fn set_wait(connection: &Connection, wait: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(wait.min(LONGEST_WAIT))
}

fn open(path: &Path, access: OpenFlags, wait: Duration) -> rusqlite::Result<Connection> {
    // No connection is used by two threads at once, so SQLite need not guard against it.
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    set_wait(&connection, wait)?;
    set_cache(&connection, CACHE_KIB)?;
    // Off: where a mapped page cannot be read, the process ends, and mapped pages count as its memory.
    connection.pragma_update(None, "mmap_size", 0)?;
    // Finds a damaged page when it is read instead of trusting what it says.
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn set_cache(connection: &Connection, kib: usize) -> rusqlite::Result<()> {
    // Below zero it is in KiB, otherwise in pages.
    connection.pragma_update(None, "cache_size", -(kib as i64))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    /// Counting every allocation under one lock costs a list a fifth of its speed. The flag that switches it
    /// off is set where cargo builds SQLite, in `.cargo/config.toml`.
    #[test]
    fn sqlite_does_not_count_its_memory() {
        let connection = Connection::open_in_memory().unwrap();
        let option = "SELECT sqlite_compileoption_used('DEFAULT_MEMSTATUS=0')";
        assert!(connection.query_row(option, [], |row| row.get::<_, bool>(0)).unwrap());
    }
}
