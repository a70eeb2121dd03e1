//! Writes: one thread, one transaction for all that wait (group commit).
//!
//! An fsync costs far more than an insert, so the thread takes everything that waits, up to
//! [`LARGEST_BATCH`], into one transaction and answers after its COMMIT. While it is at the disk the next
//! batch gathers by itself; there is no timer.
//!
//! The log is moved into the database here as well, between two batches, when it has grown: SQLite would do it
//! within a COMMIT, while callers wait, and could not begin the log anew under reads that never pause.
//!
//! What happens to a write:
//!
//! - The queue is full: [`StoreError::Busy`] at once.
//! - Its caller went away before it began: it is left out. Once begun it takes effect like its neighbours.
//! - It is refused by itself (a key that exists): its statement has changed nothing, its neighbours go on. A
//!   write of several statements is taken back as a [`whole`]. Not each write: SQLite keeps a copy of every page
//!   that changes under a savepoint.
//! - The transaction fails: all of the batch get the same error. After a failed COMMIT nobody knows what
//!   the disk kept, so that error never says that nothing happened. The connection is rolled back or
//!   replaced, and the next batch tries again.
//! - Another process holds the lock: it waits for as long as its oldest neighbour may still wait, so no
//!   write waits longer than the lock timeout, its time in the queue included.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use slog::warn;
use tokio::sync::{mpsc, oneshot, watch};

use super::reader::Readers;
use super::{connection, failure, wal_index};
use crate::storage::metrics::Operation;
use crate::storage::{StoreError, StoreMetrics, StoreOptions};

/// Bounds how long the last of a batch waits for the first, and what one failure takes with it.
const LARGEST_BATCH: usize = 256;
/// What tokio's queue can be made for is more than anybody's memory.
const LONGEST_QUEUE: usize = 1 << 20;

/// How many pages the log gains before it is moved into the database. SQLite's own default.
const LOG_PAGES: u32 = 1000;

/// What became of one write inside the transaction. The outer error is one of the database and fails the
/// whole batch; the inner one refuses this write alone.
pub(super) type Attempt<T> = rusqlite::Result<Result<T, StoreError>>;

/// The way to the thread that writes. The thread ends when this is dropped and the queue is empty.
pub(super) struct Writer {
    queue: mpsc::Sender<Waiting>,
    metrics: StoreMetrics,
}

/// Tells when the thread that writes has ended.
pub(super) struct Ended(watch::Receiver<()>);

impl Ended {
    pub(super) async fn wait(&self) {
        // Nothing is ever sent; the thread drops its end when it is done, also if it panicked.
        let mut thread = self.0.clone();
        while thread.changed().await.is_ok() {}
    }
}

/// The answer to a caller whose write the thread will not come to.
pub(super) fn stopped() -> StoreError {
    StoreError::Unavailable("the thread that writes has stopped".to_owned())
}

struct Waiting {
    since: Instant,
    job: Box<dyn Job>,
}

/// A write of any type, on its way through the queue, the transaction and back to its caller.
trait Job: Send {
    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;
    /// Does the work. `false` says that it was refused, and has changed nothing.
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<bool>;
    /// Tells the caller how it went, `Some` being what failed the whole transaction.
    fn answer(self: Box<Self>, failed: Option<StoreError>);
}

struct Write<T, F> {
    work: Option<F>,
    done: Option<Result<T, StoreError>>,
    caller: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Attempt<T> + Send> Job for Write<T, F> {
    fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    fn run(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let Some(work) = self.work.take() else { return Ok(true) };
        let done = match work(connection) {
            // In a transaction that is still open, this is about the one row.
            Err(error) if failure::is_refusal(&error) && !connection.is_autocommit() => {
                Err(failure::told(&error))
            }
            done => done?,
        };
        let kept = done.is_ok();
        self.done = Some(done);
        Ok(kept)
    }

    fn answer(self: Box<Self>, failed: Option<StoreError>) {
        let answer = match (failed, self.done) {
            (Some(error), _) => Err(error),
            (None, Some(done)) => done,
            (None, None) => return, // left out, because nobody waits
        };
        // Nobody may be waiting any more.
        let _ = self.caller.send(answer);
    }
}

impl Writer {
    /// Starts the thread with a connection that may write to the file at `path`.
    pub(super) fn start(
        connection: Connection,
        path: PathBuf,
        readers: Arc<Readers>,
        options: &StoreOptions,
    ) -> std::io::Result<(Self, Ended)> {
        let (queue, waiting) = mpsc::channel(options.write_queue.clamp(1, LONGEST_QUEUE));
        let (running, ended) = watch::channel(());
        let connection = Some(connection);
        let committer = Committer { connection, path, readers, options: options.clone(), moved: 0 };
        std::thread::Builder::new().name("sqlite-writer".to_owned()).spawn(move || {
            committer.run(waiting);
            drop(running);
        })?;
        Ok((Self { queue, metrics: options.metrics.clone() }, Ended(ended)))
    }

