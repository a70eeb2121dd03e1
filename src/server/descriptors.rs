//! The limit on open file descriptors: each connection uses one, and the store a few.
//!
//! Shells and service managers start a process with a low soft limit, for old programs that use `select`.
//! This program does not, so it raises the soft limit to the hard limit.

use std::thread::available_parallelism;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::operators;

/// With a lower limit, the service may not start, or may respond 503 to its first client.
const MINIMUM: u64 = 64;
/// The descriptors of the process itself, its listeners, and the store's writer.
const OWN: usize = 24;
/// The files of the connection to an SQLite database that each thread reads with.
const PER_THREAD: usize = 3;

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

/// Returns the number of connections for which descriptors are left, at least 1.
pub(super) fn for_connections() -> usize {
    let limit = getrlimit(Resource::Nofile).current.and_then(|limit| usize::try_from(limit).ok());
    let threads = available_parallelism().map_or(1, usize::from);
    let reserve = OWN + PER_THREAD * threads + operators::MAX_CONNECTIONS;
    limit.map_or(usize::MAX, |limit| limit.saturating_sub(reserve).max(1))
}
