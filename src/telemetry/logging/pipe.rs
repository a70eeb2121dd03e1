//! A buffer between log records and a file descriptor: threads append records, and one thread writes all
//! buffered records with one call.
//!
//! Records arrive as text. To send a record to a thread that formats it would cost more than formatting: its
//! values would have to be copied, and the thread woken for each record.
//!
//! When the buffer is full, responses below status 500 are dropped first, also those that are already
//! buffered, then the other responses. The rest has a reserve of its own, so that a flood of responses cannot
//! hide the error that causes it.

use std::io::{self, Write};
use std::mem;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::metrics::{Importance, LogMetrics};

/// The maximum delay of a record.
const MAX_DELAY: Duration = Duration::from_millis(5);
/// The maximum size of the buffer in bytes. Records that do not fit are dropped and counted.
const CAPACITY: usize = 1024 * 1024;
/// The additional bytes for records that are not responses.
const RESERVE: usize = CAPACITY / 4;

/// A buffer for records. Appending never blocks.
#[derive(Clone)]
pub(super) struct Pipe(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    // A logger must be `RefUnwindSafe`; a counter stays valid when a thread panics.
    metrics: AssertUnwindSafe<LogMetrics>,
    /// The number of dropped records that are not reported yet.
    dropped: AtomicU64,
    /// Notified when the buffer is no longer empty.
    ready: Condvar,
    /// Notified when all records are written.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// The runs of [`Importance::Response`] in `waiting`.
    responses: Vec<Run>,
    is_writing: bool,
}

/// Consecutive records.
struct Run {
    bytes: Range<usize>,
    records: u64,
}

impl Pipe {
    /// Starts the thread that writes to `writer`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn new(writer: impl Write + Send + 'static, metrics: LogMetrics) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            metrics: AssertUnwindSafe(metrics),
            dropped: AtomicU64::new(0),
            ready: Condvar::new(),
            idle: Condvar::new(),
        });
        let written = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(writer))?;
        Ok(Self(shared))
    }

    /// Appends a complete record. If the buffer is full, drops less important records or this one.
    pub(super) fn push(&self, record: &[u8], importance: Importance) {
        let limit = if importance == Importance::Other { CAPACITY + RESERVE } else { CAPACITY };
        let mut state = self.0.state();
        if state.waiting.len() + record.len() > limit && importance > Importance::Response {
            let dropped = state.drop_responses();
            self.0.count_dropped(Importance::Response, dropped);
        }
        if state.waiting.len() + record.len() > limit {
            self.0.count_dropped(importance, 1);
            return;
        }
        if state.waiting.is_empty() {
            self.0.ready.notify_one();
        }
        state.append(record, importance);
    }

    /// Returns the number of records dropped since the last call that returned one; 0 while the buffer is more
    /// than half full.
    pub(super) fn take_dropped(&self) -> u64 {
        let is_room = || self.0.state().waiting.len() < CAPACITY / 2;
        if self.0.dropped.load(Ordering::Relaxed) > 0 && is_room() {
            self.0.dropped.swap(0, Ordering::Relaxed)
        } else {
            0
        }
    }

    /// Waits until all records are written, at most for `limit`, because the log may not be read.
    pub(super) fn wait(&self, limit: Duration) {
        let is_busy = |state: &mut State| !state.waiting.is_empty() || state.is_writing;
        drop(self.0.idle.wait_timeout_while(self.0.state(), limit, is_busy));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_dropped(&self, importance: Importance, count: u64) {
        if count > 0 {
            self.dropped.fetch_add(count, Ordering::Relaxed);
            self.metrics.dropped(importance, count);
        }
    }

    fn write_to(&self, mut writer: impl Write) {
        let mut records = Vec::new();
        loop {
            let nothing = |state: &mut State| state.waiting.is_empty();
            drop(self.ready.wait_while(self.state(), nothing).unwrap_or_else(PoisonError::into_inner));
            // Records that arrive in the meantime are written with the same call.
            thread::sleep(MAX_DELAY);
            self.state().take(&mut records);
            // A failed write cannot be logged: this is the log.
            if writer.write_all(&records).and_then(|()| writer.flush()).is_err() {
                self.metrics.write_failed();
            }
            records.clear();
            self.state().is_writing = false;
            self.idle.notify_all();
        }
    }
}

impl State {
    fn append(&mut self, record: &[u8], importance: Importance) {
        let start = self.waiting.len();
        self.waiting.extend_from_slice(record);
        if importance > Importance::Response {
            return;
        }
        match self.responses.last_mut() {
            Some(run) if run.bytes.end == start => {
                run.bytes.end += record.len();
                run.records += 1;
            }
            _ => self.responses.push(Run { bytes: start..start + record.len(), records: 1 }),
        }
    }

