//! Log records on standard error. A request never waits for them: when nobody reads them they are dropped,
//! which the log says when it is read again.

use std::io;
use std::panic;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use slog::{Drain, LevelFilter, Logger, Never, OwnedKVList, Record, b, crit, o, record};
use thread_local::ThreadLocal;

mod pipe;

use pipe::Pipe;

/// What goes to standard error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The least severe level that is written.
    pub level: LogLevel,
    /// How a record is written.
    pub format: LogFormat,
    /// Of the answers that are no server errors, one in this many is logged; 0 for none.
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
    /// For people.
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

/// Waits for the records that are still on their way.
pub struct Flush(Pipe);

impl Flush {
    /// Waits, but not longer than `limit`: the reader of the log may be gone.
    pub fn wait(self, limit: Duration) {
        self.0.wait(limit);
    }
}

/// Starts to log, panics included.
///
/// # Errors
/// When there can be no thread for it.
pub fn start(config: &Log) -> io::Result<(Logger, Flush)> {
    let pipe = Pipe::new(io::stderr())?;
    let level = config.level.into();
    let lines = pipe.clone();
    let log = match config.format {
        LogFormat::Text => {
            let text = move || {
                let decorator = slog_term::PlainDecorator::new(lines.line());
                slog_term::FullFormat::new(decorator).use_utc_timestamp().build()
            };
            Logger::root(LevelFilter::new(Records::new(text, &pipe), level).fuse(), o!())
        }
        LogFormat::Json => {
            let json = move || slog_json::Json::new(lines.line()).add_default_keys().set_flush(true).build();
            Logger::root(LevelFilter::new(Records::new(json, &pipe), level).fuse(), o!())
        }
    };
    let panics = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        crit!(panics, "panic"; "message" => message, "place" => place);
    }));
    Ok((log, Flush(pipe)))
}

/// Formats records into the pipe, and says how many it has dropped.
struct Records<D: Send, F> {
    format: F,
    /// One for each thread that ever logged, so that none waits for another to format.
    formats: ThreadLocal<D>,
    pipe: Pipe,
}

impl<D: Drain + Send, F: Fn() -> D> Records<D, F> {
    fn new(format: F, pipe: &Pipe) -> Self {
        Self { format, formats: ThreadLocal::new(), pipe: pipe.clone() }
    }
}

impl<D: Drain + Send, F: Fn() -> D> Drain for Records<D, F> {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, values: &OwnedKVList) -> Result<(), Never> {
        let format = self.formats.get_or(&self.format);
        let dropped = self.pipe.take_dropped();
        // Into memory, which does not fail.
        if dropped > 0 {
            let message = format_args!("log records were dropped, since nobody read them");
            let _ = format.log(&record!(slog::Level::Warning, "", &message, b!("count" => dropped)), values);
        }
        let _ = format.log(record, values);
        Ok(())
    }
}
