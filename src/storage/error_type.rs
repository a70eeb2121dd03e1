//! Why a database fails, in the same words for every engine. Callers and metrics get the type of the error; the log gets
//! the details.

use super::store::StoreError;

/// Why a database failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ErrorType {
    /// There is no connection, or no file.
    Unreachable,
    /// The path of the database leads to another file than the one that is open.
    Replaced,
    /// The connection was lost during the operation.
    ConnectionLost,
    /// The database did not respond in time.
    Timeout,
    /// Another process or session holds the lock.
    Locked,
    /// The operation was interrupted.
    Interrupted,
    /// The server is starting or stopping.
    Restarting,
    /// The write was committed, but it is unknown whether it was replicated.
    NotReplicated,
    /// The database is read-only.
    ReadOnly,
    /// Authentication or authorization failed.
    AccessDenied,
    /// The disk is full.
    DiskFull,
    /// Memory, connections or another resource are exhausted.
    OutOfResources,
    /// The disk failed.
    Io,
    /// The highest identifier of an animal was assigned.
    NoIdentifierLeft,
    /// A row contains a value that this program does not store.
    UnexpectedValue,
    /// The database file is corrupt.
    Damaged,
    /// The database rejected a statement.
    RefusedStatement,
    /// The response does not follow the protocol.
    NotUnderstood,
}

impl ErrorType {
    /// Returns the value of the label `error_type` (attribute `error.type` of OpenTelemetry).
    pub(super) fn label(self) -> &'static str {
        self.texts().0
    }

    /// Returns the label, and the message for callers.
    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::Unreachable => ("unreachable", "it cannot be reached"),
            Self::Replaced => ("replaced", "its file was replaced or removed; restart the service"),
            Self::ConnectionLost => ("connection_lost", "the connection to it was lost"),
            Self::Timeout => ("timeout", "it did not respond in time"),
            Self::Locked => ("locked", "another process or session holds its lock"),
            Self::Interrupted => ("interrupted", "the operation was interrupted"),
            Self::Restarting => ("restarting", "it is stopping or starting"),
            Self::NotReplicated => ("not_replicated", "it is unknown whether a write was replicated"),
            Self::ReadOnly => ("read_only", "it is read-only"),
            Self::AccessDenied => ("access_denied", "it refuses access"),
            Self::DiskFull => ("disk_full", "its disk is full"),
            Self::OutOfResources => ("out_of_resources", "it is out of resources"),
            Self::Io => ("io", "its disk failed"),
            Self::NoIdentifierLeft => ("no_identifier_left", "it has no identifier left for another animal"),
            Self::UnexpectedValue => ("unexpected_value", "it contains an unexpected value"),
            // SQLite reports EIO of a read as damage.
            Self::Damaged => ("damaged", "it is damaged, or its disk cannot be read"),
            Self::RefusedStatement => ("refused_statement", "it rejected a statement"),
            Self::NotUnderstood => ("not_understood", "its response does not follow the protocol"),
        }
    }
}

impl From<ErrorType> for StoreError {
    fn from(error_type: ErrorType) -> Self {
        let why = error_type.texts().1.to_owned();
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
