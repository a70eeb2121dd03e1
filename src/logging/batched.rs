//! Writes what belongs together with one call: a call for each log record would cost a busy service as much
//! as the rest of the log.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How late a record may be.
const LINGER: Duration = Duration::from_millis(5);
/// So much is written sooner.
const CAPACITY: usize = 64 * 1024;

/// A writer that is flushed a moment after it was asked to be, by a thread of its own.
pub(super) struct Batched<W: Write>(Arc<Shared<W>>);

struct Shared<W: Write> {
    state: Mutex<State<W>>,
    asked: Condvar,
}

struct State<W: Write> {
    writer: BufWriter<W>,
    /// Whether something waits to be flushed.
    waits: bool,
}

impl<W: Write + Send + 'static> Batched<W> {
    pub(super) fn new(writer: W) -> io::Result<Self> {
        let writer = BufWriter::with_capacity(CAPACITY, writer);
        let state = Mutex::new(State { writer, waits: false });
        let shared = Arc::new(Shared { state, asked: Condvar::new() });
        let flushed = shared.clone();
        thread::Builder::new().name("log-flush".to_owned()).spawn(move || flushed.flush_when_asked())?;
        Ok(Self(shared))
    }
}

impl<W: Write> Batched<W> {
    /// Another handle to the same writer.
    pub(super) fn handle(&self) -> Self {
        Self(self.0.clone())
    }

    /// Flushes at once.
    pub(super) fn flush_now(&self) -> io::Result<()> {
        self.0.state().writer.flush()
    }
}

impl<W: Write> Shared<W> {
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn flush_when_asked(&self) {
        loop {
            let is_idle = |state: &mut State<W>| !state.waits;
            drop(self.asked.wait_while(self.state(), is_idle).unwrap_or_else(PoisonError::into_inner));
            // What comes meanwhile goes along.
            thread::sleep(LINGER);
            let mut state = self.state();
            state.waits = false;
            // Nobody could be told; the next record tries again.
            let _ = state.writer.flush();
        }
    }
}

impl<W: Write> Write for Batched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.state().writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut state = self.0.state();
        if !state.waits {
            state.waits = true;
            self.0.asked.notify_one();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Says what it is given, a call at a time.
    struct Calls(Sender<Vec<u8>>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_flushed_arrives_by_itself_and_in_order() {
        let (call, calls) = channel();
        let mut batched = Batched::new(Calls(call)).unwrap();
        for record in ["one ", "two ", "three "] {
            batched.write_all(record.as_bytes()).unwrap();
            batched.flush().unwrap();
        }
        let mut all = Vec::new();
        while all.len() < "one two three ".len() {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two three ");
        batched.write_all(b"four").unwrap();
        batched.flush().unwrap();
        assert_eq!(calls.recv().unwrap(), b"four");
    }

    #[test]
    fn what_was_not_flushed_is_written_when_told_to() {
        let (call, calls) = channel();
        let mut batched = Batched::new(Calls(call)).unwrap();
        batched.write_all(b"last").unwrap();
        batched.handle().flush_now().unwrap();
        assert_eq!(calls.try_recv().unwrap(), b"last");
    }
}
