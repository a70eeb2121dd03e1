//! Why a server does not start, and the limit on open files, which is one of the reasons.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::operators;
use crate::config::Config;
use crate::http::RouterError;

/// Why a server did not start: one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct StartError {
    /// The setting that caused the error, if one did.
    pub setting: Option<&'static str>,
    problem: String,
}

impl StartError {
    /// Returns the error of a setting.
    pub(super) fn of(setting: &'static str, problem: String) -> Self {
        Self { setting: Some(setting), problem }
    }
}

impl From<RouterError> for StartError {
    fn from(error: RouterError) -> Self {
        Self { setting: None, problem: error.to_string() }
    }
}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        Self { setting: None, problem: format!("cannot accept connections: {error}") }
    }
}

/// The file descriptors of the process itself and its listeners.
const OWN_DESCRIPTORS: usize = 24;

/// Raises the soft limit on open files, which is low for old programs that use `select`, to the hard limit. Checks that
/// it allows all connections of clients and operators, and the `store` descriptors of a store.
///
/// # Errors
/// When it does not.
pub fn reserve_descriptors(config: &Config, store: usize) -> Result<(), StartError> {
    let limit = getrlimit(Resource::Nofile);
    // Some systems reject their own hard limit; the soft limit then stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let needed = OWN_DESCRIPTORS + operators::MAX_CONNECTIONS + store + config.connections.max;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed as u64 => Err(StartError::of(
            "connections.max",
            format!(
                "the limit on open files is {limit}, and the service may need {needed}; raise it with ulimit -n, or \
                 lower connections.max"
            ),
        )),
        _ => Ok(()),
    }
}
