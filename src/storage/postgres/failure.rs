//! What can go wrong with a server, and what of it becomes a [`StoreError`]. The details go to the log, not
//! to the caller.

use std::error::Error as _;
use std::fmt;

use slog::{Logger, error};
use tokio_postgres::Error;

use super::address::ConnectError;
use crate::storage::StoreError;

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

    /// Logs what went wrong while `doing` something, and tells the caller as much as is good for them.
    pub(super) fn tell(&self, log: &Logger, doing: &'static str) -> StoreError {
        error!(log, "the database failed"; "doing" => doing, "error" => %self, "code" => self.code());
        self.told()
    }

    /// What a caller may know.
    pub(super) fn told(&self) -> StoreError {
        let unavailable = |why: &str| StoreError::Unavailable(why.to_owned());
        match self {
            Self::Unreachable(_) => unavailable("it cannot be reached"),
            Self::Late => unavailable("it did not answer in time"),
            Self::Doubtful => unavailable("it does not know whether a write was replicated"),
            Self::NotOurs(_) => StoreError::Broken("it holds a value that it should not".to_owned()),
            Self::Failed(error) => match self.code() {
                Some(code) => match (class(code), code) {
                    (_, "55P03" | "57014") | ("40", _) => unavailable("others were in the way for too long"),
                    ("08" | "57", _) => unavailable("it is stopping or starting"),
                    (_, "25006") => unavailable("it cannot be written"),
                    ("53" | "58", _) => unavailable("it is out of resources"),
                    ("28", _) | (_, "42501") => unavailable("it refuses access"),
                    _ => StoreError::Broken("the database refused a statement".to_owned()),
                },
                None if is_lost(error) => unavailable("the connection to it was lost"),
                None => StoreError::Broken("it answered what was not understood".to_owned()),
            },
        }
    }
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
