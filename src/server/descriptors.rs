//! File descriptors: each connection takes one, and the store a few.
//!
//! Shells and service managers give a process a low limit that it may raise by itself, for the sake of
//! old programs that use `select`. Nothing here does, so the limit is raised as far as it goes. It is the
//! only bound on connections: what comes when all are taken waits in the kernel's queue.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// With fewer, the service starts on some days and not on others, or answers 503 to its first client.
const FEWEST: u64 = 64;

/// Raises the limit on open files to the most that is allowed.
///
/// # Errors
/// One line, if that is too little.
pub fn raise() -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    // Some systems refuse what they call allowed; then it stays as it was.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    match getrlimit(Resource::Nofile).current {
        Some(few) if few < FEWEST => Err(format!(
            "no more than {few} files may be open at once, and {FEWEST} are the least; raise the limit \
             (ulimit -n)"
        )),
        _ => Ok(()),
    }
}

/// As long as this is there, no connection is accepted.
pub struct HeldBack(Rlimit);

/// Lets what comes from now on wait in the kernel's queue, by leaving it no descriptor. What is open stays
/// open.
pub fn hold_back() -> HeldBack {
    let limit = getrlimit(Resource::Nofile);
    // If that is refused, a connection that comes at the very end may be closed without an answer.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit });
    HeldBack(limit)
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        let _ = setrlimit(Resource::Nofile, self.0);
    }
}
