//! Why a database fails, in the same words for every engine. Callers and metrics get the cause; the log gets
//! the details.

use super::store::StoreError;

/// Why a database failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
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

impl Cause {
    /// Returns the value of the label `error_type` (attribute `error.type` of OpenTelemetry).
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Replaced => "replaced",
            Self::ConnectionLost => "connection_lost",
            Self::Timeout => "timeout",
            Self::Locked => "locked",
            Self::Interrupted => "interrupted",
            Self::Restarting => "restarting",
            Self::NotReplicated => "not_replicated",
            Self::ReadOnly => "read_only",
            Self::AccessDenied => "access_denied",
            Self::DiskFull => "disk_full",
            Self::OutOfResources => "out_of_resources",
            Self::Io => "io",
            Self::NoIdentifierLeft => "no_identifier_left",
            Self::UnexpectedValue => "unexpected_value",
            Self::Damaged => "damaged",
            Self::RefusedStatement => "refused_statement",
            Self::NotUnderstood => "not_understood",
        }
    }
}

impl From<Cause> for StoreError {
    fn from(cause: Cause) -> Self {
        let unavailable = |why: &str| Self::Unavailable(why.to_owned());
        let broken = |why: &str| Self::Broken(why.to_owned());
        match cause {
            Cause::Unreachable => unavailable("it cannot be reached"),
            Cause::Replaced => unavailable("its file was replaced or removed; restart the service"),
            Cause::ConnectionLost => unavailable("the connection to it was lost"),
            Cause::Timeout => unavailable("it did not respond in time"),
            Cause::Locked => unavailable("another process or session holds its lock"),
            Cause::Interrupted => unavailable("the operation was interrupted"),
            Cause::Restarting => unavailable("it is stopping or starting"),
            Cause::NotReplicated => unavailable("it is unknown whether a write was replicated"),
            Cause::ReadOnly => unavailable("it is read-only"),
            Cause::AccessDenied => unavailable("it refuses access"),
            Cause::DiskFull => unavailable("its disk is full"),
            Cause::OutOfResources => unavailable("it is out of resources"),
            Cause::Io => unavailable("its disk failed"),
            Cause::NoIdentifierLeft => broken("it has no identifier left for another animal"),
            Cause::UnexpectedValue => broken("it contains an unexpected value"),
            Cause::Damaged => broken("it is damaged"),
            Cause::RefusedStatement => broken("it rejected a statement"),
            Cause::NotUnderstood => broken("its response does not follow the protocol"),
        }
    }
}