    /// Removes all records of [`Importance::Response`] and returns their number.
    fn drop_responses(&mut self) -> u64 {
        let (mut read, mut kept, mut dropped) = (0, 0, 0);
        for run in self.responses.drain(..) {
            self.waiting.copy_within(read..run.bytes.start, kept);
            kept += run.bytes.start - read;
            read = run.bytes.end;
            dropped += run.records;
        }
        self.waiting.copy_within(read.., kept);
        self.waiting.truncate(kept + self.waiting.len() - read);
        dropped
    }

    /// Swaps the buffered records with `empty`, so that its memory is reused.
    fn take(&mut self, empty: &mut Vec<u8>) {
        self.is_writing = true;
        self.responses.clear();
        mem::swap(&mut self.waiting, empty);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

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

    fn pipe() -> (Pipe, Receiver<Vec<u8>>) {
        let (call, calls) = sync_channel(0);
        (Pipe::new(Calls(call), LogMetrics::default()).unwrap(), calls)
    }

    /// Reads everything that the pipe still writes.
    fn rest(pipe: &Pipe, calls: &Receiver<Vec<u8>>) -> Vec<u8> {
        let mut all = Vec::new();
        let is_busy = || {
            let state = pipe.0.state();
            state.is_writing || !state.waiting.is_empty()
        };
        while is_busy() {
            all.extend(calls.recv_timeout(Duration::from_millis(20)).unwrap_or_default());
        }
        all
    }

    fn count(text: &[u8], record: u8) -> usize {
        text.iter().filter(|byte| **byte == record).count()
    }

    #[test]
    fn records_are_written_whole_and_in_order() {
        let (pipe, calls) = pipe();
        pipe.push(b"one ", Importance::Response);
        pipe.push(b"two ", Importance::Response);
        let mut all = Vec::new();
        while all.len() < 8 {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two ");
        pipe.push(b"three", Importance::Response);
        assert_eq!(calls.recv().unwrap(), b"three");
        pipe.wait(Duration::from_secs(10));
        assert!(!pipe.0.state().is_writing);
    }

    #[test]
    fn unread_records_are_dropped_whole_and_counted() {
        let (pipe, calls) = pipe();
        let record = vec![b'x'; CAPACITY / 4];
        for _ in 0..20 {
            pipe.push(&record, Importance::Response);
        }
        let (mut read, mut dropped) = (0, 0);
        while read + dropped < 20 {
            dropped += usize::try_from(pipe.take_dropped()).unwrap();
            if read + dropped < 20 {
                let call = calls.recv().unwrap();
                assert_eq!(call.len() % record.len(), 0);
                read += call.len() / record.len();
            }
        }
        assert_eq!(read + dropped, 20);
        assert!(dropped >= 12, "{dropped} were dropped, but no more than 8 fit");
    }

    #[test]
    fn responses_are_dropped_before_errors() {
        let (pipe, calls) = pipe();
        // The writer takes the first record and waits.
        pipe.push(b"x", Importance::Other);
        while !pipe.0.state().is_writing {
            thread::yield_now();
        }
        let length = 1024;
        let push = |text: u8, importance| pipe.push(&vec![text; length], importance);
        for _ in 0..CAPACITY / length {
            push(b'r', Importance::Response);
        }
        // Full: a response that succeeded is dropped, and one that failed displaces those.
        push(b'n', Importance::Response);
        push(b'f', Importance::ServerError);
        push(b'e', Importance::Other);
        for _ in 0..2 * CAPACITY / length {
            push(b'f', Importance::ServerError);
            push(b'r', Importance::Response);
        }
        // Also when failed responses fill the buffer, other records are kept.
        push(b'e', Importance::Other);
        assert!(pipe.0.state().waiting.len() <= CAPACITY + RESERVE);

        let text = rest(&pipe, &calls);
        assert_eq!(count(&text, b'e'), 2 * length);
        assert_eq!(count(&text, b'n'), 0);
        assert!(count(&text, b'f') >= CAPACITY - 2 * length, "{}", count(&text, b'f'));
        for record in text[1..].chunks(length) {
            assert!(record.iter().all(|byte| *byte == record[0]), "a record was cut");
        }
        let pushed = 1 + CAPACITY / length + 1 + 2 + 4 * CAPACITY / length + 1;
        let written = 1 + (text.len() - 1) / length;
        assert_eq!(written + usize::try_from(pipe.take_dropped()).unwrap(), pushed);
    }

    #[test]
    fn a_flood_of_errors_is_bounded_too() {
        let (pipe, calls) = pipe();
        for _ in 0..3 * (CAPACITY + RESERVE) / 1024 {
            pipe.push(&[b'e'; 1024], Importance::Other);
        }
        assert!(pipe.0.state().waiting.len() <= CAPACITY + RESERVE);
        let text = rest(&pipe, &calls);
        assert!(text.len() <= 2 * (CAPACITY + RESERVE), "{}", text.len());
        assert!(pipe.take_dropped() > 0);
    }
}
