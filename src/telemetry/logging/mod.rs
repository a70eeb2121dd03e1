//! The log on standard error. A request never waits for it: records that do not fit into its buffer are dropped, and
//! their number is logged when the log is read again.

use std::io;
use std::panic;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use slog::{Drain, Level, LevelFilter, Logger, Never, OwnedKVList, Record, b, crit, o, record};

mod buffer;
mod format;

pub use buffer::Buffer;

/// The tag of records about responses. The text format leaves out their message, which is always the same.
pub(crate) const RESPONSE_TAG: &str = "response";

/// Most records are shorter, in bytes.
const USUAL_LINE: usize = 512;

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

impl From<LogLevel> for Level {
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

/// Starts the log, and logs panics.
///
/// # Errors
/// When no thread can be started.
pub fn start(config: &Log, metrics: &LogMetrics) -> io::Result<(Logger, Buffer)> {
    let buffer = Buffer::new(io::stderr(), metrics.clone())?;
    let records = Records { format: config.format, buffer: buffer.clone() };
    let log = Logger::root(LevelFilter::new(records, config.level.into()).fuse(), o!());
    let panics = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        crit!(panics, "panic"; "place" => place, "message" => message);
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
    pub fn register(&self, registry: &mut Registry) {
        let errors = "Failed writes to standard error; each loses the buffered records";
        registry.register("log_write_errors", errors, self.write_errors.clone());
        let dropped = "Log records that were dropped, because standard error was not read";
        registry.register("log_records_dropped", dropped, self.dropped.clone());
    }
}
