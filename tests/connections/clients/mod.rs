//! Clients of the service: hostile ones, and good ones beside them.

pub mod frames;
pub mod good;
pub mod hostile;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files to the hard limit. Returns the number of connections that can be open:
/// `wanted`, or what that limit allows beside 200 descriptors for other purposes.
pub fn possible(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    // Some systems reject their own hard limit; the soft limit then stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let most =
        getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most.try_into().unwrap_or(usize::MAX));
    wanted.min(most.saturating_sub(200))
}
