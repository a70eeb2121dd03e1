//! The log on standard error. A request never waits for it: records that are not read are dropped, responses
//! before errors, and their number is logged when the log is read again.

use std::cell::Cell;
use std::io;
use std::panic;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use slog::{Drain, LevelFilter, Logger, Never, OwnedKVList, Record, b, crit, o, record};
use thread_local::ThreadLocal;

mod json;
mod line;
mod metrics;
mod pipe;
mod text;

use line::Line;
use metrics::Importance;
use pipe::Pipe;

pub(crate) use line::RESPONSE_TAG;
pub use metrics::LogMetrics;

/// The settings of the log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The least severe level that is written.
    pub level: LogLevel,
    /// How a record is written.
    pub format: LogFormat,
    /// One in this many responses that are not server errors is logged; 0 logs none of them.
    pub one_in: u64,
}

/// The levels of slog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogLevel {
    Error,
    Warning,
    Info,
    Debug,
    Trace,
}

/// How a log record is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// `TIME LEVEL MESSAGE name=value ...`, for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { level: LogLevel::Info, format: LogFormat::Text, one_in: 1 }
    }
}

impl From<LogLevel> for slog::Level {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::Error,
            LogLevel::Warning => Self::Warning,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

/// Waits for records that are not written yet.
pub struct Flush(Pipe);

impl Flush {
    /// Waits, but not longer than `limit`: the reader of the log may be gone.
    pub fn wait(self, limit: Duration) {
        self.0.wait(limit);
    }
}

/// Starts the log, and logs panics.
///
/// # Errors
/// When no thread can be started.
pub fn start(config: &Log, metrics: &LogMetrics) -> io::Result<(Logger, Flush)> {
    let pipe = Pipe::new(io::stderr(), metrics.clone())?;
    let records = Records { format: config.format, lines: ThreadLocal::new(), pipe: pipe.clone() };
    let log = Logger::root(LevelFilter::new(records, config.level.into()).fuse(), o!());
    let panics = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        crit!(panics, "panic"; "place" => place, "message" => message);
    }));
    Ok((log, Flush(pipe)))
}

/// Formats records into the pipe, and reports how many the pipe has dropped.
struct Records {
    format: LogFormat,
    /// A buffer for each thread that ever logged, so that no thread waits for another to format.
    lines: ThreadLocal<Cell<Line>>,
    pipe: Pipe,
}

impl Records {
    fn write(&self, record: &Record<'_>, values: &OwnedKVList) {
        // Taken, because a value that panics while it is formatted logs too.
        let buffer = self.lines.get_or_default();
        let mut line = buffer.take();
        match self.format {
            LogFormat::Text => text::format(&mut line, record, values),
            LogFormat::Json => json::format(&mut line, record, values),
        }
        self.pipe.push(&line.bytes, importance(record));
        line.bytes.clear();
        buffer.set(line);
    }
}

fn importance(record: &Record<'_>) -> Importance {
    match (record.tag() == RESPONSE_TAG, record.level().is_at_least(slog::Level::Error)) {
        (false, _) => Importance::Other,
        (true, true) => Importance::ServerError,
        (true, false) => Importance::Response,
    }
}

impl Drain for Records {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        let dropped = self.pipe.take_dropped();
        if dropped > 0 {
            let message = format_args!("log records were dropped, because standard error was not read");
            self.write(&record!(slog::Level::Warning, "", &message, b!("count" => dropped)), values);
        }
        self.write(record, values);
        Ok(())
    }
}
