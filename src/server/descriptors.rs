//! The limit on open file descriptors: each connection uses one, and the store as many as it says.
//!
//! Shells and service managers start a process with a low soft limit, for old programs that use `select`.
//! This program does not, so it raises the soft limit to the hard limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::operators;
use super::options::StartError;

/// With a lower limit, the service may not start, or may respond 503 to its first client.
const MINIMUM: u64 = 64;
/// The descriptors of the process itself and its listeners.
const OWN: usize = 24;

/// Raises the limit on open files to the hard limit.
///
/// # Errors
/// One line, if the limit is too low.
pub fn raise() -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    // Some systems reject their own hard limit; the soft limit then stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < MINIMUM => Err(format!(
            "the limit on open files is {limit}, and the service needs at least {MINIMUM}; raise it with ulimit -n"
        )),
        _ => Ok(()),
    }
}

/// Returns the number of connections for which descriptors are left, beside those of the process, the operators and the
/// store, which uses `store` of them.
///
/// # Errors
/// [`StartError::Descriptors`], if none are left.
pub(super) fn for_connections(store: usize) -> Result<usize, StartError> {
    let limit = getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok());
    let reserve = OWN + operators::MAX_CONNECTIONS + store;
    match limit {
        None => Ok(usize::MAX),
        Some(limit) if limit > reserve => Ok(limit - reserve),
        Some(limit) => Err(StartError::Descriptors { limit, reserve }),
    }
}
