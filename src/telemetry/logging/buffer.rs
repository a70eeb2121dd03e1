//! A buffer between log records and a file descriptor: threads append records, and one thread writes all
//! buffered records with one call.
//!
//! Records arrive as text. `src/DECISIONS.md` says why this is not `slog-async`.
//!
//! The buffer has a limit for each [`Importance`], so that a flood of responses cannot hide the error that causes it.

use std::io::{self, Write};
use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::metrics::{Importance, LogMetrics};

/// The maximum delay of a record.
const MAX_DELAY: Duration = Duration::from_millis(5);
/// When fewer bytes than these are buffered, the log is read again.
const READ_AGAIN: usize = 512 * 1024;

/// Returns how many bytes may be buffered with a record of this importance. A record that does not fit is dropped.
fn limit(importance: Importance) -> usize {
    1024 * match importance {
        Importance::Response => 768,
        Importance::ServerError => 1024,
        Importance::Other => 1280,
    }
}

/// A buffer for records. Appending never blocks.
#[derive(Clone)]
pub struct Buffer(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    // A logger must be `RefUnwindSafe`; a counter stays valid when a thread panics.
    metrics: AssertUnwindSafe<LogMetrics>,
    /// Notified when the buffer is no longer empty, and when all records are written.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    is_writing: bool,
    /// The number of dropped records that are not reported yet.
    dropped: u64,
}

impl State {
    fn is_busy(&self) -> bool {
        self.is_writing || !self.waiting.is_empty()
    }
}

impl Buffer {
    /// Starts the thread that writes to `writer`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn new(writer: impl Write + Send + 'static, metrics: LogMetrics) -> io::Result<Self> {
        let (metrics, changed) = (AssertUnwindSafe(metrics), Condvar::new());
        let inner = Arc::new(Inner { state: Mutex::default(), metrics, changed });
        let written = inner.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(writer))?;
        Ok(Self(inner))
    }

    /// Appends a complete record, or drops it. Returns the number of records that were dropped and are not reported, if
    /// the log is read again.
    pub(super) fn push(&self, record: &[u8], importance: Importance) -> Option<u64> {
        let mut state = self.0.state();
        if state.waiting.len() + record.len() > limit(importance) {
            state.dropped += 1;
            self.0.metrics.dropped(importance);
            return None;
        }
        if state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
        state.waiting.extend_from_slice(record);
        let is_reported = state.dropped > 0 && state.waiting.len() < READ_AGAIN;
        is_reported.then(|| mem::take(&mut state.dropped))
    }

    /// Waits until all records are written, at most for `limit`, because the log may not be read.
    pub fn flush(&self, limit: Duration) {
        drop(self.0.changed.wait_timeout_while(self.0.state(), limit, |state| state.is_busy()));
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut writer: impl Write) {
        let mut records = Vec::new();
        loop {
            let nothing = |state: &mut State| state.waiting.is_empty();
            drop(self.changed.wait_while(self.state(), nothing).unwrap_or_else(PoisonError::into_inner));
            // Records that arrive in the meantime are written with the same call.
            thread::sleep(MAX_DELAY);
            let mut state = self.state();
            state.is_writing = true;
            mem::swap(&mut state.waiting, &mut records);
            drop(state);
            // A failed write cannot be logged: this is the log.
            if writer.write_all(&records).and_then(|()| writer.flush()).is_err() {
                self.metrics.write_failed();
            }
            records.clear();
            self.state().is_writing = false;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    const KIB: usize = 1024;

    /// Sends each write to a channel, and blocks until it is received.
    struct Calls(SyncSender<Vec<u8>>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn buffer() -> (Buffer, Receiver<Vec<u8>>) {
        let (call, calls) = sync_channel(0);
        (Buffer::new(Calls(call), LogMetrics::default()).unwrap(), calls)
    }

    #[test]
    fn records_are_written_whole_and_in_order() {
        let (buffer, calls) = buffer();
        buffer.push(b"one ", Importance::Response);
        buffer.push(b"two ", Importance::Response);
        let mut all = Vec::new();
        while all.len() < 8 {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two ");
        buffer.push(b"three", Importance::Response);
        assert_eq!(calls.recv().unwrap(), b"three");
        buffer.flush(Duration::from_secs(600));
        assert!(!buffer.0.state().is_busy());
    }

    #[test]
    fn less_important_records_are_dropped_first_and_all_are_counted() {
        let (buffer, calls) = buffer();
        // The writer takes the first record and waits.
        buffer.push(b"x", Importance::Other);
        while !buffer.0.state().is_writing {
            thread::yield_now();
        }
        for importance in [Importance::Response, Importance::ServerError, Importance::Other] {
            for _ in 0..2 * KIB {
                assert_eq!(buffer.push(&[importance as u8; KIB], importance), None);
            }
        }
        let state = buffer.0.state();
        let count = |importance| state.waiting.iter().filter(|byte| **byte == importance as u8).count() / KIB;
        let counts = [Importance::Response, Importance::ServerError, Importance::Other].map(count);
        assert_eq!(counts, [768, 256, 256]);
        drop(state);
        assert_eq!(calls.recv().unwrap(), b"x");
        assert_eq!(calls.recv().unwrap().len(), 1280 * KIB);
        let dropped = buffer.push(b"x", Importance::Response);
        assert_eq!(dropped, Some(6 * 1024 - 1280), "reported when the log is read again");
        assert_eq!(buffer.push(b"x", Importance::Response), None, "once");
    }
}
