//! Why a database fails, in the same words for every engine. Callers and metrics get the type of the error; the log gets
//! the details.

use strum::IntoStaticStr;

/// Why a store failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full. The write did not happen; it is safe to try again.
    #[error("too many writes are waiting")]
    Busy,
    /// The store cannot respond now, for example because of a full disk, a lock of another process or a lost
    /// connection. It is unknown whether a write took effect.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The database is damaged, contains an invalid value or rejected a statement.
    #[error("the store failed: {0}")]
    Broken(String),
    /// The arguments are invalid.
    #[error("{0}")]
    Invalid(String),
}

/// Why a database failed, in the causes upon which an operator acts differently: a message for callers. The name in snake case
/// is the value of the label `error_type` (attribute `error.type` of OpenTelemetry). The log has the code of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum ErrorType {
    /// There is no connection, or it was lost; the file or its disk cannot be used.
    #[error("it cannot be reached")]
    Unreachable,
    /// The database did not respond in time, cancelled the statement, or did not wait for its standby.
    #[error("it did not respond in time")]
    Timeout,
    /// Another process or session holds the lock.
    #[error("another process or session holds its lock")]
    Locked,
    /// The disk, the memory or the number of connections is exhausted.
    #[error("its disk is full, or another resource is exhausted")]
    Full,
    /// The database is read-only.
    #[error("it is read-only")]
    ReadOnly,
    /// Anything else: damage, a value that this program does not store, a missing privilege, a changed table.
    #[error("it is damaged, or rejected a statement")]
    Rejected,
}

impl From<ErrorType> for StoreError {
    fn from(error_type: ErrorType) -> Self {
        let why = error_type.to_string();
        match error_type {
            ErrorType::Rejected => Self::Broken(why),
            _ => Self::Unavailable(why),
        }
    }
}
