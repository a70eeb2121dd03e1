//! Writes: a few tasks, each of which stores all animals that wait in one statement (group commit).
//!
//! A commit costs far more than a row, so a task takes everything that waits, up to [`LARGEST_BATCH`], into
//! one `INSERT` and answers when the server has committed it. While it waits for the server, the next task
//! takes what has gathered meanwhile; there is no timer. Changes to keys go the same way, one at a time.
//!
//! What happens to a write:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller went away before it began: it is left out. Once begun it takes effect like its neighbours.
//! - The server refuses the values in a batch: it did nothing then, so each animal is sent by itself, and
//!   only the one at fault is refused.
//! - The connection fails, or no answer comes in time: all of the batch are [`StoreError::Unavailable`].
//!   Nobody knows whether the server committed, so nothing is sent again: that could store it twice.
//! - It waits longer than [`LONGEST_WAIT`], its time in the queue included: [`StoreError::Unavailable`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Client, Statement};

use super::address::Address;
use super::failure::Failure;
use super::session::{Purpose, Session};
use super::{LONGEST_WAIT, animals};
use crate::schemas::{NewPet, Pet};
use crate::storage::metrics::Operation;
use crate::storage::{StoreError, StoreMetrics, StoreOptions};

/// How many tasks write, each with a connection of its own.
const TASKS: usize = 4;
/// Bounds how long the last of a batch waits for the first, and what one failure takes with it.
const LARGEST_BATCH: usize = 256;
/// What a batch may take even if its oldest caller leaves earlier. After an outage the queue is full of old
/// ones, and to give up on the server at once would not end it.
const SHORTEST_TRY: Duration = Duration::from_secs(1);
/// What tokio's queue can be made for is more than anybody's memory.
const LONGEST_QUEUE: usize = 1 << 20;

/// The way to the tasks that write. They end when this is dropped and the queue is empty.
pub(super) struct Writer {
    queue: mpsc::Sender<Waiting>,
    metrics: StoreMetrics,
}

/// Tells when all tasks that write have ended.
pub(super) struct Ended(watch::Receiver<()>);

impl Ended {
    pub(super) async fn wait(&self) {
        // Nothing is ever sent; each task drops its end when it is done, also if it panicked.
        let mut tasks = self.0.clone();
        while tasks.changed().await.is_ok() {}
    }
}

/// What became of a write. The outer error is a failure of the database; the inner one refuses the write,
/// which then changed nothing.
pub(super) type Attempt<T> = Result<Result<T, StoreError>, Failure>;

struct Waiting {
    since: Instant,
    write: Write,
}

enum Write {
    Add(NewPet, oneshot::Sender<Result<Pet, StoreError>>),
    Other(Box<dyn Job>),
}

/// A write that is not an animal to add.
#[async_trait]
trait Job: Send {
    /// Whether the caller no longer waits for the answer.
    fn is_abandoned(&self) -> bool;
    /// Does the work and answers the caller.
    async fn run(self: Box<Self>, session: &Session, until: Instant, options: &StoreOptions);
    /// Answers the caller without doing the work.
    fn refuse(self: Box<Self>, error: StoreError);
}

struct Other<T, F> {
    work: F,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

#[async_trait]
impl<T, F> Job for Other<T, F>
where
    T: Send,
    F: for<'a> FnOnce(&'a Client) -> BoxFuture<'a, Attempt<T>> + Send,
{
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    async fn run(self: Box<Self>, session: &Session, until: Instant, options: &StoreOptions) {
        let answer = match session.write_until(until, (self.work)(session.client())).await {
            Ok(done) => {
                if done.is_ok() {
                    options.metrics.committed(1);
                }
                done
            }
            Err(failure) => Err(failure.tell(options, Operation::Write)),
        };
        // The caller may have gone away.
        let _ = self.caller.send(answer);
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        // The caller may have gone away.
        let _ = self.caller.send(Err(error));
    }
}

impl Waiting {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool {
        match &self.write {
            Write::Add(_, caller) => caller.is_closed(),
            Write::Other(job) => job.is_abandoned(),
        }
    }

    fn refuse(self, failure: &Failure) {
        // Nobody may be waiting any more.
        match self.write {
            Write::Add(_, caller) => drop(caller.send(Err(failure.told()))),
            Write::Other(job) => job.refuse(failure.told()),
        }
    }
}

/// An answer that will come, within [`LONGEST_WAIT`] from when its write was accepted.
pub(super) struct Answer<T> {
    until: Instant,
    receiver: oneshot::Receiver<Result<T, StoreError>>,
}

