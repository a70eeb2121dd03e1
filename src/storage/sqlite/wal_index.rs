//! Reads the header of SQLite's wal-index: memory shared by all processes that use the file, which every
//! COMMIT updates. It shows without a system call whether any process has committed.
//!
//! SQLite has no function for this that works within a transaction, and `PRAGMA data_version` starts a read,
//! which takes and releases a lock. The format is documented (<https://sqlite.org/walformat.html#walidxfmt>)
//! and has a version, and SQLite compares the same header to decide whether its own state of the log is
//! current.

#![allow(unsafe_code)] // SQLite's C interface has no safe form of these calls.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rusqlite::Connection;

use super::file;

/// The header has 48 bytes.
const WORDS: usize = 12;
/// The version of the format, in the first word.
const VERSION: u32 = 3_007_000;
/// The index of the word with the number of frames.
const FRAMES: usize = 4;
/// The index of the word with the number of frames that were checkpointed, after two copies of the header.
const CHECKPOINTED_FRAMES: usize = 2 * WORDS;
/// The size of the mapping.
const REGION_BYTES: c_int = 32 * 1024;

/// The header, which changes with each COMMIT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header([u32; WORDS]);

impl Header {
    /// Returns the number of frames in the log, each a page.
    pub(super) fn frames(&self) -> u32 {
        self.0[FRAMES]
    }
}

/// Returns the header for a connection in WAL mode; `None` before its first read, and while another
/// connection writes the header.
pub(super) fn header(connection: &Connection) -> Option<Header> {
    let words = mapped(connection)?;
    let copy = |at: usize| -> [u32; WORDS] {
        std::array::from_fn(|word| {
            // SAFETY: the mapping is larger than two headers, aligned to a page, and does not move while the
            // connection is open, which the borrow guarantees. SQLite and other processes may write to it, so
            // it is read atomically.
            unsafe { AtomicU32::from_ptr(words.add(at + word)) }.load(Ordering::Relaxed)
        })
    };
    // There are two copies, and a writer starts with the second.
    let first = copy(0);
    fence(Ordering::Acquire);
    let second = copy(WORDS);
    (first == second && first[0] == VERSION).then_some(Header(first))
}

/// Returns how many frames of the log were copied into the database; `None` before the first read.
pub(super) fn checkpointed_frames(connection: &Connection) -> Option<u32> {
    let words = mapped(connection)?;
    // SAFETY: as in `header`.
    Some(unsafe { AtomicU32::from_ptr(words.add(CHECKPOINTED_FRAMES)) }.load(Ordering::Relaxed))
}

/// Returns the start of the wal-index in SQLite's mapping. Opens the shared-memory file if the connection has not
/// read yet.
fn mapped(connection: &Connection) -> Option<*mut u32> {
    let (file, methods) = file::handle(connection).filter(|(_, methods)| methods.iVersion >= 2)?;
    let mut region: *mut c_void = ptr::null_mut();
    // SAFETY: the file is open, and has this method from version 2 on. The method may be called at any time on the
    // thread that uses the connection: it opens the shared-memory file if that is not open, as a read would, which
    // SQLite closes with the connection. With `bExtend` 0, it maps only what the file has, or returns null.
    unsafe { methods.xShmMap?(file, 0, REGION_BYTES, 0, &raw mut region) };
    (!region.is_null()).then_some(region.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(place: &tempfile::TempDir) -> Connection {
        let connection = Connection::open(place.path().join("some.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection
    }

    #[test]
    fn only_a_commit_of_any_connection_changes_the_header() {
        let place = tempfile::tempdir().unwrap();
        let (ours, theirs) = (open(&place), open(&place));
        theirs.execute_batch("CREATE TABLE some (thing)").unwrap();
        ours.query_row("SELECT count(*) FROM some", [], |_| Ok(())).unwrap();
        let mut seen = header(&ours).unwrap();
        for commit in 1..=100 {
            theirs.execute("INSERT INTO some VALUES (1)", []).unwrap();
            let now = header(&ours).unwrap();
            assert!(now != seen, "commit {commit} did not change it");
            assert!(now == header(&theirs).unwrap());
            theirs.execute_batch("BEGIN IMMEDIATE; INSERT INTO some VALUES (1); ROLLBACK").unwrap();
            ours.query_row("SELECT count(*) FROM some", [], |_| Ok(())).unwrap();
            assert!(now == header(&ours).unwrap(), "a rollback changed it");
            seen = now;
        }
        assert!(seen.frames() >= 100);
        assert_eq!(checkpointed_frames(&ours), Some(0));
        theirs.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        assert_eq!(checkpointed_frames(&ours), Some(seen.frames()));
        // A restarted log has another header.
        theirs.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        theirs.execute("INSERT INTO some VALUES (1)", []).unwrap();
        assert!(header(&ours).unwrap() != seen);
        assert!(header(&ours).unwrap().frames() < 10);
    }

    #[test]
    fn there_is_no_header_before_the_first_read() {
        let place = tempfile::tempdir().unwrap();
        let first = open(&place);
        first.execute_batch("CREATE TABLE some (thing)").unwrap();
        drop(first);
        let connection = Connection::open(place.path().join("some.db")).unwrap();
        assert!(header(&connection).is_none());
        connection.query_row("SELECT count(*) FROM some", [], |_| Ok(())).unwrap();
        assert!(header(&connection).is_some());
    }
}
