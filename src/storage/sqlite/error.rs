//! Turns errors of SQLite into [`StoreError`] while the store is open, and into [`OpenFailure`] before.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use rusqlite::{Error, ErrorCode};

use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::types::{ErrorType, StoreError};

/// Logs and counts an error, and returns the error for the caller: the log gets the details, the caller only their type.
pub(super) fn report(options: &StoreOptions, access: Access, error: &Error) -> StoreError {
    let code = error.sqlite_error().map(|error| error.extended_code.to_string());
    options.metrics.failed(&options.log, ("sqlite", access, error_type(error)), error, code.as_deref());
    match error {
        Error::UserFunctionError(own) if own.is::<Replaced>() => StoreError::Unavailable(own.to_string()),
        _ => error_type(error).into(),
    }
}

/// A path of the database leads to another file than the one that is open, or to none. The message has its name without
/// the directory, because `/readyz` shows it.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "its file {} was replaced or removed; {}restart the service",
    .path.file_name().unwrap_or_default().display(),
    if *.is_database { "put it back, then " } else { "" }
)]
pub(super) struct Replaced {
    pub(super) path: PathBuf,
    /// Not the WAL or the index.
    pub(super) is_database: bool,
}

fn error_type(error: &Error) -> ErrorType {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            ErrorType::Locked
        }
        Some(ErrorCode::DiskFull | ErrorCode::OutOfMemory) => ErrorType::Full,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            ErrorType::Unreachable
        }
        Some(ErrorCode::ReadOnly) => ErrorType::ReadOnly,
        Some(ErrorCode::OperationInterrupted | ErrorCode::OperationAborted) => ErrorType::Timeout,
        Some(_) => ErrorType::Rejected,
        None => match error {
            Error::UserFunctionError(own) if own.is::<Replaced>() => ErrorType::Unreachable,
            _ => ErrorType::Rejected,
        },
    }
}

/// Why a file cannot be opened, and what to do: the end of a sentence that begins with its path.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct OpenFailure(pub(super) String);

impl OpenFailure {
    pub(super) fn damaged(how: impl Display) -> Self {
        Self(format!(
            "is damaged ({how}); move it and the files that end with -wal and -shm away and restore an intact backup, \
             or recover the rest with `.recover` of sqlite3"
        ))
    }

    fn forbidden(error: impl Display) -> Self {
        Self(format!(
            "cannot be read and written ({error}); check the owner and the permissions of the file and its directory, \
             or use a copy"
        ))
    }

    pub(super) fn not_sqlite() -> Self {
        "is not an SQLite database; choose another path, unpack the file if it is compressed, or move it away"
            .into()
    }
}

impl From<&str> for OpenFailure {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<io::Error> for OpenFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => {
                "is in a directory that does not exist; create the directory first".into()
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                "is on a read-only file system; mount it for writing, or use another path".into()
            }
            _ => Self::forbidden(error),
        }
    }
}

impl From<Error> for OpenFailure {
    fn from(error: Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::not_sqlite(),
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(error),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "is locked by another process; stop that process, or try again later".into()
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::forbidden(error)
            }
            // SQLite reports an I/O error when a full disk has no space for the shared memory.
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Self(format!(
                "cannot be used, because its disk is full or fails, or the limit on file sizes is reached ({error}); \
                 free some space, raise the limit with ulimit -f, or see the log of the operating system"
            )),
            _ => Self(format!("cannot be used: {error}")),
        }
    }
}
