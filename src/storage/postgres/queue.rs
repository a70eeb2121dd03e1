//! The queue of writes, and what a caller waits for.
//!
//! A write is counted in the metrics while it is in the queue. A caller that is gone is noticed before its write starts.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Client;

use super::failure::{Failure, WriteResult};
use super::once::AddOnce;
use super::session::Session;
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::{Operation, StoreMetrics};
use crate::storage::options::StoreOptions;
use crate::storage::store::{AddedOnce, IdempotencyKey, StoreError};

/// The capacity that tokio's queue allows exceeds any machine's memory.
const MAX_QUEUE: usize = 1 << 20;

/// Accepts writes. The tasks that execute them end when this is dropped and the queue is empty.
pub(super) struct WriteQueue {
    queue: mpsc::Sender<QueuedWrite>,
    call_timeout: Duration,
    metrics: StoreMetrics,
}

impl WriteQueue {
    /// Returns an empty queue, and the receiver for the tasks.
    pub(super) fn new(options: &StoreOptions) -> (Self, mpsc::Receiver<QueuedWrite>) {
        let (queue, waiting) = mpsc::channel(options.write_queue.clamp(1, MAX_QUEUE));
        let call_timeout = options.postgres.call_timeout();
        (Self { queue, call_timeout, metrics: options.metrics.clone() }, waiting)
    }

    /// Adds an animal to the queue, or rejects it at once.
    pub(super) fn enqueue_pet(&self, new: NewPet) -> Result<PendingWrite<Pet>, StoreError> {
        self.push(|caller| Write::Add(new, caller))
    }

    /// Adds an animal with an idempotency key to the queue, or rejects it at once.
    pub(super) fn enqueue_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<PendingWrite<AddedOnce>, StoreError> {
        self.push(|caller| Write::AddOnce(AddOnce { new, key, at, caller }))
    }

    /// Adds another write to the queue, or rejects it at once. The work is one statement.
    pub(super) fn enqueue<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send + 'static,
    ) -> Result<PendingWrite<T>, StoreError> {
        self.enqueue_job(work, true)
    }

    /// Adds a check to the queue, or rejects it at once. Unlike a write it does not count as a commit.
    pub(super) fn enqueue_check<T: Send + 'static>(
        &self,
        check: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send + 'static,
    ) -> Result<PendingWrite<T>, StoreError> {
        self.enqueue_job(check, false)
    }

    fn enqueue_job<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send + 'static,
        is_write: bool,
    ) -> Result<PendingWrite<T>, StoreError> {
        self.push(|caller| Write::Other(Box::new(JobOf { work, is_write, caller })))
    }

    fn push<T>(
        &self,
        write: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Write,
    ) -> Result<PendingWrite<T>, StoreError> {
        let (caller, receiver) = oneshot::channel();
        let since = Instant::now();
        // Counted first, because a task may dequeue it at once.
        self.metrics.enqueued();
        let sent = self.queue.try_send(QueuedWrite { since, write: write(caller) });
        sent.map(|()| PendingWrite { until: since + self.call_timeout, receiver }).map_err(|refused| {
            self.metrics.dequeued(1);
            match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => stopped(),
            }
        })
    }
}

pub(super) struct QueuedWrite {
    pub(super) since: Instant,
    pub(super) write: Write,
}

pub(super) enum Write {
    Add(NewPet, oneshot::Sender<Result<Pet, StoreError>>),
    AddOnce(AddOnce),
    Other(Box<dyn Job>),
}

/// A write other than adding an animal.
#[async_trait]
pub(super) trait Job: Send {
    /// Whether the caller is gone.
    fn is_abandoned(&self) -> bool;
    /// Does the work and sends the result to the caller.
    async fn run(self: Box<Self>, session: &Session, until: Instant, options: &StoreOptions);
    /// Sends an error to the caller without doing the work.
    fn fail(self: Box<Self>, error: StoreError);
}

struct JobOf<T, F> {
    work: F,
    /// Whether the work is a commit of one write, for the metrics.
    is_write: bool,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

#[async_trait]
impl<T, F> Job for JobOf<T, F>
where
    T: Send,
    F: for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    async fn run(self: Box<Self>, session: &Session, until: Instant, options: &StoreOptions) {
        let result = match session.write_until(until, (self.work)(session.client())).await {
            Ok(done) => {
                if done.is_ok() && self.is_write {
                    options.metrics.committed(1);
                }
                done
            }
            Err(failure) => Err(failure.report(options, Operation::Write)),
        };
        // The caller may be gone.
        let _ = self.caller.send(result);
    }

    fn fail(self: Box<Self>, error: StoreError) {
        // The caller may be gone.
        let _ = self.caller.send(Err(error));
    }
}

impl QueuedWrite {
    /// Whether the caller is gone.
    pub(super) fn is_abandoned(&self) -> bool {
        match &self.write {
            Write::Add(_, caller) => caller.is_closed(),
            Write::AddOnce(addition) => addition.caller.is_closed(),
            Write::Other(job) => job.is_abandoned(),
        }
    }

    pub(super) fn fail(self, failure: &Failure) {
        // The caller may be gone.
        match self.write {
            Write::Add(_, caller) => drop(caller.send(Err(failure.store_error()))),
            Write::AddOnce(addition) => addition.complete(Err(failure.store_error())),
            Write::Other(job) => job.fail(failure.store_error()),
        }
    }
}

/// A write in the queue. Its result comes within the maximum duration of a call.
pub(super) struct PendingWrite<T> {
    until: Instant,
    receiver: oneshot::Receiver<Result<T, StoreError>>,
}

impl<T> PendingWrite<T> {
    pub(super) async fn wait(self) -> Result<T, StoreError> {
        match timeout_at(self.until, self.receiver).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(Failure::Timeout.store_error()),
        }
    }
}

pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("the tasks that write have stopped".to_owned())
}
