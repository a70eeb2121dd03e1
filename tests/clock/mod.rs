//! A clock that only the test moves, so that no outcome depends on the speed of the machine.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time;

/// The longest that a test may take in real time; none does unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// tokio's clock of the current runtime, stopped. Until this is dropped, a timer fires only when
/// [`Clock::advance`] reaches it. Works on a runtime with one thread, which `#[tokio::test]` starts.
///
/// After [`PATIENCE`] the clock is advanced to whatever timer is next, which ends a test that hangs.
pub(crate) struct Clock {
    _running: Sender<()>,
}

impl Clock {
    /// Stops the clock.
    pub(crate) fn stopped() -> Self {
        let (running, ended) = channel::<()>();
        // tokio advances a paused clock to the next timer when all tasks wait, for a socket for example.
        // It does not while a blocking task runs, so one runs until `running` is dropped.
        spawn_blocking(move || ended.recv_timeout(PATIENCE));
        time::pause();
        Self { _running: running }
    }

    /// Fires the timers of the next `duration`.
    pub(crate) async fn advance(&self, duration: Duration) {
        // A timer fires with the first whole millisecond after its time.
        time::advance(duration + Duration::from_millis(1)).await;
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        time::resume();
    }
}
