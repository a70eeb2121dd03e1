//! What every operation can reach: the store, the cursors, the keys and the limits.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use http::HeaderMap;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::access::AccessLog;
use crate::cursor::Cursors;
use crate::edge::Edge;
use crate::keys::{self, KeyId};
use crate::metrics::{AuthenticationFailure, Metrics};
use crate::responses::Refusal;
use crate::storage::Store;

/// The context that dropshot hands to each handler. Cloning it is cheap.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    store: Arc<dyn Store>,
    cursors: Cursors,
    limiter: Option<(RateLimit, Limiter)>,
    request_timeout: Duration,
    edge: Edge,
    metrics: Arc<Metrics>,
    access_log: AccessLog,
    stopping: Arc<AtomicBool>,
    under_way: AtomicUsize,
    one_less: Notify,
}

type Limiter = RateLimiter<KeyId, DefaultKeyedStateStore<KeyId>, RuntimeClock, NoOpMiddleware<Instant>>;

/// The clock of the tokio runtime, which a test can stop and advance.
#[derive(Clone, Copy, Debug)]
struct RuntimeClock;

impl Clock for RuntimeClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

/// A request that is under way until this is dropped.
pub(crate) struct UnderWay<'a>(&'a Parts);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let before = self.0.under_way.fetch_sub(1, Ordering::Relaxed);
        if before == 1 && self.0.stopping.load(Ordering::Relaxed) {
            self.0.one_less.notify_one();
        }
    }
}

/// How many requests a key may make: `requests` in each `period`, all at once if it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// At least 1.
    pub requests: NonZeroU32,
    /// Whole seconds, at least one.
    pub period: Duration,
}

impl Service {
    /// Puts a service together. Without a `rate_limit` there is none.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        edge: Edge,
        request_timeout: Duration,
        rate_limit: Option<RateLimit>,
        metrics: Arc<Metrics>,
        access_log: AccessLog,
        stopping: Arc<AtomicBool>,
    ) -> Self {
        let cursors = Cursors::new(&store.secret());
        let limiter = rate_limit.and_then(|limit| {
            let quota = Quota::with_period(limit.period / limit.requests.get())?;
            Some((limit, RateLimiter::dashmap_with_clock(quota.allow_burst(limit.requests), RuntimeClock)))
        });
        Self(Arc::new(Parts {
            store,
            cursors,
            limiter,
            request_timeout,
            edge,
            metrics,
            access_log,
            stopping,
            under_way: AtomicUsize::new(0),
            one_less: Notify::new(),
        }))
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

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn access_log(&self) -> &AccessLog {
        &self.0.access_log
    }

    /// Whether the service has been told to stop.
    pub(crate) fn stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Relaxed)
    }

    /// Counts a request as under way.
    pub(crate) fn begin(&self) -> UnderWay<'_> {
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(&self.0)
    }

    /// Waits for a moment without a request under way. For one who has said before that it is stopping.
    pub(crate) async fn idle(&self) {
        while self.0.under_way.load(Ordering::Relaxed) > 0 {
            self.0.one_less.notified().await;
        }
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        self.0.request_timeout
    }

    /// Who calls.
    pub(crate) async fn authenticate(&self, headers: &HeaderMap) -> Result<KeyId, Refusal> {
        let caller = keys::authenticate(headers, self.store(), Timestamp::now()).await;
        if let Err(Refusal::Unauthorized { given }) = caller {
            let reason = if given { AuthenticationFailure::Invalid } else { AuthenticationFailure::Missing };
            self.metrics().not_let_in(reason);
        }
        caller
    }

    /// Counts a request against its key.
    pub(crate) fn spend_request(&self, key: &KeyId) -> Result<(), Refusal> {
        let Some((limit, limiter)) = &self.0.limiter else { return Ok(()) };
        limiter.check_key(key).map_err(|not_until| {
            let wait = not_until.wait_time_from(RuntimeClock.now());
            let retry_after = (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1);
            Refusal::RateLimited { limit: *limit, retry_after }
        })
    }
}
