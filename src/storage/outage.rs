//! The log of a database that fails: one record when an outage starts, one for each further kind of error, and
//! one when it is over.
//!
//! During an outage every request fails, thousands in a second with the same error. The metrics count all of
//! them, and the access log has the cause of each response.
//!
//! Reads and writes have separate outages: with a full disk, for example, only writes fail. An outage is over
//! with a success that comes [`QUIET`] or more after the last error, so that a database that fails only
//! sometimes does not fill the log.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slog::{Logger, error, warn};
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use super::error_type::ErrorType;

/// How long no error must occur.
const QUIET: Duration = Duration::from_secs(1);

/// What the database was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Connecting in order to write.
    Connect,
    Read,
    Write,
}

impl Access {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The outages of one store. A clone shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct Outages(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    reads: Mutex<Option<Outage>>,
    writes: Mutex<Option<Outage>>,
}

#[derive(Debug)]
struct Outage {
    log: Logger,
    since: Instant,
    last_error: Instant,
    /// The types of error that were logged.
    logged: Vec<ErrorType>,
    /// The number of errors that were not.
    suppressed: u64,
}

impl Outages {
    /// Logs an error, unless the current outage has had one of this type.
    pub(super) fn failed(
        &self,
        log: &Logger,
        access: Access,
        error_type: ErrorType,
        error: &dyn Display,
        code: Option<&str>,
    ) {
        if record_error(&mut self.outage(access), log, error_type, Instant::now()) {
            error!(log, "the database failed; further errors with this cause are only counted";
                "code" => code, "error" => %error, "doing" => access.as_str());
        }
    }

    /// Logs the end of an outage, if this success is one.
    pub(super) fn succeeded(&self, access: Access) {
        let ended = self.outage(access).take_if(|outage| outage.last_error.elapsed() >= QUIET);
        if let Some(Outage { log, since, last_error, suppressed, .. }) = ended {
            let away = Duration::from_millis(last_error.duration_since(since).as_millis() as u64);
            // A warning, so that it has the same readers as the error.
            warn!(log, "the database is back";
                "suppressed_errors" => suppressed, "after" => %humantime::format_duration(away),
                "doing" => access.as_str());
        }
    }

    fn outage(&self, access: Access) -> MutexGuard<'_, Option<Outage>> {
        let outage = match access {
            Access::Read => &self.0.reads,
            Access::Connect | Access::Write => &self.0.writes,
        };
        outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the error must be logged.
fn record_error(outage: &mut Option<Outage>, log: &Logger, error_type: ErrorType, now: Instant) -> bool {
    let outage = outage.get_or_insert_with(|| Outage {
        log: log.clone(),
        since: now,
        last_error: now,
        logged: Vec::new(),
        suppressed: 0,
    });
    outage.last_error = now;
    let is_new = !outage.logged.contains(&error_type);
    if is_new {
        outage.logged.push(error_type);
    } else {
        outage.suppressed += 1;
    }
    is_new
}

#[cfg(test)]
mod tests {
    use slog::{Discard, o};
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_cause_is_logged_once_until_the_outage_is_over() {
        let (log, outages) = (Logger::root(Discard, o!()), Outages::default());
        let failed =
            |error_type| record_error(&mut outages.outage(Access::Write), &log, error_type, Instant::now());
        assert!(failed(ErrorType::ConnectionLost));
        assert!(!failed(ErrorType::ConnectionLost));
        assert!(failed(ErrorType::Unreachable));
        advance(QUIET / 2).await;
        assert!(!failed(ErrorType::Unreachable));
        // A success among errors does not end it, nor does one of a read.
        advance(QUIET / 2).await;
        outages.succeeded(Access::Write);
        advance(QUIET / 2).await;
        outages.succeeded(Access::Read);
        assert_eq!(outages.outage(Access::Write).as_ref().map(|outage| outage.suppressed), Some(2));
        outages.succeeded(Access::Write);
        assert!(outages.outage(Access::Write).is_none());
        assert!(failed(ErrorType::ConnectionLost));
    }
}
