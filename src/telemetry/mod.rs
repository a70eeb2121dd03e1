//! What operators see: metrics and log records.

pub mod certificate;
pub mod connections;
pub mod logging;
pub mod metrics;
mod process;

/// The label of a metric that has only one: its name and a value.
type Label = [(&'static str, &'static str); 1];