impl<T> Answer<T> {
    pub(super) async fn wait(self) -> Result<T, StoreError> {
        match timeout_at(self.until, self.receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(Failure::Late.told()),
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the tasks that write have stopped".to_owned())
}

impl Writer {
    /// Starts the tasks.
    pub(super) fn start(address: &Address, options: &StoreOptions) -> (Self, Ended) {
        let (queue, waiting) = mpsc::channel(options.write_queue.clamp(1, LONGEST_QUEUE));
        let waiting = Arc::new(Mutex::new(waiting));
        let (running, ended) = watch::channel(());
        let running = Arc::new(running);
        for _ in 0..TASKS {
            let committer =
                Committer { connection: None, address: address.clone(), options: options.clone() };
            let (waiting, running) = (waiting.clone(), running.clone());
            tokio::spawn(async move {
                committer.run(&waiting).await;
                drop(running);
            });
        }
        (Self { queue, metrics: options.metrics.clone() }, Ended(ended))
    }

    /// Puts an animal into the queue, or refuses it at once.
    pub(super) fn add(&self, new: NewPet) -> Result<Answer<Pet>, StoreError> {
        self.enqueue(|caller| Write::Add(new, caller))
    }

    /// Puts another write into the queue, or refuses it at once. The work is one statement.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        work: impl for<'a> FnOnce(&'a Client) -> BoxFuture<'a, Attempt<T>> + Send + 'static,
    ) -> Result<Answer<T>, StoreError> {
        self.enqueue(|caller| Write::Other(Box::new(Other { work, caller })))
    }

    fn enqueue<T>(
        &self,
        write: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Write,
    ) -> Result<Answer<T>, StoreError> {
        let (caller, receiver) = oneshot::channel();
        let since = Instant::now();
        // Before it does, since it may leave at once.
        self.metrics.joined();
        let sent = self.queue.try_send(Waiting { since, write: write(caller) });
        sent.map(|()| Answer { until: since + LONGEST_WAIT, receiver }).map_err(|refused| {
            self.metrics.left(1);
            match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => stopped(),
            }
        })
    }
}

/// What a task owns.
struct Committer {
    /// `None` before the first write and after a failure.
    connection: Option<Connection>,
    address: Address,
    options: StoreOptions,
}

struct Connection {
    session: Session,
    insert: Statement,
}

impl Committer {
    async fn run(mut self, queue: &Mutex<mpsc::Receiver<Waiting>>) {
        let mut batch = Vec::with_capacity(LARGEST_BATCH);
        // One task waits for the queue at a time, the others for the lock.
        while queue.lock().await.recv_many(&mut batch, LARGEST_BATCH).await > 0 {
            self.options.metrics.left(batch.len());
            batch.retain(|waiting| !waiting.is_abandoned());
            if let Some(oldest) = batch.first() {
                let until = (oldest.since + LONGEST_WAIT).max(Instant::now() + SHORTEST_TRY);
                self.write(&mut batch, until).await;
            }
        }
    }

    /// Does what is in `batch` and empties it, or gives up at `until`.
    async fn write(&mut self, batch: &mut Vec<Waiting>, until: Instant) {
        let options = self.options.clone();
        let connection = match self.connection(until).await {
            Ok(connection) => connection,
            Err(failure) => {
                failure.tell(&options, Operation::Connect);
                batch.drain(..).for_each(|waiting| waiting.refuse(&failure));
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
                let connecting = Connection::new(&self.address, &self.options);
                let connection = timeout_at(until, connecting).await.unwrap_or(Err(Failure::Late))?;
                Ok(none.insert(connection))
            }
        }
    }
}

impl Connection {
    async fn new(address: &Address, options: &StoreOptions) -> Result<Self, Failure> {
        let StoreOptions { lock_timeout, log, .. } = options;
        let session = Session::connect(address, Purpose::Writing, *lock_timeout, log).await?;
        let insert = animals::prepare_insert(session.client()).await?;
        Ok(Self { session, insert })
    }

    /// Stores animals and answers each caller.
    async fn add(
        &self,
        animals: Vec<(NewPet, oneshot::Sender<Result<Pet, StoreError>>)>,
        until: Instant,
        options: &StoreOptions,
    ) {
        let all: Vec<&NewPet> = animals.iter().map(|(new, _)| new).collect();
        let ids: Vec<Result<i64, StoreError>> = match self.insert(&all, until, &options.metrics).await {
            Ok(ids) => ids.into_iter().map(Ok).collect(),
            Err(failure) if failure.is_about_values() => self.insert_each(&all, until, options).await,
            Err(failure) => {
                failure.tell(options, Operation::Write);
                all.iter().map(|_| Err(failure.told())).collect()
            }
        };
        for ((NewPet { name, category_id, status }, caller), id) in animals.into_iter().zip(ids) {
            // Nobody may be waiting any more.
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

    /// Stores animals one by one, after they were refused together.
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
                Err(failure) => Err(failure.tell(options, Operation::Write)),
            };
            ids.push(id);
        }
        ids
    }
}
