//! What a connection does, and the time limits that follow from it.
//!
//! The stream and the requests of a connection count events without reading a clock. Its task looks at the counters once
//! a second, so neither a request nor a write needs a timer. `header_read_timeout` of hyper would be a second clock,
//! cannot tell an idle connection from half a head, and does not exist for HTTP/2; `tokio-io-timeout` does not see a
//! response over HTTP/2 that waits for a window, because nothing is written then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::Instant;

use crate::config::ConnectionLimits;
use crate::telemetry::metrics::Timeout;

/// How often to look at a connection.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
/// How long a client may send requests after it was told that the connection ends: longer than a round trip, and shorter
/// than the time between two looks.
const LAST_REQUEST: Duration = Duration::from_millis(900);

/// The events of a connection.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// The bytes that the kernel has accepted.
    written: AtomicU64,
    /// The requests that have arrived.
    requests: AtomicU64,
    /// Whether the client is to be told that the connection ends.
    ends: AtomicBool,
    /// A clone for each request that has no response yet.
    running: Arc<()>,
    /// A clone for each response of which bytes wait for the client.
    unsent: Arc<()>,
}

impl Activity {
    /// Counts bytes that the kernel has accepted.
    pub(super) fn wrote(&self, bytes: &[u8]) {
        self.written.fetch_add(bytes.len() as u64, Relaxed);
    }

    /// Counts a request that has arrived. It has no response until the returned value is dropped.
    pub(super) fn request(&self) -> Arc<()> {
        self.requests.fetch_add(1, Relaxed);
        self.running.clone()
    }

    /// Counts a response, whose bytes wait for the client until the returned value is dropped.
    pub(super) fn response(&self) -> Arc<()> {
        self.unsent.clone()
    }

    /// Whether the client is to be told that the connection ends.
    pub(super) fn ends(&self) -> bool {
        self.ends.load(Relaxed)
    }
}

/// What to do with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    /// Tell the client that the connection ends, because of this limit or of its age.
    Tell(Option<Timeout>),
    /// Close it, because of this limit or after its client was told.
    Close(Option<Timeout>),
}

/// Measures the time limits of a connection.
pub(super) struct Watch {
    pub(super) activity: Arc<Activity>,
    limits: ConnectionLimits,
    pub(super) is_http2: bool,
    opened: Instant,
    /// The bytes and the requests at the last look.
    seen: (u64, u64),
    /// When one of them last changed, or a request had no response.
    since: Instant,
}

impl Watch {
    /// Starts with a connection that was opened at `now`.
    pub(super) fn new(
        activity: Arc<Activity>,
        limits: ConnectionLimits,
        is_http2: bool,
        now: Instant,
    ) -> Self {
        Self { activity, limits, is_http2, opened: now, seen: (0, 0), since: now }
    }

    /// Marks that the client is told at `now` that the connection ends. From then on it has [`LAST_REQUEST`].
    pub(super) fn tell(&mut self, now: Instant) {
        self.activity.ends.store(true, Relaxed);
        self.since = now;
    }

