//! The metrics of every engine: the length of the write queue, the sizes of batches, and database errors.
//!
//! OpenTelemetry (semantic conventions for database client metrics) has no names for these metrics. The
//! labels are its attributes `db.system.name`, `db.operation.name` and `error.type`.

use std::fmt::Display;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use slog::Logger;

use super::error::ErrorType;
use super::outage::Outages;

pub(super) use super::outage::Access;

/// The buckets, up to the largest batch of the engines.
const BATCHES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The metrics of one store. A clone shares them.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    /// The writes in the queue.
    pub(super) queue: Gauge,
    batches: Histogram,
    errors: Family<Labels<3>, Counter>,
    outages: Outages,
}

/// The names of labels, with their values.
type Labels<const N: usize> = [(&'static str, &'static str); N];

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            queue: Gauge::default(),
            batches: Histogram::new(BATCHES),
            errors: Family::default(),
            outages: Outages::default(),
        }
    }
}

impl StoreMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("store_write_queue_depth", "Writes in the queue", self.queue.clone());
        registry.register("store_write_batch_size", "Writes in one commit", self.batches.clone());
        registry.register(
            "database_errors",
            "Errors of the database; one for a batch of writes",
            self.errors.clone(),
        );
    }

    /// Counts a commit of this many writes. One that changed nothing is not a batch.
    pub(super) fn committed(&self, count: usize) {
        if count > 0 {
            // A batch is far smaller than 2^53.
            self.batches.observe(count as f64);
        }
        self.outages.succeeded(Access::Write);
    }

    /// Must be called after each read, because it may end an outage.
    pub(super) fn read(&self) {
        self.outages.succeeded(Access::Read);
    }

    /// Counts an error of the database `system` (`db.system.name` of OpenTelemetry), and logs the first one of
    /// an outage. `code` is the error code of the database.
    pub(super) fn failed(
        &self,
        log: &Logger,
        (system, access, error_type): (&'static str, Access, ErrorType),
        error: &dyn Display,
        code: Option<&str>,
    ) {
        self.outages.failed(log, access, error_type, error, code);
        let labels = [
            ("db_system_name", system),
            ("db_operation_name", access.into()),
            ("error_type", error_type.into()),
        ];
        self.errors.get_or_create(&labels).inc();
    }
}