    /// Puts a write into the queue, or refuses it at once. The answer comes after COMMIT. Work of several
    /// statements that may be refused must be a [`whole`].
    pub(super) fn submit<T, F>(&self, work: F) -> Result<oneshot::Receiver<Result<T, StoreError>>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Attempt<T> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let job = Box::new(Write { work: Some(work), done: None, caller });
        // Before it does, since it may leave at once.
        self.metrics.joined();
        self.queue.try_send(Waiting { since: Instant::now(), job }).map(|()| answer).map_err(|refused| {
            self.metrics.left(1);
            match refused {
                mpsc::error::TrySendError::Full(_) => StoreError::Busy,
                mpsc::error::TrySendError::Closed(_) => stopped(),
            }
        })
    }
}

/// What the thread owns.
struct Committer {
    /// `None` after a failure, until the next batch opens it again.
    connection: Option<Connection>,
    path: PathBuf,
    readers: Arc<Readers>,
    options: StoreOptions,
    /// How many pages the log held when it was last moved.
    moved: u32,
}

impl Committer {
    fn run(mut self, mut queue: mpsc::Receiver<Waiting>) {
        let mut batch = Vec::with_capacity(LARGEST_BATCH);
        while queue.blocking_recv_many(&mut batch, LARGEST_BATCH) > 0 {
            self.options.metrics.left(batch.len());
            let failed = self.commit(&mut batch).err();
            if let Some(error) = &failed {
                self.recover(error);
                failure::failure(&self.options, Operation::Write, error);
            }
            for waiting in batch.drain(..) {
                waiting.job.answer(failed.as_ref().map(failure::told));
            }
            if let Err(error) = self.checkpoint() {
                self.recover(&error);
                failure::failure(&self.options, Operation::Write, &error);
            }
        }
        self.finish();
    }

    /// Does all of `batch` in one transaction.
    fn commit(&mut self, batch: &mut [Waiting]) -> rusqlite::Result<()> {
        let wanted = batch.iter().filter(|waiting| !waiting.job.is_abandoned());
        let waited = wanted.map(|waiting| waiting.since.elapsed()).max().unwrap_or(self.options.lock_timeout);
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connection::writing(&self.path, self.options.lock_timeout)?),
        };
        connection::set_wait(connection, self.options.lock_timeout.saturating_sub(waited))?;
        execute(connection, "BEGIN IMMEDIATE")?;
        let mut kept = 0;
        for waiting in batch.iter_mut().filter(|waiting| !waiting.job.is_abandoned()) {
            kept += usize::from(waiting.job.run(connection)?);
        }
        execute(connection, "COMMIT")?;
        self.options.metrics.committed(kept);
        Ok(())
    }

    /// Moves the log into the database if it has grown, as far as no other process reads in it.
    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        let Some(connection) = &self.connection else { return Ok(()) };
        let pages = wal_index::header(connection).map_or(0, |header| header.frames());
        if pages < self.moved {
            self.moved = 0; // It has begun anew.
        }
        if pages - self.moved < LOG_PAGES {
            return Ok(());
        }
        // Even if this fails: not to try, and to say so, after each batch.
        self.moved = pages;
        // Whoever reads in an older state of the log keeps what came later from being moved.
        self.readers.let_go();
        connection.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?.query_row([], |_| Ok(()))?;
        // Whoever reads in the log still keeps the next transaction from beginning it anew. New ones do not.
        self.readers.let_go();
        Ok(())
    }

    /// Leaves a connection without a transaction, or none.
    fn recover(&mut self, error: &rusqlite::Error) {
        let Some(connection) = &self.connection else { return };
        let clean = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        if !clean || failure::is_lasting(error) {
            self.connection = None;
        }
    }

    /// Moves the log into the database, as far as no other process uses it.
    fn finish(self) {
        // Before ours, so that ours is the last one and takes the log with it.
        self.readers.close();
        let Some(connection) = self.connection else { return };
        let checkpoint = connection::set_wait(&connection, Duration::ZERO)
            .and_then(|()| connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())))
            .and_then(|()| connection.close().map_err(|(_, error)| error));
        if let Err(error) = checkpoint {
            warn!(self.options.log, "the log was left for the next start"; "error" => %error);
        }
    }
}

/// Does work of several statements, and takes them all back if one of them is refused.
pub(super) fn whole<T>(connection: &Connection, work: impl FnOnce() -> Attempt<T>) -> Attempt<T> {
    execute(connection, "SAVEPOINT whole")?;
    let done = work();
    // Some errors have ended the transaction.
    if !connection.is_autocommit() {
        if !matches!(done, Ok(Ok(_))) {
            execute(connection, "ROLLBACK TO whole")?;
        }
        execute(connection, "RELEASE whole")?;
    }
    done
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
