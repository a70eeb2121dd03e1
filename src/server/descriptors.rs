//! The limit on open files, which must allow all connections at the same time.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::operators;
use crate::config::{Config, ConfigError};

/// The file descriptors of the process itself and its listeners.
const OWN_DESCRIPTORS: usize = 24;

/// Raises the soft limit on open files, which is low for old programs that use `select`, to the hard limit. Checks that
/// it allows all connections of clients and operators, and the `store` descriptors of a store.
///
/// # Errors
/// When it does not.
pub fn reserve_descriptors(config: &Config, store: usize) -> Result<(), ConfigError> {
    let limit = getrlimit(Resource::Nofile);
    // Some systems reject their own hard limit; the soft limit then stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let needed = OWN_DESCRIPTORS + operators::LIMITS.max + store + config.connections.max;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed as u64 => {
            let problem = format!(
                "the limit on open files is {limit}, and the service may need {needed}; raise it with ulimit -n, or \
                 lower connections.max"
            );
            Err(config.with_source("connections.max", problem))
        }
        _ => Ok(()),
    }
}
