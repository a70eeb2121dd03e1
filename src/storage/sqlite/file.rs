//! SQLite's own handle of the database file. Another handle must not be opened: closing it would release the
//! POSIX locks that this process has on the file.

#![allow(unsafe_code)] // SQLite's C interface has no safe form of these calls.

use std::ptr;

use rusqlite::{Connection, Error, ffi};

/// Returns the file object of a connection and its methods.
pub(super) fn handle(connection: &Connection) -> Option<(*mut ffi::sqlite3_file, &ffi::sqlite3_io_methods)> {
    let mut file: *mut ffi::sqlite3_file = ptr::null_mut();
    // SAFETY: the connection is open. SQLite returns a pointer to its file object, which stays where it is while
    // the connection is open, and the methods are constant.
    unsafe {
        let file_pointer = ptr::from_mut(&mut file).cast();
        let main = c"main".as_ptr();
        ffi::sqlite3_file_control(connection.handle(), main, ffi::SQLITE_FCNTL_FILE_POINTER, file_pointer);
        Some((file, file.as_ref()?.pMethods.as_ref()?))
    }
}

/// Writes the database file to the disk.
pub(super) fn sync(connection: &Connection) -> rusqlite::Result<()> {
    let Some((file, methods)) = handle(connection) else { return Ok(()) };
    let Some(sync) = methods.xSync else { return Ok(()) };
    // SAFETY: the file is open while the connection is, which the borrow guarantees.
    match unsafe { sync(file, ffi::SQLITE_SYNC_NORMAL) } {
        ffi::SQLITE_OK => Ok(()),
        code => Err(Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}
