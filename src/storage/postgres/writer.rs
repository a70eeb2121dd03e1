//! Writes: a few tasks, each of which stores all waiting animals with one statement (group commit).
//!
//! A commit costs far more than a row, so a task takes everything in the queue, up to [`MAX_BATCH`], into one
//! `INSERT` and completes the writes when the server has committed. Meanwhile the next task takes the next
//! batch; there is no timer. Changes of API keys use the same queue, one statement each.
//!
//! Failure modes of a write:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller is gone before it starts: it is skipped. Once started, it is committed with its batch.
//! - The server rejects the values of a batch: it has changed nothing, so each animal is sent separately, and
//!   only the invalid one is rejected.
//! - The connection fails, or the server does not respond in time: the whole batch is
//!   [`StoreError::Unavailable`]. It is unknown whether the server committed, so nothing is sent again, which
//!   could store it twice.
//! - It waits longer than the maximum duration of a call, including its time in the queue:
//!   [`StoreError::Unavailable`].
//!
//! A task whose connection is lost opens another one before it takes a batch, unless no task is connected.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::{Client, Statement};

use super::address::Address;
use super::animals;
use super::failure::{Failure, WriteResult};
use super::session::{Purpose, Session};
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::{Operation, StoreMetrics};
use crate::storage::options::StoreOptions;
use crate::storage::store::StoreError;

/// Bounds how long a write waits for its batch, and how many writes fail together.
const MAX_BATCH: usize = 256;
/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);
/// The time between two attempts of a task to connect while another task is connected.
const RETRY: Duration = Duration::from_secs(1);
/// The capacity that tokio's queue allows exceeds any machine's memory.
const MAX_QUEUE: usize = 1 << 20;

/// The queue of the writer tasks. They end when this is dropped and the queue is empty.
pub(super) struct Writer {
    queue: mpsc::Sender<QueuedWrite>,
    call_timeout: Duration,
    metrics: StoreMetrics,
}

/// Reports that all writer tasks have ended.
#[derive(Clone)]
pub(super) struct Stopped(watch::Receiver<()>);

impl Stopped {
    pub(super) async fn wait(&self) {
        // The tasks send nothing, and drop their sender when they end or panic.
        let mut tasks = self.0.clone();
        while tasks.changed().await.is_ok() {}
    }
}

struct QueuedWrite {
    since: Instant,
    write: Write,
}

enum Write {
    Add(NewPet, oneshot::Sender<Result<Pet, StoreError>>),
    Other(Box<dyn Job>),
}

/// A write other than adding an animal.
#[async_trait]
trait Job: Send {
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
    fn is_abandoned(&self) -> bool {
        match &self.write {
            Write::Add(_, caller) => caller.is_closed(),
            Write::Other(job) => job.is_abandoned(),
        }
    }

