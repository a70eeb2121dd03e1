//! The metrics of the log: what could not be written.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use strum::IntoStaticStr;

use crate::telemetry::Label;

/// The order in which records are dropped, first the least important.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Importance {
    /// A response below status 500.
    Response,
    /// A response from status 500.
    ServerError,
    /// Any other record.
    Other,
}

/// The metrics of the log. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct LogMetrics {
    write_errors: Counter,
    dropped: Family<Label, Counter>,
}

impl LogMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "log_write_errors",
            "Failed writes to standard error; each loses the buffered records",
            self.write_errors.clone(),
        );
        registry.register(
            "log_records_dropped",
            "Log records that were dropped, because standard error was not read",
            self.dropped.clone(),
        );
    }

    pub(super) fn write_failed(&self) {
        self.write_errors.inc();
    }

    pub(super) fn dropped(&self, importance: Importance) {
        self.dropped.get_or_create(&[("record", importance.into())]).inc();
    }
}
