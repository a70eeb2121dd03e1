//! The metrics of every engine: the length of the write queue, the sizes of batches, and database errors.
//!
//! OpenTelemetry (semantic conventions for database client metrics) has no names for these metrics. The
//! labels are its attributes `db.system.name`, `db.operation.name` and `error.type`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::cause::Cause;

/// The buckets, up to the largest batch of the engines.
const BATCHES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The metrics of one store. A clone shares them.
#[derive(Clone, Debug)]
pub struct StoreMetrics {
    queue: Gauge,
    batches: Histogram,
    errors: Family<ErrorLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    db_system_name: &'static str,
    db_operation_name: &'static str,
    error_type: &'static str,
}

/// What the database was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Connecting in order to write.
    Connect,
    Read,
    Write,
}

impl Operation {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self { queue: Gauge::default(), batches: Histogram::new(BATCHES), errors: Family::default() }
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

    /// Counts a write that enters the queue.
    pub(super) fn enqueued(&self) {
        self.queue.inc();
    }

    /// Counts writes that leave the queue.
    pub(super) fn dequeued(&self, count: usize) {
        self.queue.dec_by(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Counts a commit of this many writes.
    pub(super) fn committed(&self, count: usize) {
        // A batch is far smaller than 2^53.
        self.batches.observe(count as f64);
    }

    /// Counts an error of the database `system` (`db.system.name` of OpenTelemetry).
    pub(super) fn failed(&self, system: &'static str, operation: Operation, cause: Cause) {
        let labels = ErrorLabels {
            db_system_name: system,
            db_operation_name: operation.as_str(),
            error_type: cause.label(),
        };
        self.errors.get_or_create(&labels).inc();
    }
}
