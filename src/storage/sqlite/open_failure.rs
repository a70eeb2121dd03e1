//! Why a file cannot be opened, in words that say what to do.

use std::io;

use rusqlite::{Error, ErrorCode};

use super::migrations::NEWEST;

/// Why a file cannot be opened, as the end of a sentence that begins with its path.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenFailure {
    #[error("is a directory; give the path of a file in it")]
    Directory,
    #[error("is not a regular file; choose another path")]
    NotRegular,
    #[error("is in a directory that does not exist; create the directory first")]
    NoDirectory,
    #[error("is on a read-only file system; mount it for writing, or use another path")]
    ReadOnlyFileSystem,
    #[error("cannot be opened: {0}; check the owner and the permissions of the file and its directory")]
    Forbidden(io::Error),
    #[error("cannot be read and written; check the owner and the permissions of the file and its directory")]
    NotWritable,
    #[error("is not an SQLite database; choose another path, or move the file away")]
    NotSqlite,
    #[error("is an SQLite database of another program; choose another path")]
    Foreign,
    #[error(
        "was written by a newer release of this program (format {0}, this one knows up to {NEWEST}); \
         use {1}"
    )]
    Newer(i32, String),
    #[error("does not exist; check the path")]
    Missing,
    #[error("is empty or incomplete; create a database in it with `animal-store key create NAME`")]
    Empty,
    #[error(
        "has the format {0} of an older release, which this command does not change to format {NEWEST}; make a \
         copy with `animal-store backup FILE`, then upgrade the database with `animal-store serve`"
    )]
    Older(i32),
    #[error("is damaged ({0}); restore a backup, or recover the rest with `.recover` of sqlite3")]
    Damaged(String),
    #[error("{0}, so it is not as this program made it; restore a backup, or use another database")]
    OtherSchema(String),
    #[error("is locked by another process; stop that process, or try again later")]
    Locked,
    #[error("is on a file system without shared memory; move it to a local disk")]
    NoSharedMemory,
    #[error(
        "cannot be used, because its disk is full or fails, or the limit on file sizes is reached ({0}); free some space, \
         raise the limit with ulimit -f, or see the log of the operating system"
    )]
    Disk(String),
    #[error("cannot be used: {0}")]
    Other(String),
}

impl From<Error> for OpenFailure {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotSqlite,
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::NotWritable
            }
            // SQLite reports an I/O error when a full disk has no space for the shared memory.
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Self::Disk(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}
