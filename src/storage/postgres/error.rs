//! The errors of a server, and their [`StoreError`]. The log gets the details, the caller only their type.

use std::error::Error as _;
use std::sync::Arc;

use tokio_postgres::Error;

use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::types::{ErrorType, StoreError};

/// Why a connection to a host failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::storage) enum ConnectError {
    /// The server rejected the connection, with an SQLSTATE, or its TLS or protocol failed.
    #[error("{host} refused: {why}")]
    Refused { host: String, code: Option<String>, why: String },
    #[error("{host} is a standby")]
    Standby { host: String },
    /// See `session.rs`.
    #[error("{host} is not used: {why}")]
    Old { host: String, why: String },
    #[error("{host} cannot be reached: {why}")]
    Unreachable { host: String, why: String },
}

impl ConnectError {
    pub(super) fn new(host: &str, error: &Error) -> Self {
        let host = host.to_owned();
        let io = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        match (error.code(), io) {
            (Some(code), _) => {
                Self::Refused { host, code: Some(code.code().to_owned()), why: describe(error) }
            }
            (None, Some(io)) if !error.to_string().contains("TLS") => {
                Self::Unreachable { host, why: io.to_string().replace(char::is_control, " ") }
            }
            (None, _) if error.is_closed() => Self::closed(host),
            (None, _) => Self::Refused { host, code: None, why: describe(error) },
        }
    }

    /// Whether the same connection may succeed later, without a change of the settings.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Refused { code, .. } => code.as_deref().is_some_and(is_away),
            Self::Standby { .. } | Self::Old { .. } | Self::Unreachable { .. } => true,
        }
    }

    pub(super) fn closed(host: String) -> Self {
        Self::Unreachable { host, why: "the connection was closed".to_owned() }
    }
}

/// Why an operation failed, or why its result is unknown.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::storage) enum PgError {
    /// No connection to any host. Nothing was sent.
    #[error("{}", list(.0))]
    Unreachable(Vec<ConnectError>),
    /// The server or the connection to it failed.
    #[error("{}", describe(.0))]
    Failed(Arc<Error>),
    #[error("no response in time")]
    Timeout,
    #[error("the server committed, but its wait for a synchronous standby was cancelled")]
    NotReplicated,
    #[error("the server is read-only")]
    ReadOnly,
    /// A row contains a value that this program does not store.
    #[error("{0}")]
    UnexpectedValue(String),
}

impl From<Error> for PgError {
    fn from(error: Error) -> Self {
        Self::Failed(Arc::new(error))
    }
}

/// Returns the errors of all hosts in one line.
pub(super) fn list(errors: &[ConnectError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl PgError {
    /// Returns the SQLSTATE of the server (PostgreSQL documentation, appendix A).
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Failed(error) => error.code().map(tokio_postgres::error::SqlState::code),
            _ => None,
        }
    }

    /// Whether the connection failed, so that another connection may succeed.
    pub(super) fn is_connection_failure(&self) -> bool {
        match (self, self.code()) {
            // Shutdowns and crashes; a server that became a standby; lost prepared statements.
            (_, Some(code)) => {
                class(code) == "08" || code.starts_with("57P") || ["25006", "26000", "0A000"].contains(&code)
            }
            (Self::Failed(error), None) => is_lost(error),
            (Self::Timeout | Self::NotReplicated | Self::ReadOnly, None) => true,
            (Self::Unreachable(_) | Self::UnexpectedValue(_), None) => false,
        }
    }

    /// Whether the server stopped or broke the connection, or has no room for it.
    pub(super) fn is_server_away(&self) -> bool {
        match (self, self.code()) {
            (_, Some(code)) => is_away(code),
            (Self::Failed(error), None) => is_lost(error),
            _ => false,
        }
    }

    /// Counts the failure.
    pub(super) fn count(&self, options: &StoreOptions, access: Access) {
        options.metrics.count(("postgresql", access, self.error_type()));
    }

    /// Logs and counts the failure, and returns the error for the caller.
    pub(super) fn report(&self, options: &StoreOptions, access: Access) -> StoreError {
        let what = ("postgresql", access, self.error_type());
        options.metrics.failed(&options.log, what, self, self.code());
        self.error_type().into()
    }

    fn error_type(&self) -> ErrorType {
        match self {
            Self::Unreachable(errors) => type_of_connect_error(errors),
            Self::Timeout | Self::NotReplicated => ErrorType::Timeout,
            Self::ReadOnly => ErrorType::ReadOnly,
            Self::UnexpectedValue(_) => ErrorType::Rejected,
            Self::Failed(error) => match self.code() {
                Some(code) => type_of_code(code),
                None if is_lost(error) => ErrorType::Unreachable,
                None => ErrorType::Rejected,
            },
        }
    }
}

/// Returns the type for an SQLSTATE.
fn type_of_code(code: &str) -> ErrorType {
    match (class(code), code) {
        (_, "55P03") | ("40", _) => ErrorType::Locked,
        (_, "57014") => ErrorType::Timeout,
        (_, "25006") => ErrorType::ReadOnly,
        // Resources; limits of the program, such as that of transaction identifiers before their wraparound.
        ("53" | "54", _) => ErrorType::Full,
        // Connections, starts and stops, I/O; a wrong password, role or database.
        ("08" | "57" | "58" | "28" | "3D", _) => ErrorType::Unreachable,
        _ => ErrorType::Rejected,
    }
}

/// Returns the type of the first host that responded, else `Unreachable`.
fn type_of_connect_error(errors: &[ConnectError]) -> ErrorType {
    let error_type = errors.iter().find_map(|error| match error {
        ConnectError::Standby { .. } | ConnectError::Old { .. } => Some(ErrorType::ReadOnly),
        ConnectError::Refused { code: Some(code), .. } => Some(type_of_code(code)),
        _ => None,
    });
    error_type.filter(|it| *it != ErrorType::Rejected).unwrap_or(ErrorType::Unreachable)
}

/// Whether an SQLSTATE is about the connection, a start or stop of the server, too many connections, or a database that
/// accepts none.
fn is_away(code: &str) -> bool {
    class(code) == "08" || code.starts_with("57P") || ["53300", "55000"].contains(&code)
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
pub(in crate::storage) fn describe(error: &Error) -> String {
    let text = match (error.as_db_error(), error.source()) {
        (Some(server), _) => server.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_the_cause_upon_which_an_operator_acts() {
        for (code, error_type) in [
            // lock_timeout and a deadlock; statement_timeout and a cancellation are no locks.
            ("55P03", ErrorType::Locked),
            ("40P01", ErrorType::Locked),
            ("57014", ErrorType::Timeout),
            ("57P01", ErrorType::Unreachable),
            ("28P01", ErrorType::Unreachable),
            ("25006", ErrorType::ReadOnly),
            ("53100", ErrorType::Full),
            ("53300", ErrorType::Full),
            ("54000", ErrorType::Full),
            ("23505", ErrorType::Rejected),
            ("42501", ErrorType::Rejected),
        ] {
            assert_eq!(type_of_code(code), error_type, "{code}");
        }
    }
}
