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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use slog::{Logger, error, warn};

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
    reads: Direction,
    writes: Direction,
    /// The host of the last connection.
    host: Mutex<Option<String>>,
}

/// Reads or writes.
#[derive(Debug, Default)]
struct Direction {
    /// Whether there is an outage. Spares successes the lock.
    is_out: AtomicBool,
    outage: Mutex<Option<Outage>>,
}

#[derive(Debug)]
struct Outage {
    log: Logger,
    since: Instant,
    last_error: Instant,
    /// The first success after the last error.
    back: Option<Instant>,
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
        if self.0.direction(access).failed(log, error_type, Instant::now()) {
            error!(log, "the database failed; further errors with this cause are only counted";
                "code" => code, "error" => %error, "doing" => access.as_str());
        }
    }

    /// Logs the end of an outage, if this success is one.
    pub(super) fn succeeded(&self, access: Access) {
        let direction = self.0.direction(access);
        if !direction.is_out.load(Ordering::Relaxed) {
            return;
        }
        if let Some((outage, away)) = direction.succeeded(Instant::now()) {
            let host = self.0.host.lock().unwrap_or_else(PoisonError::into_inner).clone();
            // A warning, so that it has the same readers as the error.
            warn!(outage.log, "the database is back";
                "host" => host, "suppressed_errors" => outage.suppressed,
                "after" => %humantime::format_duration(Duration::from_millis(away)),
                "doing" => access.as_str());
        }
    }

    /// Remembers the host of a new connection.
    pub(super) fn connected_to(&self, host: &str) {
        *self.0.host.lock().unwrap_or_else(PoisonError::into_inner) = Some(host.to_owned());
    }
}

impl Inner {
    fn direction(&self, access: Access) -> &Direction {
        match access {
            Access::Read => &self.reads,
            Access::Connect | Access::Write => &self.writes,
        }
    }
}

impl Direction {
    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an error. Returns whether it must be logged.
    fn failed(&self, log: &Logger, error_type: ErrorType, now: Instant) -> bool {
        let mut outage = self.outage();
        let outage = outage.get_or_insert_with(|| Outage {
            log: log.clone(),
            since: now,
            last_error: now,
            back: None,
            logged: Vec::new(),
            suppressed: 0,
        });
        self.is_out.store(true, Ordering::Relaxed);
        outage.last_error = now;
        outage.back = None;
        let is_new = !outage.logged.contains(&error_type);
        if is_new {
            outage.logged.push(error_type);
        } else {
            outage.suppressed += 1;
        }
        is_new
    }

    /// Records a success. Returns the outage that it ends, and its duration in milliseconds.
    fn succeeded(&self, now: Instant) -> Option<(Outage, u64)> {
        let mut outage = self.outage();
        let ended = outage.as_mut()?;
        let back = *ended.back.get_or_insert(now);
        if now.saturating_duration_since(ended.last_error) < QUIET {
            return None;
        }
        let away = back.saturating_duration_since(ended.since).as_millis();
        self.is_out.store(false, Ordering::Relaxed);
        outage.take().map(|outage| (outage, u64::try_from(away).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use slog::{Discard, o};

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn each_cause_is_logged_once_until_the_outage_is_over() {
        let (log, direction, start) = (Logger::root(Discard, o!()), Direction::default(), Instant::now());
        let at = |milliseconds: u32| start + MILLISECOND * milliseconds;
        assert!(direction.succeeded(start).is_none());
        assert!(direction.failed(&log, ErrorType::ConnectionLost, start));
        assert!(!direction.failed(&log, ErrorType::ConnectionLost, at(1)));
        assert!(direction.failed(&log, ErrorType::Unreachable, at(2)));
        for millisecond in 3..1003 {
            assert!(!direction.failed(&log, ErrorType::Unreachable, at(millisecond)));
        }
        // One success among errors does not end it.
        assert!(direction.succeeded(at(1100)).is_none());
        assert!(!direction.failed(&log, ErrorType::ConnectionLost, at(1200)));
        assert!(direction.succeeded(at(1300)).is_none());
        assert!(direction.succeeded(at(2199)).is_none());
        let (outage, away) = direction.succeeded(at(2200)).unwrap();
        // Up to the first success after the last error.
        assert_eq!((outage.suppressed, away), (1002, 1300));
        assert!(!direction.is_out.load(Ordering::Relaxed));
        assert!(direction.succeeded(at(2300)).is_none());

        assert!(direction.failed(&log, ErrorType::ConnectionLost, at(5000)));
        // The first success after a quiet time.
        assert_eq!(
            direction.succeeded(at(9000)).map(|(outage, away)| (outage.suppressed, away)),
            Some((0, 4000))
        );
    }

    #[test]
    fn reads_and_writes_fail_separately() {
        let outages = Outages::default();
        let log = Logger::root(Discard, o!());
        outages.failed(&log, Access::Connect, ErrorType::DiskFull, &"full", None);
        assert!(outages.0.writes.is_out.load(Ordering::Relaxed));
        assert!(!outages.0.reads.is_out.load(Ordering::Relaxed));
        outages.succeeded(Access::Read);
        assert!(outages.0.direction(Access::Write).outage().is_some());
    }
}
