//! Writes: a few tasks, each of which stores all waiting animals with one statement (group commit).
//!
//! A commit costs far more than a row, so a task takes everything in the queue, up to [`MAX_BATCH`], into one
//! `INSERT` and completes the writes when the server has committed. Meanwhile the next task takes the next
//! batch; there is no timer. Every other write is one statement.
//!
//! Failure modes of a write, beside those of every engine (`../batching.rs`):
//!
//! - The server rejects the values of a batch: it has changed nothing, so each animal is sent separately, and
//!   only the invalid one is rejected.
//! - The connection fails, or the server does not respond in time: the whole batch is
//!   `Unavailable`. It is unknown whether the server committed, so nothing is sent again, which
//!   could store it twice.
//! - It waits longer than the maximum duration of a call, including its time in the queue:
//!   `Unavailable`.
//!
//! A task whose connection is lost opens another one before it takes a batch, unless no task is connected.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout_at};

use super::address::Address;
use super::error::PgError;
use super::write_session::WriteSession;
use crate::storage::metrics::Access;
use crate::storage::options::StoreOptions;
use crate::storage::queue::{Batches, MAX_BATCH, QueuedWrite};
use crate::storage::write::Write;

/// The minimum time for a batch, even if its oldest caller stops waiting earlier. After an outage the queue
/// is full of old writes, and without a minimum every attempt would time out.
const MIN_BATCH_TIME: Duration = Duration::from_secs(1);
/// The time between two attempts of a task to connect while another task is connected.
const RETRY: Duration = Duration::from_secs(1);

/// Starts the tasks, which write until the queue is closed.
pub(super) fn start(batches: Batches, address: &Address, options: &StoreOptions) {
    let batches = Arc::new(Mutex::new(batches));
    let connected = watch::Sender::new(0);
    for _ in 0..options.postgres.writers.max(1) {
        let task = WriterTask {
            connection: None,
            connected: connected.clone(),
            address: address.clone(),
            options: options.clone(),
        };
        let batches = batches.clone();
        tokio::spawn(async move { task.run(&batches).await });
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
    async fn run(mut self, batches: &Mutex<Batches>) {
        let mut batch = Vec::with_capacity(MAX_BATCH);
        loop {
            self.reconnect_while_others_write().await;
            // One task waits for the queue, the others for the lock.
            let take = async { batches.lock().await.take(&mut batch).await };
            tokio::select! {
                biased;
                is_open = take => if !is_open { return },
                () = self.connection_changes() => continue,
            }
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
        let connection = match self.connection(until).await {
            Ok(connection) => connection,
            Err(failure) => {
                failure.report(&self.options, Access::Connect);
                batch.drain(..).for_each(|queued| queued.write.complete(Some(failure.store_error())));
                return;
            }
        };
        let (mut additions, mut changes) = (Vec::with_capacity(batch.len()), Vec::new());
        for queued in batch.drain(..) {
            match queued.write {
                Write::Add(addition, caller) => additions.push((addition, caller)),
                Write::Change(change, caller) => changes.push((change, caller)),
            }
        }
        if !additions.is_empty() {
            connection.add(additions, until).await;
        }
        for (change, caller) in changes {
            connection.change(change, caller, until).await;
        }
    }

    async fn connection(&mut self, until: Instant) -> Result<&WriteSession, PgError> {
        self.connection.take_if(|connection| !connection.session.is_usable());
        match &mut self.connection {
            Some(connection) => Ok(connection),
            none => {
                let connecting = WriteSession::connect(&self.address, &self.connected, &self.options);
                let connection = timeout_at(until, connecting).await.unwrap_or(Err(PgError::Timeout))?;
                Ok(none.insert(connection))
            }
        }
    }
}
