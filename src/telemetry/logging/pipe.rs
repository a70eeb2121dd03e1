//! A buffer between log records and a file descriptor: threads append records, and one thread writes all
//! buffered records with one call.
//!
//! Records arrive as text. To send a record to a thread that formats it would cost more than formatting: its
//! values would have to be copied, and the thread woken for each record.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum delay of a record.
const MAX_DELAY: Duration = Duration::from_millis(5);
/// The maximum size of the buffer in bytes. Records that do not fit are dropped and counted.
const CAPACITY: usize = 1024 * 1024;

/// A buffer for records. Appending never blocks.
#[derive(Clone)]
pub(super) struct Pipe(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
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
    is_writing: bool,
}

impl Pipe {
    /// Starts the thread that writes to `writer`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn new(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            dropped: AtomicU64::new(0),
            ready: Condvar::new(),
            idle: Condvar::new(),
        });
        let written = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(writer))?;
        Ok(Self(shared))
    }

    /// Appends a complete record, or drops it if the buffer is full.
    pub(super) fn push(&self, record: &[u8]) {
        let mut state = self.0.state();
        if state.waiting.len() + record.len() > CAPACITY {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if state.waiting.is_empty() {
            self.0.ready.notify_one();
        }
        state.waiting.extend_from_slice(record);
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

    fn write_to(&self, mut writer: impl Write) {
        let mut records = Vec::new();
        loop {
            let nothing = |state: &mut State| state.waiting.is_empty();
            drop(self.ready.wait_while(self.state(), nothing).unwrap_or_else(PoisonError::into_inner));
            // Records that arrive in the meantime are written with the same call.
            thread::sleep(MAX_DELAY);
            self.state().take(&mut records);
            // A failed write cannot be reported: this is the log.
            let _ = writer.write_all(&records).and_then(|()| writer.flush());
            records.clear();
            self.state().is_writing = false;
            self.idle.notify_all();
        }
    }
}

impl State {
    /// Swaps the buffered records with `empty`, so that its memory is reused.
    fn take(&mut self, empty: &mut Vec<u8>) {
        self.is_writing = true;
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
        (Pipe::new(Calls(call)).unwrap(), calls)
    }

    #[test]
    fn records_are_written_whole_and_in_order() {
        let (pipe, calls) = pipe();
        pipe.push(b"one ");
        pipe.push(b"two ");
        let mut all = Vec::new();
        while all.len() < 8 {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two ");
        pipe.push(b"three");
        assert_eq!(calls.recv().unwrap(), b"three");
        pipe.wait(Duration::from_secs(10));
        assert!(!pipe.0.state().is_writing);
    }

    #[test]
    fn unread_records_are_dropped_whole_and_counted() {
        let (pipe, calls) = pipe();
        let record = vec![b'x'; CAPACITY / 4];
        for _ in 0..20 {
            pipe.push(&record);
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
}
