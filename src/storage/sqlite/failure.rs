//! From an error of SQLite to one of [`StoreError`]. The details go to the log, not to the caller.

use rusqlite::{Error, ErrorCode};
use slog::{Logger, error};

use crate::storage::StoreError;

/// Logs what went wrong while `doing` something, and tells the caller as much as is good for them.
pub(super) fn failure(log: &Logger, doing: &'static str, error: &Error) -> StoreError {
    error!(log, "the database failed"; "doing" => doing, "error" => %error, "code" => extended_code(error));
    told(error)
}

/// What a caller may know of `error`.
pub(super) fn told(error: &Error) -> StoreError {
    let unavailable = |why: &str| StoreError::Unavailable(why.to_owned());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            unavailable("another process holds its lock")
        }
        Some(ErrorCode::DiskFull) => unavailable("the disk is full"),
        Some(ErrorCode::SystemIoFailure) => unavailable("the disk failed"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => unavailable("it cannot be written"),
        Some(ErrorCode::CannotOpen) => unavailable("its file cannot be opened"),
        Some(ErrorCode::OutOfMemory) => unavailable("there is not enough memory"),
        Some(
            ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::FileLockingProtocolFailed,
        ) => unavailable("the operation was interrupted"),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Broken("its file is damaged".to_owned())
        }
        Some(_) => StoreError::Broken("the database refused a statement".to_owned()),
        None => StoreError::Broken("it holds a value that it should not".to_owned()),
    }
}

/// Whether the connection should be replaced, because the error may be one of its files. Not for a full disk:
/// a new connection needs room, too.
pub(super) fn is_lasting(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::SystemIoFailure
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
        )
    )
}

/// Whether the database is well and refuses what it was given.
pub(super) fn is_refusal(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

fn extended_code(error: &Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