    /// Looks at the connection.
    pub(super) fn look(&mut self, now: Instant) -> Verdict {
        let (activity, limits) = (&self.activity, &self.limits);
        let is_open = |count: &Arc<()>| Arc::strong_count(count) > 1;
        let (running, unsent) = (is_open(&activity.running), is_open(&activity.unsent));
        let seen = (activity.written.load(Relaxed), activity.requests.load(Relaxed));
        if seen != self.seen || running {
            (self.seen, self.since) = (seen, now);
        }
        let (age, quiet) = (now - self.opened, now - self.since);
        if unsent && quiet >= limits.send_timeout {
            Verdict::Close(Some(Timeout::Send))
        } else if age >= limits.max_age {
            Verdict::Close(Some(Timeout::Age))
        } else if activity.ends() {
            if !unsent && quiet >= LAST_REQUEST { Verdict::Close(None) } else { Verdict::Keep }
        } else if seen.1 == 0 && age >= limits.header_timeout {
            Verdict::Close(Some(Timeout::Header))
        } else if !unsent && quiet >= limits.idle_timeout {
            let idle = Some(Timeout::Idle);
            if self.is_http2 { Verdict::Tell(idle) } else { Verdict::Close(idle) }
        } else if age >= limits.max_age / 2 {
            Verdict::Tell(None)
        } else {
            Verdict::Keep
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        max: 1,
        max_requests: 1,
        header_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(60),
        send_timeout: Duration::from_secs(30),
        max_age: Duration::from_secs(1_000),
    };

    /// A connection, and what it is to do so many seconds after it was opened.
    struct Test {
        activity: Arc<Activity>,
        watch: Watch,
    }

    impl Test {
        fn new(is_http2: bool) -> Self {
            let activity = Arc::<Activity>::default();
            let watch = Watch::new(activity.clone(), LIMITS, is_http2, Instant::now());
            Self { activity, watch }
        }

        fn at(&mut self, second: u64) -> Verdict {
            self.watch.look(self.watch.opened + Duration::from_secs(second))
        }
    }

    #[test]
    fn the_first_request_has_a_limit_of_its_own() {
        for is_http2 in [false, true] {
            let mut test = Test::new(is_http2);
            assert_eq!((test.at(9), test.at(10)), (Verdict::Keep, Verdict::Close(Some(Timeout::Header))));
            let mut test = Test::new(is_http2);
            let request = test.activity.request();
            assert_eq!(test.at(10), Verdict::Keep);
            drop(request);
            assert_eq!(test.at(69), Verdict::Keep);
            let idle = Some(Timeout::Idle);
            let verdict = if is_http2 { Verdict::Tell(idle) } else { Verdict::Close(idle) };
            assert_eq!(test.at(70), verdict);
        }
    }

    #[test]
    fn a_client_that_takes_some_is_kept_and_one_that_takes_nothing_is_not() {
        let mut test = Test::new(true);
        drop(test.activity.request());
        let _response = test.activity.response();
        for second in 0..200 {
            if second % 29 == 0 {
                test.activity.wrote(b"a");
            }
            assert_eq!(test.at(second), Verdict::Keep, "{second}");
        }
        // The last byte was taken after 174 seconds.
        assert_eq!((test.at(203), test.at(204)), (Verdict::Keep, Verdict::Close(Some(Timeout::Send))));
    }

    /// TLS holds the last bytes of a response that hyper has sent.
    #[test]
    fn a_client_that_takes_what_tls_holds_is_not_idle() {
        let mut test = Test::new(false);
        drop(test.activity.request());
        assert_eq!(test.at(9), Verdict::Keep);
        for second in (50..=450).step_by(50) {
            test.activity.wrote(b"a");
            assert_eq!(test.at(second), Verdict::Keep, "{second}");
        }
        assert_eq!(test.at(510), Verdict::Close(Some(Timeout::Idle)));
    }

    #[test]
    fn a_request_that_runs_for_long_is_not_idle() {
        let mut test = Test::new(true);
        let request = test.activity.request();
        for second in (0..500).step_by(10) {
            assert_eq!(test.at(second), Verdict::Keep);
        }
        drop(request);
        assert_eq!(test.at(499), Verdict::Keep);
    }

    #[test]
    fn an_old_connection_is_told_and_ends_when_it_is_idle() {
        let mut test = Test::new(false);
        let request = test.activity.request();
        assert_eq!((test.at(499), test.at(500)), (Verdict::Keep, Verdict::Tell(None)));
        test.watch.tell(test.watch.opened + Duration::from_secs(500));
        assert_eq!((test.at(600), test.at(999)), (Verdict::Keep, Verdict::Keep));
        assert_eq!(test.at(1_000), Verdict::Close(Some(Timeout::Age)));
        drop(request);
        let mut test = Test::new(false);
        drop(test.activity.request());
        assert_eq!(test.at(50), Verdict::Keep);
        // It has been idle for long, and still has time for a request that is on its way.
        test.watch.tell(test.watch.opened + Duration::from_secs(50));
        assert_eq!((test.at(50), test.at(51)), (Verdict::Keep, Verdict::Close(None)));
    }
}
