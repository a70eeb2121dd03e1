//! The errors of a server, and their [`StoreError`]. The log gets the details, the caller only the cause.

use std::error::Error as _;
use std::fmt;

use tokio_postgres::Error;

use crate::storage::cause::Cause;
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// Why a connection to a host failed.
#[derive(Clone, Debug)]
pub(super) enum ConnectError {
    /// The server rejected the connection, with an SQLSTATE, or its TLS or protocol failed.
    Refused { host: String, code: Option<String>, why: String },
    /// The server is read-only.
    ReadOnly { host: String },
    /// The server accepts writes, but the other hosts contradict or do not respond (`view.rs`).
    Unconfirmed { host: String },
    /// No server responded.
    Unreachable { host: String, why: String },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { host, why, .. } => write!(f, "{host} refused: {why}"),
            Self::ReadOnly { host } => write!(f, "{host} is read-only"),
            Self::Unconfirmed { host } => {
                write!(f, "{host} accepts writes, but the other hosts do not confirm that it is the primary")
            }
            Self::Unreachable { host, why } => write!(f, "{host} cannot be reached: {why}"),
        }
    }
}

/// The result of a write. The outer error is one of the database; the inner error rejects the write, which
/// then changed nothing.
pub(super) type WriteResult<T> = Result<Result<T, StoreError>, Failure>;

/// Why an operation failed, or why its result is unknown.
#[derive(Debug)]
pub(super) enum Failure {
    /// No connection to any host. Nothing was sent.
    Unreachable(Vec<ConnectError>),
    /// The server or the connection to it failed.
    Failed(Error),
    /// The server did not respond in time.
    Timeout,
    /// The server committed a write, but its wait for the synchronous standby was cancelled.
    NotReplicated,
    /// The server does not accept writes any more.
    ReadOnly,
    /// A page cannot be read from a standby, because animals with lower identifiers may be added (`pages.rs`).
    Unsettled,
    /// A row contains a value that this program does not store.
    UnexpectedValue(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(errors) => {
                let hosts: Vec<_> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&hosts.join("; "))
            }
            Self::Failed(error) => f.write_str(&describe(error)),
            Self::Timeout => f.write_str("no response in time"),
            Self::NotReplicated => {
                f.write_str("the server committed, but its wait for a synchronous standby was cancelled")
            }
            Self::ReadOnly => f.write_str("the server is read-only"),
            Self::Unsettled => f.write_str("the primary is needed to tell whether the page is complete"),
            Self::UnexpectedValue(why) => f.write_str(why),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Failure {
    /// Returns the SQLSTATE of the server (PostgreSQL documentation, appendix A).
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Failed(error) => error.code().map(tokio_postgres::error::SqlState::code),
            _ => None,
        }
    }

    /// Whether the server rejected the values of a statement and did nothing.
    pub(super) fn is_value_error(&self) -> bool {
        // Data exception, integrity constraint violation, program limit exceeded, raised by a trigger.
        self.code().is_some_and(|code| ["22", "23", "54", "P0"].contains(&class(code)))
    }

    /// Whether the connection failed, so that another connection may succeed.
    pub(super) fn is_connection_failure(&self) -> bool {
        match (self, self.code()) {
            // Shutdowns and crashes; a server that became a standby; lost prepared statements.
            (_, Some(code)) => {
                code.starts_with("08")
                    || code.starts_with("57P")
                    || ["25006", "26000", "0A000"].contains(&code)
            }
            (Self::Failed(error), None) => is_lost(error),
            (Self::Timeout | Self::NotReplicated | Self::ReadOnly, None) => true,
            (Self::Unreachable(_) | Self::Unsettled | Self::UnexpectedValue(_), None) => false,
        }
    }

    /// Logs and counts the failure, and returns the error for the caller.
    pub(super) fn report(&self, options: &StoreOptions, operation: Operation) -> StoreError {
        let what = ("postgresql", operation, self.cause());
        options.metrics.failed(&options.log, what, self, self.code());
        self.store_error()
    }

    /// Returns the error for the caller.
    pub(super) fn store_error(&self) -> StoreError {
        self.cause().into()
    }

    fn cause(&self) -> Cause {
        match self {
            Self::Unreachable(errors) => connect_cause(errors),
            Self::Timeout => Cause::Timeout,
            Self::NotReplicated => Cause::NotReplicated,
            Self::ReadOnly | Self::Unsettled => Cause::ReadOnly,
            Self::UnexpectedValue(_) => Cause::UnexpectedValue,
            Self::Failed(error) => match self.code() {
                Some(code) => cause_of_code(code).unwrap_or(Cause::RefusedStatement),
                None if is_lost(error) => Cause::ConnectionLost,
                None => Cause::NotUnderstood,
            },
        }
    }
}

/// Returns the cause for an SQLSTATE, unless the statement itself is wrong.
fn cause_of_code(code: &str) -> Option<Cause> {
    Some(match (class(code), code) {
        (_, "55P03" | "57014") | ("40", _) => Cause::Locked,
        ("08" | "57", _) => Cause::Restarting,
        (_, "2200H") => Cause::NoIdentifierLeft,
        (_, "25006") => Cause::ReadOnly,
        (_, "53100") => Cause::DiskFull,
        ("53", _) => Cause::OutOfResources,
        ("58", _) => Cause::Io,
        ("28" | "3D", _) | (_, "42501") => Cause::AccessDenied,
        _ => return None,
    })
}

/// Returns the cause of the first host that responded, else `Unreachable`.
fn connect_cause(errors: &[ConnectError]) -> Cause {
    let cause = errors.iter().find_map(|error| match error {
        ConnectError::ReadOnly { .. } => Some(Cause::ReadOnly),
        ConnectError::Refused { code: Some(code), .. } => cause_of_code(code),
        ConnectError::Refused { code: None, .. }
        | ConnectError::Unconfirmed { .. }
        | ConnectError::Unreachable { .. } => None,
    });
    cause.unwrap_or(Cause::Unreachable)
}

/// Returns the class of an SQLSTATE: its first two characters.
fn class(code: &str) -> &str {
    code.get(..2).unwrap_or_default()
}

/// Whether the connection was lost.
fn is_lost(error: &Error) -> bool {
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// Describes an error in one line, which may name tables and users, never a password.
pub(super) fn describe(error: &Error) -> String {
    let text = match (error.as_db_error(), error.source()) {
        (Some(server), _) => server.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    text.replace(char::is_control, " ")
}
