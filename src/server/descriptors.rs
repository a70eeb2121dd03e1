//! The limit on open file descriptors: each connection uses one, and the store a few.
//!
//! Shells and service managers start a process with a low soft limit, for old programs that use `select`.
//! This program does not, so it raises the soft limit to the hard limit. The limit is the only bound on
//! connections: more of them wait in the kernel's queue.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// With a lower limit, the service may not start, or may respond 503 to its first client.
const MINIMUM: u64 = 64;

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

/// While this exists, no connection is accepted.
pub struct AcceptPause(Rlimit);

/// Makes new connections wait in the kernel's queue: sets the limit to 0, which does not affect open
/// descriptors.
pub fn pause_accepting() -> AcceptPause {
    let limit = getrlimit(Resource::Nofile);
    // If this fails, a connection that arrives at the very end may be closed without a response.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit });
    AcceptPause(limit)
}

impl Drop for AcceptPause {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::Nofile, self.0);
    }
}
