//! Why a database fails, in the same words for every engine. Callers and metrics get the type of the error; the log gets
//! the details.

use strum::IntoStaticStr;

/// Why a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full. The write did not happen; it is safe to try again.
    #[error("too many writes are waiting")]
    Busy,
    /// The store cannot respond now, for example because of a full disk, a lock of another process or a lost
    /// connection. It is unknown whether a write took effect.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store contains an invalid value, or the arguments are invalid.
    #[error("the store is broken: {0}")]
    Broken(String),
}

/// Why a database failed: a message for callers. The name in snake case is the value of the label `error_type` (attribute
/// `error.type` of OpenTelemetry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum ErrorType {
    /// There is no connection, or no file.
    #[error("it cannot be reached")]
    Unreachable,
    /// The path of the database leads to another file than the one that is open.
    #[error("its file was replaced or removed; restart the service")]
    Replaced,
    /// The connection was lost during the operation.
    #[error("the connection to it was lost")]
    ConnectionLost,
    /// The database did not respond in time.
    #[error("it did not respond in time")]
    Timeout,
    /// Another process or session holds the lock.
    #[error("another process or session holds its lock")]
    Locked,
    /// The operation was interrupted.
    #[error("the operation was interrupted")]
    Interrupted,
    /// The server is starting or stopping.
    #[error("it is stopping or starting")]
    Restarting,
    /// The write was committed, but it is unknown whether it was replicated.
    #[error("it is unknown whether a write was replicated")]
    NotReplicated,
    /// The database is read-only.
    #[error("it is read-only")]
    ReadOnly,
    /// Authentication or authorization failed.
    #[error("it refuses access")]
    AccessDenied,
    /// The disk is full.
    #[error("its disk is full")]
    DiskFull,
    /// Memory, connections or another resource are exhausted.
    #[error("it is out of resources")]
    OutOfResources,
    /// The disk failed.
    #[error("its disk failed")]
    Io,
    /// The highest identifier of an animal was assigned.
    #[error("it has no identifier left for another animal")]
    NoIdentifierLeft,
    /// A row contains a value that this program does not store.
    #[error("it contains an unexpected value")]
    UnexpectedValue,
    /// The database file is corrupt. SQLite also reports EIO of a read as damage.
    #[error("it is damaged, or its disk cannot be read")]
    Damaged,
    /// The database rejected a statement.
    #[error("it rejected a statement")]
    RefusedStatement,
    /// The response does not follow the protocol.
    #[error("its response does not follow the protocol")]
    NotUnderstood,
}

impl From<ErrorType> for StoreError {
    fn from(error_type: ErrorType) -> Self {
        let why = error_type.to_string();
        match error_type {
            ErrorType::NoIdentifierLeft
            | ErrorType::UnexpectedValue
            | ErrorType::Damaged
            | ErrorType::RefusedStatement
            | ErrorType::NotUnderstood => Self::Broken(why),
            _ => Self::Unavailable(why),
        }
    }
}
