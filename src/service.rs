//! What every operation can reach: the store, the cursors, the keys and the limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::cursor::Cursors;
use crate::http::access_log::AccessLog;
use crate::http::responses::Refusal;
use crate::http::router::Edge;
use crate::keys::{self, KeyId};
use crate::rate_limit::{Limiter, RateLimit};
use crate::storage::Store;
use crate::telemetry::metrics::{AuthenticationFailure, Metrics};

/// The context that dropshot hands to each handler. Cloning it is cheap.
#[derive(Clone)]
pub struct Service(Arc<Parts>);

struct Parts {
    store: Arc<dyn Store>,
    cursors: Cursors,
    limiter: Option<Limiter>,
    request_timeout: Duration,
    edge: Edge,
    metrics: Arc<Metrics>,
    access_log: AccessLog,
    stopping: Arc<AtomicBool>,
    under_way: AtomicUsize,
    one_less: Notify,
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
        let limiter = rate_limit.and_then(Limiter::new);
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
        let Some(limiter) = &self.0.limiter else { return Ok(()) };
        limiter.spend(key).map_err(|retry_after| Refusal::RateLimited { limit: limiter.limit, retry_after })
    }
}
