//! A clock that only the test advances, so that results do not depend on the speed of the machine.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time;

/// The longest time that a test may take in real time.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The paused clock of the current tokio runtime. Until it is dropped, a timer fires only when
/// [`Clock::advance`] reaches it. Requires a runtime with one thread, which `#[tokio::test]` starts.
///
/// After [`TIMEOUT`] the clock advances to the next timer, so that a test that hangs fails.
pub struct Clock {
    _running: Sender<()>,
}

impl Clock {
    /// Pauses the clock of the current runtime.
    pub fn stopped() -> Self {
        let (running, ended) = channel::<()>();
        // tokio advances a paused clock to the next timer when all tasks are idle, for example waiting for a
        // socket. It does not while a blocking task runs, so one runs until `running` is dropped.
        spawn_blocking(move || ended.recv_timeout(TIMEOUT));
        time::pause();
        Self { _running: running }
    }

    /// Fires the timers of the next `duration`.
    pub async fn advance(&self, duration: Duration) {
        // tokio rounds timers up to the next whole millisecond.
        time::advance(duration + Duration::from_millis(1)).await;
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        time::resume();
    }
}
