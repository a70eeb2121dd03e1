//! What operations can reach: the store, the cursors, the rate limiter and the metrics.

use std::sync::Arc;
use std::time::Duration;

use crate::cursor::Cursors;
use crate::rate_limit::{RateLimit, RateLimiter};
use crate::storage::Store;
use crate::telemetry::metrics::Metrics;

/// What operations share.
pub struct Service {
    /// The animals and the API keys.
    pub(crate) store: Arc<Store>,
    /// Signs and verifies the cursors of pages.
    pub(crate) cursors: Cursors,
    /// `None` without a rate limit.
    pub(crate) rate_limiter: Option<RateLimiter>,
    /// The maximum duration of a request.
    pub(crate) request_timeout: Duration,
    /// What operators can count.
    pub(crate) metrics: Arc<Metrics>,
}

impl Service {
    /// Creates the service of a store.
    pub(crate) fn new(
        store: Arc<Store>,
        rate_limit: Option<RateLimit>,
        request_timeout: Duration,
        metrics: Arc<Metrics>,
    ) -> Self {
        let cursors = Cursors::new(&store.secret());
        let rate_limiter = rate_limit.and_then(RateLimiter::new);
        Self { store, cursors, rate_limiter, request_timeout, metrics }
    }
}
