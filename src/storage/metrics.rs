//! What operators learn of every engine: metrics of the write queue, the batches and database errors, and the log of an
//! outage.
//!
//! OpenTelemetry (semantic conventions for database client metrics) has no names for these metrics. The
//! labels are its attributes `db.system.name`, `db.operation.name` and `error.type`.
//!
//! The log has one record when an outage starts, one for each further kind of error, and one when it is over. During an
//! outage every request fails, thousands in a second with the same error: the metrics count all of them, and the access
//! log has the cause of each response.
//!
//! Reads and writes have separate outages: with a full disk, for example, only writes fail. An outage is over with a success
//! that comes [`QUIET`] or more after the last error, so that a database that fails only sometimes does not fill the log.

use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use slog::{Logger, error, warn};
use strum::IntoStaticStr;
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use super::types::ErrorType;

/// The buckets, up to the largest batch of the engines.
const BATCHES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// How long no error must occur.
const QUIET: Duration = Duration::from_secs(1);

/// The metrics of one store. A clone shares them.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// The writes in the queue.
    pub(super) queue: Gauge,
    batches: Histogram,
    errors: Family<[(&'static str, &'static str); 3], Counter>,
    /// The present outage of reads.
    reads: Arc<Mutex<Option<Outage>>>,
    /// The present outage of writes.
    writes: Arc<Mutex<Option<Outage>>>,
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

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            queue: Gauge::default(),
            batches: Histogram::new(BATCHES),
            errors: Family::default(),
            reads: Arc::default(),
            writes: Arc::default(),
        }
    }
}

impl StoreMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("store_write_queue_depth", "Writes in the queue", self.queue.clone());
        registry.register("store_write_batch_size", "Writes in one commit", self.batches.clone());
        let errors = "Errors of the database; one for a batch of writes";
        registry.register("database_errors", errors, self.errors.clone());
    }

    /// Counts a commit of this many writes. One that changed nothing is not a batch.
    pub(super) fn committed(&self, count: usize) {
        if count > 0 {
            // A batch is far smaller than 2^53.
            self.batches.observe(count as f64);
        }
        self.succeeded(Access::Write);
    }

    /// Must be called after each read, because it may end an outage.
    pub(super) fn read(&self) {
        self.succeeded(Access::Read);
    }

    /// Counts an error of the database `system` (`db.system.name` of OpenTelemetry), and logs the first one of
    /// an outage. `code` is the error code of the database.
    pub(super) fn failed(
        &self,
        log: &Logger,
        what: (&'static str, Access, ErrorType),
        error: &dyn Display,
        code: Option<&str>,
    ) {
        self.count(what);
        let (_, access, error_type) = what;
        let mut current = self.outage(access);
        let now = Instant::now();
        let outage = current.get_or_insert_with(|| Outage {
            log: log.clone(),
            since: now,
            last_error: now,
            logged: Vec::new(),
            suppressed: 0,
        });
        outage.last_error = now;
        if outage.logged.contains(&error_type) {
            outage.suppressed += 1;
            return;
        }
        outage.logged.push(error_type);
        error!(log, "the database failed; further errors with this cause are only counted";
            "code" => code, "error" => %error, "doing" => <&str>::from(access));
    }

    /// Counts an error like [`Self::failed`], without a record in the log.
    pub(super) fn count(&self, (system, access, error_type): (&'static str, Access, ErrorType)) {
        let labels = [
            ("db_system_name", system),
            ("db_operation_name", access.into()),
            ("error_type", error_type.into()),
        ];
        self.errors.get_or_create(&labels).inc();
    }

    /// Logs the end of an outage, if this success is one.
    fn succeeded(&self, access: Access) {
        let ended = self.outage(access).take_if(|outage| outage.last_error.elapsed() >= QUIET);
        if let Some(Outage { log, since, last_error, suppressed, .. }) = ended {
            let away = Duration::from_millis(last_error.duration_since(since).as_millis() as u64);
            // A warning, so that it has the same readers as the error.
            warn!(log, "the database is back";
                "suppressed_errors" => suppressed, "after" => %humantime::format_duration(away),
                "doing" => <&str>::from(access));
        }
    }

    fn outage(&self, access: Access) -> MutexGuard<'_, Option<Outage>> {
        let outage = match access {
            Access::Read => &self.reads,
            Access::Connect | Access::Write => &self.writes,
        };
        outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the database was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Access {
    /// Connecting in order to write.
    Connect,
    Read,
    Write,
}

#[cfg(test)]
mod tests {
    use slog::{Discard, o};
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_cause_is_logged_once_until_the_outage_is_over() {
        let (log, metrics) = (Logger::root(Discard, o!()), StoreMetrics::default());
        // Returns how many errors were logged, and how many were not.
        let failed = |error_type| {
            metrics.failed(&log, ("sqlite", Access::Write, error_type), &"an error", None);
            metrics.outage(Access::Write).as_ref().map(|outage| (outage.logged.len(), outage.suppressed))
        };
        assert_eq!(failed(ErrorType::Locked), Some((1, 0)));
        assert_eq!(failed(ErrorType::Locked), Some((1, 1)));
        assert_eq!(failed(ErrorType::Unreachable), Some((2, 1)));
        advance(QUIET / 2).await;
        assert_eq!(failed(ErrorType::Unreachable), Some((2, 2)));
        // A success among errors does not end it, nor does one of a read.
        advance(QUIET / 2).await;
        metrics.succeeded(Access::Write);
        advance(QUIET / 2).await;
        metrics.succeeded(Access::Read);
        assert!(metrics.outage(Access::Write).is_some());
        metrics.succeeded(Access::Write);
        assert!(metrics.outage(Access::Write).is_none());
        assert_eq!(failed(ErrorType::Locked), Some((1, 0)));
    }
}
