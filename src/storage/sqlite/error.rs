//! Turns errors of SQLite into [`StoreError`]. The log gets the details, the caller only their type.

use rusqlite::{Error, ErrorCode};

use crate::storage::error::{ErrorType, StoreError};
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;

/// Logs and counts an error, and returns the error for the caller.
pub(super) fn report(options: &StoreOptions, access: Access, error: &Error) -> StoreError {
    let code = error.sqlite_error().map(|error| error.extended_code.to_string());
    options.metrics.failed(&options.log, ("sqlite", access, error_type(error)), error, code.as_deref());
    store_error(error)
}

/// Returns the error for the caller.
pub(super) fn store_error(error: &Error) -> StoreError {
    error_type(error).into()
}

fn error_type(error: &Error) -> ErrorType {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorType::Locked,
        Some(ErrorCode::DiskFull) => ErrorType::DiskFull,
        Some(ErrorCode::SystemIoFailure) => ErrorType::Io,
        Some(ErrorCode::ReadOnly) => ErrorType::ReadOnly,
        Some(ErrorCode::PermissionDenied) => ErrorType::AccessDenied,
        Some(ErrorCode::CannotOpen) => ErrorType::Unreachable,
        Some(ErrorCode::OutOfMemory) => ErrorType::OutOfResources,
        Some(
            ErrorCode::OperationInterrupted
            | ErrorCode::OperationAborted
            | ErrorCode::FileLockingProtocolFailed,
        ) => ErrorType::Interrupted,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorType::Damaged,
        Some(_) => ErrorType::RefusedStatement,
        None => match error {
            // An error of this program has its type.
            Error::UserFunctionError(own) => {
                own.downcast_ref().copied().unwrap_or(ErrorType::UnexpectedValue)
            }
            _ => ErrorType::UnexpectedValue,
        },
    }
}

/// Whether the connection is replaced, because the error may be in its files. A full disk is not such an error: a new
/// connection also needs space.
pub(super) fn is_connection_failure(error: &Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        None | Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull)
    )
}

/// Whether the database rejected the values of one statement.
pub(super) fn is_constraint_violation(error: &Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}
