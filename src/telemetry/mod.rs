//! What operators see: metrics and log records.

pub mod logging;
pub mod metrics;
