//! The requests in flight, and whether the service is shutting down.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts the requests in flight. The server, the router and the operators' listener share one.
#[derive(Default)]
pub struct InFlight {
    shutting_down: AtomicBool,
    requests: AtomicUsize,
    request_finished: Notify,
}

/// A request that is in flight until this is dropped.
pub(crate) struct InFlightRequest<'a>(&'a InFlight);

impl InFlight {
    /// Counts a request until the returned guard is dropped.
    pub(crate) fn begin(&self) -> InFlightRequest<'_> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        InFlightRequest(self)
    }

    pub(crate) fn begin_shutdown(&self) {
        self.shutting_down.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Relaxed)
    }

    /// Waits until no request is in flight. Call only after [`Self::begin_shutdown`].
    pub(crate) async fn idle(&self) {
        while self.requests.load(Ordering::Relaxed) > 0 {
            self.request_finished.notified().await;
        }
    }
}

impl Drop for InFlightRequest<'_> {
    fn drop(&mut self) {
        let before = self.0.requests.fetch_sub(1, Ordering::Relaxed);
        if before == 1 && self.0.is_shutting_down() {
            self.0.request_finished.notify_one();
        }
    }
}
