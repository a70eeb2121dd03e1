//! Log records on their way to a file descriptor: whoever logs leaves them in memory, and one thread writes
//! what has gathered with one call.
//!
//! A channel to a thread that formats costs more than formatting: the record's values have to be made its own,
//! and the thread woken for each record. So records arrive here as text.

use std::io::{self, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How late a record may be.
const LINGER: Duration = Duration::from_millis(5);
/// How many bytes may wait. What comes when there are more is dropped and counted.
const MOST: usize = 1024 * 1024;

/// Takes records and never blocks.
#[derive(Clone)]
pub(super) struct Pipe(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Records that did not fit, and of which nobody has been told.
    dropped: AtomicU64,
    /// There is something to write.
    ready: Condvar,
    /// All is written.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    is_writing: bool,
}

impl Pipe {
    /// A pipe to `writer`.
    ///
    /// # Errors
    /// When there can be no thread.
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

    /// Adds a complete record.
    pub(super) fn push(&self, record: &[u8]) {
        let mut state = self.0.state();
        if state.waiting.len() + record.len() > MOST {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if state.waiting.is_empty() {
            self.0.ready.notify_one();
        }
        state.waiting.extend_from_slice(record);
    }

    /// How many records were dropped since this was asked; 0 while there is little room for an answer.
    pub(super) fn take_dropped(&self) -> u64 {
        let is_room = || self.0.state().waiting.len() < MOST / 2;
        if self.0.dropped.load(Ordering::Relaxed) > 0 && is_room() {
            self.0.dropped.swap(0, Ordering::Relaxed)
        } else {
            0
        }
    }

    /// Waits until everything is written, but not longer than `limit`: nobody may be reading.
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
            // What comes meanwhile goes along.
            thread::sleep(LINGER);
            self.state().take(&mut records);
            // If there is nobody to read it, there is nobody to tell either.
            let _ = writer.write_all(&records).and_then(|()| writer.flush());
            records.clear();
            self.state().is_writing = false;
            self.idle.notify_all();
        }
    }
}

impl State {
    /// Exchanges what waits for `empty`, whose memory is used again.
    fn take(&mut self, empty: &mut Vec<u8>) {
        self.is_writing = true;
        mem::swap(&mut self.waiting, empty);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// Says what it is given, and takes no more until somebody has heard it.
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
    fn records_arrive_by_themselves_whole_and_in_order() {
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
    fn what_nobody_reads_is_dropped_whole_and_counted() {
        let (pipe, calls) = pipe();
        let record = vec![b'x'; MOST / 4];
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
