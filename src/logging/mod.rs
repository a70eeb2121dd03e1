//! Log records on standard error, written by a thread of their own: a request never waits for them, and
//! when nobody reads them they are dropped, which the log says when it is read again.

use std::io::{self, IsTerminal, Stderr};
use std::panic;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use animal_store::config::{Log, LogFormat};
use slog::{Drain, LevelFilter, Logger, crit, o};
use slog_async::{Async, AsyncGuard, OverflowStrategy};

mod batched;

use batched::Batched;

const WAITING_RECORDS: usize = 4096;

/// Waits for the records that are still on their way.
pub(crate) struct Flush {
    records: AsyncGuard,
    stderr: Batched<Stderr>,
}

impl Flush {
    /// Waits, but not longer than `limit`: the reader of the log may be gone.
    pub(crate) fn wait(self, limit: Duration) {
        let (done, finished) = mpsc::channel();
        thread::spawn(move || {
            drop(self.records);
            // Nobody could be told.
            let _ = self.stderr.flush_now();
            let _ = done.send(());
        });
        let _ = finished.recv_timeout(limit);
    }
}

/// Starts to log, panics included.
///
/// # Errors
/// When there can be no thread for it.
pub(crate) fn start(config: &Log) -> io::Result<(Logger, Flush)> {
    let stderr = Batched::new(io::stderr())?;
    let (drain, records) = match config.format {
        LogFormat::Text if io::stderr().is_terminal() => {
            let decorator = slog_term::TermDecorator::new().stderr().build();
            let format = slog_term::FullFormat::new(decorator).use_utc_timestamp().build();
            asynchronous(format.ignore_res())
        }
        LogFormat::Text => {
            let decorator = slog_term::PlainDecorator::new(stderr.handle());
            let format = slog_term::FullFormat::new(decorator).use_utc_timestamp().build();
            asynchronous(format.ignore_res())
        }
        LogFormat::Json => {
            let format = slog_json::Json::new(stderr.handle());
            asynchronous(format.add_default_keys().set_flush(true).build().ignore_res())
        }
    };
    let log = Logger::root(LevelFilter::new(drain, config.level.into()).ignore_res(), o!());
    let panics = log.clone();
    panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(ToString::to_string);
        crit!(panics, "panic"; "message" => message, "place" => place);
    }));
    Ok((log, Flush { records, stderr }))
}

fn asynchronous<D: Drain<Ok = (), Err = slog::Never> + Send + 'static>(
    drain: D,
) -> (slog::Fuse<Async>, AsyncGuard) {
    let (drain, guard) = Async::new(drain)
        .chan_size(WAITING_RECORDS)
        .overflow_strategy(OverflowStrategy::DropAndReport)
        .build_with_guard();
    (drain.fuse(), guard)
}
