//! What can go wrong with a server, and what of it becomes a [`StoreError`]. The details go to the log, not
//! to the caller.

use std::error::Error as _;
use std::fmt;

use slog::error;
use tokio_postgres::Error;

use super::address::ConnectError;
use crate::storage::cause::Cause;
use crate::storage::metrics::Operation;
use crate::storage::{StoreError, StoreOptions};

/// Why something was not done, or why nobody knows whether it was.
#[derive(Debug)]
pub(super) enum Failure {
    /// No host could be connected to. Nothing was sent.
    Unreachable(Vec<ConnectError>),
    /// The server or the connection to it failed.
    Failed(Error),
    /// No answer came in time.
    Late,
    /// The server committed a write but warned while it did, as when its wait for a standby is cut short.
    Doubtful,
    /// A row holds what this program would not have stored.
    NotOurs(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(errors) => {
                let hosts: Vec<_> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&hosts.join("; "))
            }
            Self::Failed(error) => f.write_str(&describe(error)),
            Self::Late => f.write_str("no answer came in time"),
            Self::Doubtful => f.write_str("the server warned while it committed"),
            Self::NotOurs(why) => f.write_str(why),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Failure {
    /// The SQLSTATE that the server gave (PostgreSQL documentation, appendix A).
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Failed(error) => error.code().map(tokio_postgres::error::SqlState::code),
            _ => None,
        }
    }

    /// Whether the server refused a statement because of the values in it, and did nothing.
    pub(super) fn is_about_values(&self) -> bool {
        // Data exception, integrity constraint violation, program limit exceeded, raised by a trigger.
        self.code().is_some_and(|code| ["22", "23", "54", "P0"].contains(&class(code)))
    }

    /// Whether a statement failed with its connection, so that another connection may do better.
    pub(super) fn is_of_connection(&self) -> bool {
        match (self, self.code()) {
            // Shutdowns and crashes; a server that became a standby; statements that it forgot.
            (_, Some(code)) => {
                code.starts_with("08")
                    || code.starts_with("57P")
                    || ["25006", "26000", "0A000"].contains(&code)
            }
            (Self::Failed(error), None) => is_lost(error),
            (Self::Late | Self::Doubtful, None) => true,
            (Self::Unreachable(_) | Self::NotOurs(_), None) => false,
        }
    }

    /// Logs and counts what went wrong, and tells the caller as much as is good for them.
    pub(super) fn tell(&self, options: &StoreOptions, operation: Operation) -> StoreError {
        error!(options.log, "the database failed";
            "doing" => operation.as_str(), "error" => %self, "code" => self.code());
        options.metrics.failed("postgresql", operation, self.cause());
        self.told()
    }

    /// What a caller may know.
    pub(super) fn told(&self) -> StoreError {
        self.cause().into()
    }

    fn cause(&self) -> Cause {
        match self {
            Self::Unreachable(errors) => unreachable(errors),
            Self::Late => Cause::Timeout,
            Self::Doubtful => Cause::NotReplicated,
            Self::NotOurs(_) => Cause::UnexpectedValue,
            Self::Failed(error) => match self.code() {
                Some(code) => told_by(code).unwrap_or(Cause::RefusedStatement),
                None if is_lost(error) => Cause::ConnectionLost,
                None => Cause::NotUnderstood,
            },
        }
    }
}

/// The cause that a SQLSTATE tells, if it is not the statement itself.
fn told_by(code: &str) -> Option<Cause> {
    Some(match (class(code), code) {
        (_, "55P03" | "57014") | ("40", _) => Cause::Locked,
        ("08" | "57", _) => Cause::Restarting,
        (_, "25006") => Cause::ReadOnly,
        (_, "53100") => Cause::DiskFull,
        ("53", _) => Cause::OutOfResources,
        ("58", _) => Cause::Io,
        ("28" | "3D", _) | (_, "42501") => Cause::AccessDenied,
        _ => return None,
    })
}

/// The cause that the most telling of the hosts gives: one that answered says more than one that did not.
fn unreachable(errors: &[ConnectError]) -> Cause {
    let told = errors.iter().find_map(|error| match error {
        ConnectError::ReadOnly { .. } => Some(Cause::ReadOnly),
        ConnectError::Refused { code: Some(code), .. } => told_by(code),
        ConnectError::Refused { code: None, .. } | ConnectError::Unreachable { .. } => None,
    });
    told.unwrap_or(Cause::Unreachable)
}

/// The first two characters of a SQLSTATE.
fn class(code: &str) -> &str {
    code.get(..2).unwrap_or_default()
}

/// Whether the connection is gone.
fn is_lost(error: &Error) -> bool {
    error.is_closed() || error.source().is_some_and(|source| source.is::<std::io::Error>())
}

/// One line with all that is known, which may name tables and users, never a password.
pub(super) fn describe(error: &Error) -> String {
    let text = match (error.as_db_error(), error.source()) {
        (Some(server), _) => server.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    };
    text.replace(char::is_control, " ")
}
