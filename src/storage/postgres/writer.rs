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

use tokio::sync::{Mutex, mpsc, watch};
use tokio::time::{Instant, sleep, timeout_at};

use super::address::Address;
use super::failure::Failure;
use super::queue::{QueuedWrite, Write, WriteQueue};
use super::write_session::WriteSession;
use crate::storage::metrics::Operation;
use crate::storage::options::StoreOptions;

/// Bounds how long a write waits for its batch, and how many writes fail together.
const MAX_BATCH: usize = 256;
/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);
/// The time between two attempts of a task to connect while another task is connected.
const RETRY: Duration = Duration::from_secs(1);

/// Starts the tasks. Returns the queue that they empty.
pub(super) fn start(address: &Address, options: &StoreOptions) -> (WriteQueue, Stopped) {
    let (queue, waiting) = WriteQueue::new(options);
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
    (queue, Stopped(ended))
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

/// The state of a task.
struct WriterTask {
    /// `None` before the first write and after a failure.
    connection: Option<WriteSession>,
    /// The number of connected tasks.
    connected: watch::Sender<usize>,
    address: Address,
    options: StoreOptions,
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
                match WriteSession::connect(&self.address, &self.connected, &self.options).await {
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
        let (mut once, mut others) = (Vec::new(), Vec::new());
        for waiting in batch.drain(..) {
            match waiting.write {
                Write::Add(new, caller) => animals.push((new, caller)),
                Write::AddOnce(addition) => once.push(addition),
                Write::Other(job) => others.push(job),
            }
        }
        if !animals.is_empty() {
            connection.add(animals, until, &options).await;
        }
        if !once.is_empty() {
            connection.add_once(once, until, &options).await;
        }
        for job in others {
            job.run(&connection.session, until, &options).await;
        }
    }

    async fn connection(&mut self, until: Instant) -> Result<&WriteSession, Failure> {
        if self.connection.as_ref().is_some_and(|connection| !connection.session.is_usable()) {
            self.connection = None;
        }
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => {
                let connecting = WriteSession::connect(&self.address, &self.connected, &self.options);
                let connection = timeout_at(until, connecting).await.unwrap_or(Err(Failure::Timeout))?;
                Ok(none.insert(connection))
            }
        }
    }
}
