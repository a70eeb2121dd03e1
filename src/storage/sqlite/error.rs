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

/// The path of the database leads to another file than the one that is open, or to none.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("its file was replaced or removed; restart the service")]
pub(super) struct Replaced;

/// Returns the error for the caller.
pub(super) fn store_error(error: &Error) -> StoreError {
    match error {
        Error::UserFunctionError(own) if own.is::<Replaced>() => StoreError::Unavailable(own.to_string()),
        _ => error_type(error).into(),
    }
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

/// Whether the connection is replaced, because the error may be in its files. A full disk is not such an error: a new
/// connection also needs space.
pub(super) fn is_connection_failure(error: &Error) -> bool {
    !matches!(
        error.sqlite_error_code(),
        None | Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull)
    )
}
