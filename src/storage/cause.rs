//! What can be wrong with a database, in words that are the same for every engine: for callers, who learn no
//! more than that, and for those who count.

use super::StoreError;

/// Why a database did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// No connection, or no file.
    Unreachable,
    /// The connection ended in the middle.
    ConnectionLost,
    /// No answer came in time.
    Timeout,
    /// Others held the locks.
    Locked,
    /// Somebody interrupted it.
    Interrupted,
    /// The server is on its way down or up.
    Restarting,
    /// It was committed, but perhaps not where it should be as well.
    NotReplicated,
    /// It takes reads only.
    ReadOnly,
    /// It does not let us in, or not do this.
    AccessDenied,
    /// There is no room.
    DiskFull,
    /// There is not enough of something else, such as memory or connections.
    OutOfResources,
    /// The disk failed.
    Io,
    /// It holds what no store would.
    UnexpectedValue,
    /// It does not hold together.
    Damaged,
    /// It does not take a statement of ours.
    RefusedStatement,
    /// It does not answer in its own protocol.
    NotUnderstood,
}

impl Cause {
    /// As a value of the label `error_type` (OpenTelemetry's attribute `error.type`).
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
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
            Cause::ConnectionLost => unavailable("the connection to it was lost"),
            Cause::Timeout => unavailable("it did not answer in time"),
            Cause::Locked => unavailable("others hold its locks for too long"),
            Cause::Interrupted => unavailable("the operation was interrupted"),
            Cause::Restarting => unavailable("it is stopping or starting"),
            Cause::NotReplicated => unavailable("it does not know whether a write was replicated"),
            Cause::ReadOnly => unavailable("it cannot be written"),
            Cause::AccessDenied => unavailable("it refuses access"),
            Cause::DiskFull => unavailable("its disk is full"),
            Cause::OutOfResources => unavailable("it is out of resources"),
            Cause::Io => unavailable("its disk failed"),
            Cause::UnexpectedValue => broken("it holds a value that it should not"),
            Cause::Damaged => broken("it is damaged"),
            Cause::RefusedStatement => broken("it refused a statement"),
            Cause::NotUnderstood => broken("it answered what was not understood"),
        }
    }
}
