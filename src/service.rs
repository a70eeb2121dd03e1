//! What operations can reach: the store, the cursors, the rate limit of each API key, and the metrics.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter as Governor};
use serde::Deserialize;

use crate::cursor::Cursors;
use crate::keys::KeyId;
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

/// The maximum number of requests of an API key: `requests` in each `period`, in a burst or spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The number of requests, at least 1.
    pub requests: NonZeroU32,
    /// The period in whole seconds, at least 1.
    #[serde(with = "humantime_serde")]
    pub period: Duration,
}

/// Counts the requests of each API key.
pub(crate) struct RateLimiter {
    pub(crate) limit: RateLimit,
    governor: Governor<KeyId, DefaultKeyedStateStore<KeyId>, TokioClock, NoOpMiddleware<Instant>>,
}

/// The clock of the tokio runtime, which tests can pause and advance.
#[derive(Clone, Copy, Debug)]
struct TokioClock;

impl Clock for TokioClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

impl RateLimiter {
    /// Returns `None` when the period is zero.
    pub(crate) fn new(limit: RateLimit) -> Option<Self> {
        let quota = Quota::with_period(limit.period / limit.requests.get())?.allow_burst(limit.requests);
        Some(Self { limit, governor: Governor::dashmap_with_clock(quota, TokioClock) })
    }

    /// Counts a request of `key`.
    ///
    /// # Errors
    /// The number of seconds until the next request is allowed, if the limit is exceeded. At least 1.
    pub(crate) fn check(&self, key: &KeyId) -> Result<(), u64> {
        self.governor.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(TokioClock.now());
            (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
        })
    }
}
