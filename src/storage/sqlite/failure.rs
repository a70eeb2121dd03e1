//! From an error of SQLite to one of [`StoreError`]. The details go to the log, not to the caller.

use rusqlite::{Error, ErrorCode};
use slog::error;

use crate::storage::cause::Cause;
use crate::storage::metrics::Operation;
use crate::storage::{StoreError, StoreOptions};

/// Logs and counts that something went wrong, and tells the caller as much as is good for them.
pub(super) fn failure(options: &StoreOptions, operation: Operation, error: &Error) -> StoreError {
    error!(options.log, "the database failed";
        "doing" => operation.as_str(), "error" => %error, "code" => extended_code(error));
    options.metrics.failed("sqlite", operation, cause(error));
    told(error)
}

/// What a caller may know of `error`.
pub(super) fn told(error: &Error) -> StoreError {
    cause(error).into()
}

fn cause(error: &Error) -> Cause {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Cause::Locked,
        Some(ErrorCode::DiskFull) => Cause::DiskFull,
        Some(ErrorCode::SystemIoFailure) => Cause::Io,
        Some(ErrorCode::ReadOnly) => Cause::ReadOnly,
        Some(ErrorCode::PermissionDenied) => Cause::AccessDenied,
        Some(ErrorCode::CannotOpen) => Cause::Unreachable,
        Some(ErrorCode::OutOfMemory) => Cause::OutOfResources,
        Some(
            ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::FileLockingProtocolFailed,
        ) => Cause::Interrupted,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Cause::Damaged,
        Some(_) => Cause::RefusedStatement,
        None => Cause::UnexpectedValue,
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
