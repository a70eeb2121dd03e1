//! Opens connections and sets them up: for writing, for reading, and to lock the file.
//!
//! No connection is used by two threads at once, so SQLite needs no mutex.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// The cache of the connection for writing, which mostly appends, and the minimum for reading, in KiB.
const CACHE_KIB: usize = 2048;
/// The cache of all connections for reading, in KiB. The operating system caches the file as well.
const READERS_CACHE_KIB: usize = 64 * 1024;
/// The WAL is truncated to this size in bytes by the commit that restarts it. 100 MB more delay that commit by 20 ms.
const WAL_BYTES: i64 = 16 * 1024 * 1024;
/// SQLite stores the timeout in milliseconds in 31 bits.
const MAX_LOCK_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Opens a connection to a file that exists, without reading it.
pub(super) fn connect(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Sets a connection up for writing.
pub(super) fn set_up_writing(connection: &Connection, lock_timeout: Duration) -> rusqlite::Result<()> {
    set_up(connection, lock_timeout, CACHE_KIB)?;
    // COMMIT returns when the WAL is on disk.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES)?;
    // The thread that writes does it between batches (`writer.rs`).
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // Detects a damaged page before it is changed, which would spread the damage. Not on connections for reading, where it
    // hardly ever prevents a wrong response (see xtask/RECORDS.md, "Growth").
    connection.pragma_update(None, "cell_size_check", true)?;
    // The journal of a statement; otherwise SQLite allocates 64 KiB for each.
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Locks the file against all other connections, until this one is closed. Fails with `SQLITE_BUSY` while another one is
/// open.
pub(super) fn set_up_exclusive(connection: &Connection, lock_timeout: Duration) -> rusqlite::Result<()> {
    set_lock_timeout(connection, lock_timeout)?;
    // Before all else: once a connection shares the memory of the WAL with others, it keeps sharing it.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "synchronous", "FULL")
}

/// Opens a read-only connection, one of `count`.
pub(super) fn open_for_reading(
    path: &Path,
    lock_timeout: Duration,
    count: usize,
) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection, lock_timeout, (READERS_CACHE_KIB / count).max(CACHE_KIB))?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Sets how long the connection waits for a lock before it fails with `SQLITE_BUSY`.
pub(super) fn set_lock_timeout(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(timeout.min(MAX_LOCK_TIMEOUT))
}

fn set_up(connection: &Connection, lock_timeout: Duration, cache_kib: usize) -> rusqlite::Result<()> {
    set_lock_timeout(connection, lock_timeout)?;
    // Negative values are in KiB, others in pages.
    connection.pragma_update(None, "cache_size", -(cache_kib as i64))?;
    // Off: an unreadable mapped page kills the process, and mapped pages count as its memory.
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    // The program makes none, and another one could undo a revocation.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    // Plans do not depend on parameters. Otherwise SQLite prepares a statement again when a bound of a range changes
    // (xtask/RECORDS.md, "What made requests cheaper", `SQLITE_DBCONFIG_ENABLE_QPSG`).
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_with_a_range_is_prepared_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE some (id INTEGER PRIMARY KEY)").unwrap();
        let connection = open_for_reading(&path, Duration::ZERO, 1).unwrap();
        let mut page = connection.prepare("SELECT id FROM some WHERE id >= ?1 LIMIT ?2").unwrap();
        for (from, limit) in [(1, 2), (3, 4)] {
            assert!(!page.exists([from, limit]).unwrap());
        }
        assert_eq!(page.get_status(StatementStatus::RePrepare), 0);
    }

    #[test]
    fn a_connection_checks_pages_before_it_changes_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("some.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE some (thing)").unwrap();
        let checks = |connection: Connection| -> bool {
            connection.pragma_query_value(None, "cell_size_check", |row| row.get(0)).unwrap()
        };
        let writing = connect(&path).unwrap();
        set_up_writing(&writing, Duration::ZERO).unwrap();
        assert!(checks(writing));
        assert!(!checks(open_for_reading(&path, Duration::ZERO, 1).unwrap()));
    }

    /// With memory statistics, each allocation takes a global lock. The flag is in `.cargo/config.toml`, where cargo builds
    /// SQLite.
    #[test]
    fn sqlite_is_built_without_memory_statistics() {
        let connection = Connection::open_in_memory().unwrap();
        let option = "SELECT sqlite_compileoption_used('DEFAULT_MEMSTATUS=0')";
        assert!(connection.query_row(option, [], |row| row.get::<_, bool>(0)).unwrap());
    }
}
