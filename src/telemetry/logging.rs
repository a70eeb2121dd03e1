//! The log on standard error.
//!
//! A request never waits for it: threads append records to a buffer, and one thread writes all buffered records with one
//! call. Records that do not fit into the buffer are dropped, and their number is logged when the log is read again.
//! `src/DECISIONS.md` says why this is not `slog-async`.

use std::io::{self, Write};
use std::mem;
use std::panic;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use serde::Deserialize;
use slog::{Drain, Level, LevelFilter, Logger, Never, OwnedKVList, Record, b, crit, o, record};

use super::{format, registered};

/// The maximum number of buffered bytes. A record that does not fit is dropped.
const MAX_BYTES: usize = 1024 * 1024;
/// The maximum delay of a record.
const MAX_DELAY: Duration = Duration::from_millis(5);
/// Most records are shorter, in bytes.
const USUAL_LINE: usize = 512;

/// The settings of the log.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// The least severe level that is written.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// How a record is written.
    pub format: LogFormat,
}

/// The levels in the settings.
#[derive(Deserialize)]
#[serde(remote = "Level", rename_all = "lowercase")]
enum LevelName {
    #[serde(skip)]
    Critical,
    Error,
    Warning,
    Info,
    Debug,
    Trace,
}

/// How a log record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `TIME LEVEL MESSAGE name=value ...`, for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// Starts the log, and logs panics.
///
/// # Errors
/// When no thread can be started.
pub fn start(config: &Log, metrics: LogMetrics) -> io::Result<(Logger, Buffer)> {
    let buffer = Buffer::new(io::stderr(), metrics)?;
    let records = Records { format: config.format, buffer: buffer.clone() };
    let log = Logger::root(LevelFilter::new(records, config.level).fuse(), o!());
    let (panics, written) = (log.clone(), buffer.clone());
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        crit!(panics, "panic"; "place" => place, "message" => message);
        // The process may end with this panic.
        written.flush(Duration::from_millis(500));
    }));
    Ok((log, buffer))
}

/// Formats records into the buffer, and reports how many the buffer has dropped.
struct Records {
    format: LogFormat,
    buffer: Buffer,
}

impl Drain for Records {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        let mut line = Vec::with_capacity(USUAL_LINE);
        match self.format {
            LogFormat::Text => format::text(&mut line, record, values),
            LogFormat::Json => format::json(&mut line, record, values),
        }
        if let Some(dropped) = self.buffer.push(&line) {
            let message = format_args!("log records were dropped, because standard error was not read");
            return self.log(&record!(Level::Warning, "", &message, b!("count" => dropped)), values);
        }
        Ok(())
    }
}

/// The metrics of the log: what could not be written. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct LogMetrics {
    write_errors: Counter,
    dropped: Counter,
}

impl LogMetrics {
    /// Registers the metrics.
    pub(super) fn new(registry: &mut Registry) -> Self {
        let errors = "Failed writes to standard error; each loses the buffered records";
        let dropped = "Log records that were dropped, because standard error was not read";
        Self {
            write_errors: registered(registry, "log_write_errors", errors),
            dropped: registered(registry, "log_records_dropped", dropped),
        }
    }
}

/// A buffer for records. Appending never blocks.
#[derive(Clone)]
pub struct Buffer(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    metrics: LogMetrics,
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

impl Buffer {
    /// Starts the thread that writes to `writer`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    fn new(writer: impl Write + Send + 'static, metrics: LogMetrics) -> io::Result<Self> {
        let inner = Arc::new(Inner { state: Mutex::default(), metrics, changed: Condvar::new() });
        let written = inner.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(writer))?;
        Ok(Self(inner))
    }

    /// Appends a complete record, or drops it. Returns the number of records that were dropped and are not reported, if
    /// the log is read again.
    fn push(&self, record: &[u8]) -> Option<u64> {
        let mut state = self.0.state();
        if state.waiting.len() + record.len() > MAX_BYTES {
            state.dropped += 1;
            self.0.metrics.dropped.inc();
            return None;
        }
        if state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
        state.waiting.extend_from_slice(record);
        let is_read_again = state.dropped > 0 && state.waiting.len() < MAX_BYTES / 2;
        is_read_again.then(|| mem::take(&mut state.dropped))
    }

    /// Waits until all records are written, at most for `limit`, because the log may not be read.
    pub fn flush(&self, limit: Duration) {
        let is_busy = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        drop(self.0.changed.wait_timeout_while(self.0.state(), limit, is_busy));
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
            if write_all(&mut writer, &records).is_err() {
                self.metrics.write_errors.inc();
            }
            records.clear();
            self.state().is_writing = false;
            self.changed.notify_all();
        }
    }
}

/// Writes all bytes. Waits while a writer has no room and does not block: another process may have made standard error so.
fn write_all(writer: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match writer.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(MAX_DELAY),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
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

    fn buffer() -> (Buffer, Receiver<Vec<u8>>) {
        let (call, calls) = sync_channel(0);
        (Buffer::new(Calls(call), LogMetrics::default()).unwrap(), calls)
    }

    #[test]
    fn records_are_written_whole_and_in_order() {
        let (buffer, calls) = buffer();
        buffer.push(b"one ");
        buffer.push(b"two ");
        let mut all = Vec::new();
        while all.len() < 8 {
            all.extend(calls.recv().unwrap());
        }
        assert_eq!(all, b"one two ");
        buffer.push(b"three");
        assert_eq!(calls.recv().unwrap(), b"three");
        buffer.flush(Duration::from_secs(600));
        let state = buffer.0.state();
        assert!(!state.is_writing && state.waiting.is_empty());
    }

    #[test]
    fn a_writer_that_does_not_block_gets_all_bytes() {
        /// Takes one byte at a time, and nothing every other time.
        struct Slow(Vec<u8>, bool);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                self.0.push(bytes[0]);
                Ok(1)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut slow = Slow(Vec::new(), false);
        write_all(&mut slow, b"records").unwrap();
        assert_eq!(slow.0, b"records");
    }

    #[test]
    fn records_beyond_the_limit_are_dropped_and_counted() {
        const KIB: usize = 1024;
        let (buffer, calls) = buffer();
        // The writer takes the first record and waits.
        buffer.push(b"x");
        while !buffer.0.state().is_writing {
            thread::yield_now();
        }
        for _ in 0..1500 {
            assert_eq!(buffer.push(&[b'y'; KIB]), None);
        }
        assert_eq!(buffer.0.state().waiting.len(), 1024 * KIB);
        assert_eq!(buffer.0.metrics.dropped.get(), 1500 - 1024);
        assert_eq!(calls.recv().unwrap(), b"x");
        assert_eq!(calls.recv().unwrap().len(), 1024 * KIB);
        assert_eq!(buffer.push(b"x"), Some(1500 - 1024), "reported when the log is read again");
        assert_eq!(buffer.push(b"x"), None, "once");
    }
}
