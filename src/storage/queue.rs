//! The bounded queue of writes, and what a caller waits for.
//!
//! A write is counted in the metrics while it is in the queue. A caller that is gone is noticed before its write starts.

use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::error::{ErrorType, StoreError};
use super::metrics::StoreMetrics;
use super::options::StoreOptions;
use super::write::{Caller, Write};

/// Bounds how long a write waits for its batch, and how many writes fail together.
pub(super) const MAX_BATCH: usize = 256;
/// The capacity that tokio's queue allows exceeds any machine's memory.
const MAX_QUEUE: usize = 1 << 20;

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
    let (sender, receiver) = mpsc::channel(options.write_queue.clamp(1, MAX_QUEUE));
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
    /// Takes the writes in the queue, or waits for one. Returns `false` when the queue is closed and empty. The batch is
    /// empty if all of its callers are gone.
    pub(super) async fn take(&mut self, batch: &mut Vec<QueuedWrite>) -> bool {
        let count = self.queue.recv_many(batch, MAX_BATCH).await;
        self.taken(count, batch)
    }

    /// Does the same as [`Batches::take`] on a thread outside of the runtime.
    pub(super) fn blocking_take(&mut self, batch: &mut Vec<QueuedWrite>) -> bool {
        let count = self.queue.blocking_recv_many(batch, MAX_BATCH);
        self.taken(count, batch)
    }

    fn taken(&self, count: usize, batch: &mut Vec<QueuedWrite>) -> bool {
        self.metrics.queue.dec_by(count as i64);
        batch.retain(|queued| !queued.write.is_abandoned());
        count > 0
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
    use crate::storage::options::{Migrate, PostgresOptions};
    use crate::storage::write::Change;

    fn open_with(call_timeout: Option<Duration>) -> (WriteQueue, Batches, CancellationToken) {
        let options = StoreOptions {
            postgres: PostgresOptions::default(),
            write_queue: 16,
            lock_timeout: Duration::from_secs(60),
            migrate: Migrate::Apply,
            version: "1.2.3",
            log: slog::Logger::root(slog::Discard, slog::o!()),
            metrics: StoreMetrics::default(),
        };
        open(&options, call_timeout)
    }

    fn push(queue: &WriteQueue) -> Result<PendingWrite<bool>, StoreError> {
        queue.push(|caller| Write::Change(Change::Check, caller))
    }

    #[tokio::test]
    async fn a_panic_of_the_writer_is_reported_and_fails_all_writes() {
        let (queue, mut batches, stopped) = open_with(None);
        let pending = push(&queue).unwrap();
        std::thread::spawn(move || {
            assert!(batches.blocking_take(&mut Vec::new()));
            panic!("for the test");
        });
        assert!(pending.wait().await.is_err());
        stopped.cancelled().await;
        assert!(matches!(push(&queue), Err(StoreError::Unavailable(_))));
    }

    #[tokio::test]
    async fn a_closed_queue_is_emptied_before_the_writer_ends() {
        let (queue, mut batches, stopped) = open_with(None);
        let pending = push(&queue).unwrap();
        drop(queue);
        let mut batch = Vec::new();
        assert!(batches.take(&mut batch).await);
        assert_eq!(batch.len(), 1);
        assert!(!batches.take(&mut batch).await);
        assert!(stopped.cancelled().now_or_never().is_none());
        let Some(Write::Change(_, caller)) = batch.pop().map(|queued| queued.write) else { panic!() };
        caller.send(Ok(true));
        assert!(pending.wait().await.unwrap());
        drop(batches);
        stopped.cancelled().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_waits_no_longer_than_the_time_limit_and_its_write_is_skipped() {
        let (queue, mut batches, _stopped) = open_with(Some(Duration::from_secs(5)));
        let pending = push(&queue).unwrap();
        assert!(matches!(pending.wait().await, Err(StoreError::Unavailable(_))));
        let mut batch = Vec::new();
        assert!(batches.take(&mut batch).await);
        assert!(batch.is_empty());
    }
}
