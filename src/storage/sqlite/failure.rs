//! Turns errors of SQLite into [`StoreError`]. The log gets the details, the caller only the cause.

use rusqlite::{Error, ErrorCode};

use super::file::Replaced;
use crate::storage::cause::Cause;
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// Logs and counts an error, and returns the error for the caller.
pub(super) fn report(options: &StoreOptions, operation: Operation, error: &Error) -> StoreError {
    let code = error.sqlite_error().map(|error| error.extended_code.to_string());
    options.metrics.failed(&options.log, ("sqlite", operation, cause(error)), error, code.as_deref());
    store_error(error)
}

/// Returns the error for the caller.
pub(super) fn store_error(error: &Error) -> StoreError {
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
        None if is_replaced(error) => Cause::Replaced,
        None if is_no_identifier_left(error) => Cause::NoIdentifierLeft,
        None => Cause::UnexpectedValue,
    }
}

/// Whether the connection must be replaced, because the error may be in its files. A full disk is not such an
/// error: a new connection also needs space.
pub(super) fn is_connection_failure(error: &Error) -> bool {
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

/// Whether the database rejected the values of one statement.
pub(super) fn is_constraint_violation(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// The highest identifier of an animal was assigned. SQLite reports a full disk.
#[derive(Debug, thiserror::Error)]
#[error("the highest identifier was assigned")]
pub(super) struct NoIdentifierLeft;

fn is_replaced(error: &Error) -> bool {
    matches!(error, Error::UserFunctionError(inner) if inner.is::<Replaced>())
}

fn is_no_identifier_left(error: &Error) -> bool {
    matches!(error, Error::ToSqlConversionFailure(inner) if inner.is::<NoIdentifierLeft>())
}
