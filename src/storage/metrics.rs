//! What a store counts, whatever the engine: the writes that wait, how many are committed together, and
//! what the database fails at.
//!
//! OpenTelemetry (semantic conventions for database client metrics) names neither a queue nor batches nor
//! errors alone, so the names are ours; the labels are its attributes `db.system.name`, `db.operation.name`
//! and `error.type`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::cause::Cause;

/// Up to the largest batch that the engines make.
const BATCHES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The counts of one store. A clone counts the same.
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

/// What a database was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// To be there, so that something can be written.
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
    /// Puts the counts on a page.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "store_write_queue_depth",
            "Writes that wait for their turn at the database",
            self.queue.clone(),
        );
        registry.register(
            "store_write_batch_size",
            "Writes that were committed together",
            self.batches.clone(),
        );
        registry.register(
            "database_errors",
            "Times that the database failed; one for a batch of writes",
            self.errors.clone(),
        );
    }

    /// A write joins the queue.
    pub(super) fn joined(&self) {
        self.queue.inc();
    }

    /// So many writes left the queue.
    pub(super) fn left(&self, count: usize) {
        self.queue.dec_by(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// So many writes were committed together.
    pub(super) fn committed(&self, count: usize) {
        // More than 2^53 do not fit into memory.
        self.batches.observe(count as f64);
    }

    /// The database `system` (OpenTelemetry's `db.system.name`) failed.
    pub(super) fn failed(&self, system: &'static str, operation: Operation, cause: Cause) {
        let labels = ErrorLabels {
            db_system_name: system,
            db_operation_name: operation.as_str(),
            error_type: cause.label(),
        };
        self.errors.get_or_create(&labels).inc();
    }
}
