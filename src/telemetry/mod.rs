//! What operators see: metrics and log records.

mod classic;
pub(crate) mod format;
pub mod logging;
pub mod metrics;

use prometheus_client::registry::{Metric, Registry};

/// The label of a metric that has only one: its name and a value.
type Label = [(&'static str, &'static str); 1];

/// Creates a metric and registers it.
fn registered<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}
