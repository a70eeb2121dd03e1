//! How many requests a key may make.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use serde::{Deserialize, Serialize};

use crate::keys::KeyId;

/// How many requests a key may make: `requests` in each `period`, all at once if it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// At least 1.
    pub requests: NonZeroU32,
    /// Whole seconds, at least one.
    #[serde(with = "humantime_serde")]
    pub period: Duration,
}

/// Counts requests against a limit.
pub(crate) struct Limiter {
    pub(crate) limit: RateLimit,
    requests: Requests,
}

type Requests = RateLimiter<KeyId, DefaultKeyedStateStore<KeyId>, RuntimeClock, NoOpMiddleware<Instant>>;

/// The clock of the tokio runtime, which a test can stop and advance.
#[derive(Clone, Copy, Debug)]
struct RuntimeClock;

impl Clock for RuntimeClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

impl Limiter {
    /// Returns `None` when the period is zero.
    pub(crate) fn new(limit: RateLimit) -> Option<Self> {
        let quota = Quota::with_period(limit.period / limit.requests.get())?.allow_burst(limit.requests);
        Some(Self { limit, requests: RateLimiter::dashmap_with_clock(quota, RuntimeClock) })
    }

    /// Counts a request against its key.
    ///
    /// # Errors
    /// The seconds until there is one again, at least 1.
    pub(crate) fn spend(&self, key: &KeyId) -> Result<(), u64> {
        self.requests.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(RuntimeClock.now());
            (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
        })
    }
}
