//! How a store is opened.

use std::time::Duration;

use slog::Logger;

use super::metrics::StoreMetrics;

/// The options of a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The maximum length of the write queue; further writes fail with [`super::StoreError::Busy`].
    pub write_queue: usize,
    /// How long a write waits for a lock of another process.
    pub lock_timeout: Duration,
    /// The log for failures of which callers learn only the cause.
    pub log: Logger,
    /// The metrics.
    pub metrics: StoreMetrics,
}

/// Why a store could not be opened. One line that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);
