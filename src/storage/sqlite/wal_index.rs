//! A look at SQLite's wal-index: the memory, shared by all processes that use the file, in which each COMMIT
//! leaves what the log holds. It says whether anybody has committed since, without a call of the system.
//!
//! SQLite has no function for this that could be asked within a transaction; `PRAGMA data_version` begins to read,
//! too, which takes a lock and gives it back. The format is documented
//! (<https://sqlite.org/walformat.html#walidxfmt>) and has a version, and SQLite itself judges by the same comparison
//! whether what it knows of the log is true still.

#![allow(unsafe_code)] // SQLite's C interface has no safe form of these calls.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rusqlite::{Connection, ffi};

/// The header is 48 bytes.
const WORDS: usize = 12;
/// The version of the format, which is the first word.
const VERSION: u32 = 3_007_000;
/// The word that says how many frames the log holds.
const FRAMES: usize = 4;
/// What SQLite maps at once.
const REGION_BYTES: c_int = 32 * 1024;

/// What the log holds: differs after each COMMIT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Header([u32; WORDS]);

impl Header {
    /// How many frames the log holds, each a page.
    pub(super) fn frames(&self) -> u32 {
        self.0[FRAMES]
    }
}

/// The header of the wal-index of the file that `connection` has open in WAL mode. `None` before it has read
/// for the first time, and while another connection is writing the header.
pub(super) fn header(connection: &Connection) -> Option<Header> {
    let words = mapped(connection)?;
    let copy = |at: usize| -> [u32; WORDS] {
        std::array::from_fn(|word| {
            // SAFETY: the mapping is larger than two headers, aligned to a page, and stays where it is while the
            // connection is open, which it is as long as it is borrowed here. SQLite and other processes change
            // it meanwhile, so that it is read atomically.
            unsafe { AtomicU32::from_ptr(words.add(at + word)) }.load(Ordering::Relaxed)
        })
    };
    // There are two copies, and who writes them begins with the second.
    let first = copy(0);
    fence(Ordering::Acquire);
    let second = copy(WORDS);
    (first == second && first[0] == VERSION).then_some(Header(first))
}

/// Where the wal-index begins, in SQLite's own mapping of it.
fn mapped(connection: &Connection) -> Option<*mut u32> {
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    let mut region: *mut c_void = ptr::null_mut();
    // SAFETY: the connection is open. SQLite gives a pointer to its file of it, whose methods are there from
    // version 2 on, and which returns where it has the region, or null; it makes none (`bExtend` is 0).
    unsafe {
        let file_pointer = ptr::from_mut(&mut file).cast();
        let main = c"main".as_ptr();
        ffi::sqlite3_file_control(connection.handle(), main, ffi::SQLITE_FCNTL_FILE_POINTER, file_pointer);
        let methods = file.as_ref()?.pMethods.as_ref().filter(|methods| methods.iVersion >= 2)?;
        methods.xShmMap?(file, 0, REGION_BYTES, 0, &raw mut region);
    }
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
    fn every_commit_of_anybody_changes_the_header_and_nothing_else_does() {
        let place = tempfile::tempdir().unwrap();
        let (ours, theirs) = (open(&place), open(&place));
        theirs.execute_batch("CREATE TABLE some (thing)").unwrap();
        ours.query_row("SELECT count(*) FROM some", [], |_| Ok(())).unwrap();
        let mut seen = header(&ours).unwrap();
        for commit in 1..=100 {
            theirs.execute("INSERT INTO some VALUES (1)", []).unwrap();
            let now = header(&ours).unwrap();
            assert!(now != seen, "commit {commit} went unseen");
            assert!(now == header(&theirs).unwrap());
            theirs.execute_batch("BEGIN IMMEDIATE; INSERT INTO some VALUES (1); ROLLBACK").unwrap();
            ours.query_row("SELECT count(*) FROM some", [], |_| Ok(())).unwrap();
            assert!(now == header(&ours).unwrap(), "nobody has committed");
            seen = now;
        }
        assert!(seen.frames() >= 100);
        // The log begins anew, and is another one.
        theirs.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        theirs.execute("INSERT INTO some VALUES (1)", []).unwrap();
        assert!(header(&ours).unwrap() != seen);
        assert!(header(&ours).unwrap().frames() < 10);
    }

    #[test]
    fn there_is_none_before_the_first_read() {
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
