//! Log records on their way to a file descriptor: whoever logs leaves them in memory, and one thread writes
//! what has gathered with one call.
//!
//! A channel to a thread that formats costs more than formatting: the record's values have to be made its own,
//! and the thread woken for each record. So records arrive here as text.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How late a record may be.
const LINGER: Duration = Duration::from_millis(5);
/// How many bytes may wait. What comes when there are more is dropped and counted.
const MOST: usize = 1024 * 1024;

/// Takes records, each ended by a flush, and never blocks.
pub(super) struct Pipe(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// There is something to write.
    ready: Condvar,
    /// All is written.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// How many bytes of `waiting` are whole records.
    whole: usize,
    /// The record that is being written did not fit.
    overflows: bool,
    dropped: u64,
    is_writing: bool,
}

impl Pipe {
    /// A pipe to `writer`.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(super) fn new(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let state = Mutex::default();
        let shared = Arc::new(Shared { state, ready: Condvar::new(), idle: Condvar::new() });
        let written = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(writer))?;
        Ok(Self(shared))
    }

    /// Another handle to the same.
    pub(super) fn handle(&self) -> Self {
        Self(self.0.clone())
    }

    /// How many records were dropped since this was asked; 0 while there is little room for an answer.
    pub(super) fn take_dropped(&self) -> u64 {
        let mut state = self.0.state();
        if state.waiting.len() < MOST / 2 { mem::take(&mut state.dropped) } else { 0 }
    }

    /// Waits until everything is written, but not longer than `limit`: nobody may be reading.
    pub(super) fn wait(&self, limit: Duration) {
        let is_busy = |state: &mut State| state.whole > 0 || state.is_writing;
        drop(self.0.idle.wait_timeout_while(self.0.state(), limit, is_busy));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut writer: impl Write) {
        loop {
            let nothing = |state: &mut State| state.whole == 0;
            drop(self.ready.wait_while(self.state(), nothing).unwrap_or_else(PoisonError::into_inner));
            // What comes meanwhile goes along.
            thread::sleep(LINGER);
            let records = self.state().take();
            // If there is nobody to read it, there is nobody to tell either.
            let _ = writer.write_all(&records).and_then(|()| writer.flush());
            self.state().is_writing = false;
            self.idle.notify_all();
        }
    }
}

impl State {
    fn take(&mut self) -> Vec<u8> {
        let begun = self.waiting.split_off(self.whole);
        self.whole = 0;
        self.is_writing = true;
        mem::replace(&mut self.waiting, begun)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.state();
        state.overflows |= state.waiting.len() + bytes.len() > MOST;
        if !state.overflows {
            state.waiting.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    /// Ends a record.
    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.0.state();
        if mem::take(&mut state.overflows) {
            let whole = state.whole;
            state.waiting.truncate(whole);
            state.dropped += 1;
        } else if state.waiting.len() > state.whole {
            if state.whole == 0 {
                self.0.ready.notify_one();
            }
            state.whole = state.waiting.len();
        }
        Ok(())
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

    fn log(pipe: &mut Pipe, record: &[u8]) {
        pipe.write_all(record).unwrap();
        pipe.flush().unwrap();
    }

    #[test]
    fn records_arrive_by_themselves_whole_and_in_order() {
        let (mut pipe, calls) = pipe();
        log(&mut pipe, b"one ");
        log(&mut pipe, b"two ");
        pipe.write_all(b"thr").unwrap();
        let mut all = Vec::new();
        while all.len() < 8 {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two ");
        log(&mut pipe, b"ee");
        assert_eq!(calls.recv().unwrap(), b"three");
        pipe.wait(Duration::from_secs(10));
        assert!(!pipe.0.state().is_writing);
    }

    #[test]
    fn what_nobody_reads_is_dropped_whole_and_counted() {
        let (mut pipe, calls) = pipe();
        let record = vec![b'x'; MOST / 4];
        for _ in 0..20 {
            log(&mut pipe, &record);
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
