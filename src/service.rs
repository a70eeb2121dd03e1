//! What every operation can reach: the store, the cursors, the keys and the limits.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use http::HeaderMap;
use jiff::Timestamp;
use slog::Logger;

use crate::cursor::Cursors;
use crate::edge::Edge;
use crate::keys::{self, KeyId};
use crate::responses::Refusal;
use crate::storage::Store;

/// The context that dropshot hands to each handler. Cloning it is cheap.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    store: Arc<dyn Store>,
    cursors: Cursors,
    limiter: Option<DefaultKeyedRateLimiter<KeyId>>,
    request_timeout: Duration,
    edge: Edge,
    log: Logger,
}

/// How many requests a key may make: `requests` in each `period`, all at once if it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// At least 1.
    pub requests: NonZeroU32,
    /// Longer than zero.
    pub period: Duration,
}

impl Service {
    /// Puts a service together. Without a `rate_limit` there is none.
    pub fn new(
        store: Arc<dyn Store>,
        edge: Edge,
        request_timeout: Duration,
        rate_limit: Option<RateLimit>,
        log: Logger,
    ) -> Self {
        let cursors = Cursors::new(&store.secret());
        let limiter = rate_limit.and_then(|limit| {
            let quota = Quota::with_period(limit.period / limit.requests.get())?;
            Some(RateLimiter::keyed(quota.allow_burst(limit.requests)))
        });
        Self(Arc::new(Parts { store, cursors, limiter, request_timeout, edge, log }))
    }

    /// Where the animals are.
    pub fn store(&self) -> &dyn Store {
        &*self.0.store
    }

    pub(crate) fn cursors(&self) -> &Cursors {
        &self.0.cursors
    }

    pub(crate) fn edge(&self) -> &Edge {
        &self.0.edge
    }

    /// For what is about the service, not dropshot: its own loggers carry the query, which may hold a key.
    pub(crate) fn log(&self) -> &Logger {
        &self.0.log
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        self.0.request_timeout
    }

    /// Who calls.
    pub(crate) async fn authenticate(&self, headers: &HeaderMap) -> Result<KeyId, Refusal> {
        keys::authenticate(headers, self.store(), Timestamp::now()).await
    }

    /// Counts a request against its key.
    pub(crate) fn spend_request(&self, key: &KeyId) -> Result<(), Refusal> {
        let Some(limiter) = &self.0.limiter else { return Ok(()) };
        limiter.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            Refusal::RateLimited { retry_after: wait.as_secs() + u64::from(wait.subsec_nanos() > 0) }
        })
    }
}
