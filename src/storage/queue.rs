//! The bounded queue of writes, and what a caller waits for.
//!
//! A write is counted in the metrics while it is in the queue. A caller that is gone is noticed before its write starts.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::metrics::StoreMetrics;
use super::options::StoreOptions;
use super::types::{ErrorType, StoreError};
use super::write::{Caller, Write};

/// Bounds how long a write waits for its batch, and how many writes fail together.
const MAX_BATCH: usize = 256;

/// The end of the queue where writes enter. The writers end when this is dropped and the queue is empty.
pub(super) struct WriteQueue {
    queue: mpsc::Sender<QueuedWrite>,
    /// How long a caller waits; `None` if the engine limits that itself.
    call_timeout: Option<Duration>,
    metrics: StoreMetrics,
}

/// The end of the queue where the writers of an engine take batches.
pub(super) struct Batches {
    queue: mpsc::Receiver<QueuedWrite>,
    metrics: StoreMetrics,
    _stopped: DropGuard,
}

/// Commits batches to an engine.
pub(super) trait Writer {
    /// Commits a batch, and keeps the result of each write for its caller. Logs and counts a failure.
    ///
    /// # Errors
    /// The error of every caller. It is unknown whether the batch was committed.
    fn commit(&mut self, batch: &mut [QueuedWrite]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Is called when the callers of a batch have their results.
    fn after_batch(&mut self) {}
}

pub(super) struct QueuedWrite {
    pub(super) since: Instant,
    pub(super) write: Write,
}

/// A write in the queue.
pub(super) struct PendingWrite<T> {
    until: Option<Instant>,
    receiver: oneshot::Receiver<Result<T, StoreError>>,
}

/// Returns an empty queue. The token is cancelled when [`Batches`] is dropped: the writers have ended, or have panicked.
pub(super) fn open(
    options: &StoreOptions,
    call_timeout: Option<Duration>,
) -> (WriteQueue, Batches, CancellationToken) {
    let (sender, receiver) = mpsc::channel(options.write_queue);
    let stopped = CancellationToken::new();
    let metrics = options.metrics.clone();
    let batches =
        Batches { queue: receiver, metrics: metrics.clone(), _stopped: stopped.clone().drop_guard() };
    (WriteQueue { queue: sender, call_timeout, metrics }, batches, stopped)
}

impl WriteQueue {
    /// Adds a write to the queue, or rejects it at once.
    pub(super) fn push<T>(
        &self,
        write: impl FnOnce(Caller<T>) -> Write,
    ) -> Result<PendingWrite<T>, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let since = Instant::now();
        // Counted first, because a writer may take it at once.
        self.metrics.queue.inc();
        let queued = QueuedWrite { since, write: write(Caller::new(sender)) };
        let until = self.call_timeout.map(|timeout| since + timeout);
        self.queue.try_send(queued).map(|()| PendingWrite { until, receiver }).map_err(|refused| {
            self.metrics.queue.dec();
            match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => stopped(),
            }
        })
    }
}

impl Batches {
    /// Commits the writes in the queue, batch by batch, until the queue is closed and empty. Writes whose callers are gone
    /// are skipped.
    pub(super) async fn commit_with(&mut self, writer: &mut impl Writer) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        loop {
            let count = self.queue.recv_many(&mut batch, MAX_BATCH).await;
            if count == 0 {
                return;
            }
            self.metrics.queue.dec_by(count as i64);
            batch.retain(|queued| !queued.write.is_abandoned());
            if batch.is_empty() {
                continue;
            }
            let failure = writer.commit(&mut batch).await.err();
            if failure.is_none() {
                self.metrics.committed(batch.iter().filter(|queued| !queued.write.is_check()).count());
            }
            for queued in batch.drain(..) {
                queued.write.complete(failure.clone());
            }
            writer.after_batch();
        }
    }
}

impl<T> PendingWrite<T> {
    /// Returns the result. After an error other than [`StoreError::Busy`] the write may happen later.
    pub(super) async fn wait(self) -> Result<T, StoreError> {
        let received = match self.until {
            Some(until) => timeout_at(until, self.receiver).await.map_err(|_| ErrorType::Timeout)?,
            None => self.receiver.await,
        };
        received.unwrap_or_else(|_| Err(stopped()))
    }
}

/// Returns the error of a call after the store was closed.
pub(super) fn closed() -> StoreError {
    StoreError::Unavailable("it was closed".to_owned())
}

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("it writes no more; restart the service".to_owned())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::config::{Config, Flags};
    use crate::storage::options::Migrate;

    fn open_with(call_timeout: Option<Duration>) -> (WriteQueue, Batches, CancellationToken) {
        let options = StoreOptions {
            postgres: Config::load(&Flags::default()).unwrap().postgres,
            write_queue: 16,
            lock_timeout: Duration::from_secs(60),
            migrate: Migrate::Apply,
            version: "1.2.3",
            log: slog::Logger::root(slog::Discard, slog::o!()),
            metrics: StoreMetrics::default(),
        };
        open(&options, call_timeout)
    }

    fn push(queue: &WriteQueue) -> Result<PendingWrite<()>, StoreError> {
        queue.push(Write::Check)
    }

    /// Has the number of writes of each batch.
    #[derive(Default)]
    struct Batched(Vec<usize>);

    impl Writer for Batched {
        async fn commit(&mut self, batch: &mut [QueuedWrite]) -> Result<(), StoreError> {
            self.0.push(batch.len());
            for queued in batch {
                let Write::Check(caller) = &mut queued.write else { panic!() };
                caller.keep(());
            }
            Ok(())
        }
    }

    struct Panics;

    impl Writer for Panics {
        async fn commit(&mut self, _: &mut [QueuedWrite]) -> Result<(), StoreError> {
            panic!("for the test")
        }
    }

    #[tokio::test]
    async fn a_panic_of_the_writer_is_reported_and_fails_all_writes() {
        let (queue, mut batches, stopped) = open_with(None);
        let pending = push(&queue).unwrap();
        tokio::spawn(async move { batches.commit_with(&mut Panics).await });
        assert!(pending.wait().await.is_err());
        stopped.cancelled().await;
        assert!(matches!(push(&queue), Err(StoreError::Unavailable(_))));
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_before_the_writer_ends() {
        let (queue, mut batches, stopped) = open_with(None);
        let pending = push(&queue).unwrap();
        drop(queue);
        assert!(stopped.cancelled().now_or_never().is_none());
        let mut writer = Batched::default();
        batches.commit_with(&mut writer).await;
        assert_eq!(writer.0, [1]);
        pending.wait().await.unwrap();
        drop(batches);
        stopped.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_waits_no_longer_than_the_time_limit_and_its_write_is_skipped() {
        let (queue, mut batches, _stopped) = open_with(Some(Duration::from_secs(5)));
        let pending = push(&queue).unwrap();
        assert!(matches!(pending.wait().await, Err(StoreError::Unavailable(_))));
        drop(queue);
        let mut writer = Batched::default();
        batches.commit_with(&mut writer).await;
        assert!(writer.0.is_empty());
    }
}
