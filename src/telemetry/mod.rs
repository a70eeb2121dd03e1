//! What operators see: metrics and log records.

pub mod certificate;
pub mod connections;
pub mod logging;
pub mod metrics;
mod process;