    fn fail(self, failure: &Failure) {
        // The caller may be gone.
        match self.write {
            Write::Add(_, caller) => drop(caller.send(Err(failure.store_error()))),
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

fn stopped() -> StoreError {
    StoreError::Unavailable("the tasks that write have stopped".to_owned())
}

impl Writer {
    /// Starts the tasks.
    pub(super) fn start(address: &Address, options: &StoreOptions) -> (Self, Stopped) {
        let (queue, waiting) = mpsc::channel(options.write_queue.clamp(1, MAX_QUEUE));
        let waiting = Arc::new(Mutex::new(waiting));
        let (running, ended) = watch::channel(());
        let running = Arc::new(running);
        let connected = watch::Sender::new(0);
        for _ in 0..options.postgres.writers.max(1) {
            let task = WriterTask {
                connection: None,
                connected: connected.clone(),
                address: address.clone(),
                options: options.clone(),
            };
            let (waiting, running) = (waiting.clone(), running.clone());
            tokio::spawn(async move {
                task.run(&waiting).await;
                drop(running);
            });
        }
        let call_timeout = options.postgres.call_timeout();
        (Self { queue, call_timeout, metrics: options.metrics.clone() }, Stopped(ended))
    }

    /// Adds an animal to the queue, or rejects it at once.
    pub(super) fn enqueue_pet(&self, new: NewPet) -> Result<PendingWrite<Pet>, StoreError> {
        self.push(|caller| Write::Add(new, caller))
    }

    /// Adds another write to the queue, or rejects it at once. The work is one statement.
    pub(super) fn enqueue<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, WriteResult<T>> + Send + 'static,
    ) -> Result<PendingWrite<T>, StoreError> {
        self.enqueue_job(work, true)
    }

    /// Adds a check to the queue, or rejects it at once: a task must take it, and its server must accept writes.
    pub(super) fn enqueue_check(&self) -> Result<PendingWrite<()>, StoreError> {
        self.enqueue_job(|client| Box::pin(check_writable(client)), false)
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

/// Fails if the server is read-only, so that the session is closed and another server is looked for.
async fn check_writable(client: &Client) -> WriteResult<()> {
    let sql = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean";
    match client.query_one(sql, &[]).await?.try_get(0)? {
        true => Err(Failure::ReadOnly),
        false => Ok(Ok(())),
    }
}

/// The state of a task.
struct WriterTask {
    /// `None` before the first write and after a failure.
    connection: Option<Connection>,
    /// The number of connected tasks.
    connected: watch::Sender<usize>,
    address: Address,
    options: StoreOptions,
}

struct Connection {
    session: Session,
    insert: Statement,
    _counted: Counted,
}

/// Counts a connected task.
struct Counted(watch::Sender<usize>);

impl Counted {
    fn new(connected: &watch::Sender<usize>) -> Self {
        connected.send_modify(|count| *count += 1);
        Self(connected.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl WriterTask {
    async fn run(mut self, queue: &Mutex<mpsc::Receiver<QueuedWrite>>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        loop {
            self.reconnect_while_others_write().await;
            // One task waits for the queue, the others for the lock.
            let take = async { queue.lock().await.recv_many(&mut batch, MAX_BATCH).await };
            tokio::select! {
                biased;
                count = take => if count == 0 { return },
                () = self.connection_changes() => continue,
            }
            self.options.metrics.dequeued(batch.len());
            batch.retain(|waiting| !waiting.is_abandoned());
            if let Some(oldest) = batch.first() {
                let limit = self.options.postgres.call_timeout();
                let until = (oldest.since + limit).max(Instant::now() + MIN_BATCH_TIME);
                self.write(&mut batch, until).await;
            }
        }
    }

    /// Connects if necessary, unless no task is connected. Then a write connects, and its caller gets the failure.
    async fn reconnect_while_others_write(&mut self) {
        self.connection.take_if(|connection| !connection.session.is_usable());
        if self.connection.is_some() {
            return;
        }
        let connecting = async {
            loop {
                match Connection::new(&self.address, &self.connected, &self.options).await {
                    Ok(connection) => return connection,
                    Err(_) => sleep(RETRY).await,
                }
            }
        };
        let mut connected = self.connected.subscribe();
        tokio::select! {
            biased;
            _ = connected.wait_for(|count| *count == 0) => {}
            connection = connecting => self.connection = Some(connection),
        }
    }

    /// Completes when this task's connection is lost, or when it has none and another task connects.
    async fn connection_changes(&self) {
        match &self.connection {
            Some(connection) => connection.session.lost().await,
            None => drop(self.connected.subscribe().wait_for(|count| *count > 0).await),
        }
    }

    /// Writes and empties `batch`, until the deadline `until`.
    async fn write(&mut self, batch: &mut Vec<QueuedWrite>, until: Instant) {
        let options = self.options.clone();
        let connection = match self.connection(until).await {
            Ok(connection) => connection,
            Err(failure) => {
                failure.report(&options, Operation::Connect);
                batch.drain(..).for_each(|queued| queued.fail(&failure));
                return;
            }
        };
        let mut animals = Vec::with_capacity(batch.len());
        let mut others = Vec::new();
        for waiting in batch.drain(..) {
            match waiting.write {
                Write::Add(new, caller) => animals.push((new, caller)),
                Write::Other(job) => others.push(job),
            }
        }
        if !animals.is_empty() {
            connection.add(animals, until, &options).await;
        }
        for job in others {
            job.run(&connection.session, until, &options).await;
        }
    }

    async fn connection(&mut self, until: Instant) -> Result<&Connection, Failure> {
        if self.connection.as_ref().is_some_and(|connection| !connection.session.is_usable()) {
            self.connection = None;
        }
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => {
                let connecting = Connection::new(&self.address, &self.connected, &self.options);
                let connection = timeout_at(until, connecting).await.unwrap_or(Err(Failure::Timeout))?;
                Ok(none.insert(connection))
            }
        }
    }
}

impl Connection {
    async fn new(
        address: &Address,
        connected: &watch::Sender<usize>,
        options: &StoreOptions,
    ) -> Result<Self, Failure> {
        let session = Session::connect(address, Purpose::Writing, options).await?;
        let insert = animals::prepare_insert(session.client()).await?;
        Ok(Self { session, insert, _counted: Counted::new(connected) })
    }

    /// Stores animals and sends the result to each caller.
    async fn add(
        &self,
        animals: Vec<(NewPet, oneshot::Sender<Result<Pet, StoreError>>)>,
        until: Instant,
        options: &StoreOptions,
    ) {
        let all: Vec<&NewPet> = animals.iter().map(|(new, _)| new).collect();
        let ids: Vec<Result<i64, StoreError>> = match self.insert(&all, until, &options.metrics).await {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(failure) if failure.is_value_error() => self.insert_each(&all, until, options).await,
            Err(failure) => {
                failure.report(options, Operation::Write);
                all.iter().map(|_| Err(failure.store_error())).collect()
            }
        };
        for ((NewPet { name, category_id, status }, caller), id) in animals.into_iter().zip(ids) {
            // The caller may be gone.
            let _ = caller.send(id.map(|id| Pet { id, name, category_id, status }));
        }
    }

    async fn insert(
        &self,
        animals: &[&NewPet],
        until: Instant,
        metrics: &StoreMetrics,
    ) -> Result<Vec<i64>, Failure> {
        let insert = animals::insert(self.session.client(), &self.insert, animals);
        let ids = self.session.write_until(until, insert).await?;
        metrics.committed(animals.len());
        Ok(ids)
    }

    /// Stores animals one by one, after the batch was rejected.
    async fn insert_each(
        &self,
        animals: &[&NewPet],
        until: Instant,
        options: &StoreOptions,
    ) -> Vec<Result<i64, StoreError>> {
        let mut ids = Vec::with_capacity(animals.len());
        for animal in animals {
            let id = match self.insert(&[animal], until, &options.metrics).await {
                Ok(one) => one.first().copied().ok_or_else(stopped),
                Err(failure) => Err(failure.report(options, Operation::Write)),
            };
            ids.push(id);
        }
        ids
    }
}
