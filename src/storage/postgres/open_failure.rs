//! Why a database cannot be opened.

use tokio_postgres::Error;

use super::error::describe;
use super::migrations::NEWEST;

/// Why a database cannot be opened: the end of a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenFailure {
    #[error("{0}")]
    Unsuitable(String),
    #[error("cannot be used: {}", describe(.0))]
    Failed(#[from] Error),
}

impl OpenFailure {
    pub(super) fn privileges(user: &str, why: &str) -> Self {
        Self::Unsuitable(format!(
            "does not grant {user} the necessary privileges: {why}; grant them, or connect as the owner"
        ))
    }

    /// Migrations are missing, and the options do not allow to apply them. `None` for all of them.
    pub(super) fn unmigrated(version: Option<i64>) -> Self {
        let lacks = match version {
            None => "has no tables of this program".to_owned(),
            Some(NEWEST) => "was not set up completely".to_owned(),
            Some(number) => format!("has format {number}, but this command needs {NEWEST}"),
        };
        Self::Unsuitable(format!(
            "{lacks}; create or migrate it with `animal-store serve` or `animal-store key create NAME`"
        ))
    }
}
