//! Explores every order of events of the write queue, with the real code and a real database: writes that are added to
//! the queue, callers that leave, faults of the database, and the end of the store, also while a batch runs.
//!
//! The thread only meets the callers at the queue and at the channels of the results, which tokio checks with loom. So
//! all runs on one thread, which decides what happens next.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::ffi;

use super::*;
use crate::exploration::{Decisions, explore};
use crate::storage::options::Migrate;

const WRITES: usize = 3;
/// One write finds the queue full unless a batch starts before.
const QUEUE: usize = 2;
/// The number of events, not counting what happens within a batch.
const EVENTS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The next write is added to the queue.
    Add,
    /// The caller of a write leaves.
    Leave(usize),
    /// The thread commits what is in the queue.
    Batch,
    /// The same, while another process holds the lock.
    Locked,
    /// The same, but COMMIT fails.
    CommitFails,
    /// The store is closed.
    Close,
    /// Within a batch: nothing more happens before the next write.
    Nothing,
    /// Within a batch: the statement fails with this code, and the transaction stays open.
    Fail(i32),
    /// Within a batch: the statement fails with this code, and ends the transaction.
    Abort(i32),
}

type Result<T> = std::result::Result<T, StoreError>;

/// What is known of a write.
#[derive(Default)]
struct Write {
    receiver: Option<oneshot::Receiver<Result<usize>>>,
    /// Whether it was refused at once.
    is_refused: bool,
    /// Whether its caller left before it was run.
    is_abandoned: bool,
    has_run: bool,
}

struct Run {
    decisions: Decisions,
    events: Vec<Event>,
    writer: Option<Writer>,
    writes: Vec<Write>,
}

type Shared = Arc<Mutex<Run>>;

fn lock(run: &Shared) -> MutexGuard<'_, Run> {
    run.lock().unwrap()
}

/// Returns what can happen at any time.
fn possible(run: &Run) -> Vec<Event> {
    let waiting = run.writes.iter().enumerate().filter(|(_, write)| write.receiver.is_some());
    let mut events: Vec<Event> = waiting.map(|(number, _)| Event::Leave(number)).collect();
    if run.writer.is_some() {
        events.push(Event::Close);
        events.extend((run.writes.len() < WRITES).then_some(Event::Add));
    }
    events
}

fn choose(run: &Shared, also: &[Event]) -> Event {
    let mut run = lock(run);
    let among = [also, &possible(&run)].concat();
    let event = run.decisions.choose(&among);
    run.events.push(event);
    event
}

/// Does what is possible at any time.
fn happen(run: &Shared, event: Event) {
    match event {
        Event::Add => {
            let number = lock(run).writes.len();
            let shared = run.clone();
            let mut run = lock(run);
            let added = run.writer.as_ref().unwrap().enqueue(move |batch| work(&shared, number, batch));
            run.writes.push(Write { is_refused: added.is_err(), receiver: added.ok(), ..Write::default() });
        }
        Event::Leave(number) => {
            let mut run = lock(run);
            let write = &mut run.writes[number];
            write.receiver = None;
            write.is_abandoned |= !write.has_run;
        }
        Event::Close => drop(lock(run).writer.take()),
        _ => unreachable!("{event:?} is not possible at any time"),
    }
}

/// The work of a write: anything may happen before its statement.
fn work(run: &Shared, number: usize, batch: &Batch<'_>) -> WriteResult<usize> {
    lock(run).writes[number].has_run = true;
    let error = |code| Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
    let faults = [
        Event::Fail(ffi::SQLITE_IOERR),
        Event::Fail(ffi::SQLITE_FULL),
        Event::Abort(ffi::SQLITE_FULL),
        Event::Abort(ffi::SQLITE_CONSTRAINT),
    ];
    match choose(run, &[&[Event::Nothing], &faults[..]].concat()) {
        Event::Nothing => {}
        Event::Fail(code) => return error(code),
        Event::Abort(code) => {
            batch.execute_batch("ROLLBACK")?;
            return error(code);
        }
        event => happen(run, event),
    }
    // The last write has the value of the first one, if that is stored.
    let value = number % (WRITES - 1);
    batch.execute("INSERT INTO some VALUES (?1, ?2)", [value as i64, number as i64])?;
    Ok(Ok(number))
}

/// Runs the queue once. Returns the decisions.
fn run_once(decisions: Decisions, events: usize, path: &Path, other: &Connection) -> Decisions {
    other.execute_batch("DELETE FROM some").unwrap();
    let options = StoreOptions {
        postgres: crate::storage::PostgresOptions::default(),
        write_queue: QUEUE,
        lock_timeout: Duration::ZERO,
        migrate: Migrate::Apply,
        version: "1.2.3",
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    };
    let connection = connection::open_for_writing(path, Duration::ZERO).unwrap();
    let file = Arc::new(DatabaseFile::at(path.to_owned()).unwrap());
    let (writer, mut waiting, mut thread) = Writer::new(connection, (path.to_owned(), file), &options);
    let state = Run { decisions, events: Vec::new(), writer: Some(writer), writes: Vec::new() };
    let run: Shared = Arc::new(Mutex::new(state));
    for _ in 0..events {
        match choose(&run, &[Event::Batch, Event::Locked, Event::CommitFails]) {
            event @ (Event::Batch | Event::Locked | Event::CommitFails) => {
                if event == Event::Locked {
                    other.execute_batch("BEGIN IMMEDIATE").unwrap();
                }
                let hook = (event == Event::CommitFails).then_some(|| true);
                if let Some(connection) = &mut thread.connection {
                    connection.commit_hook(hook).unwrap();
                }
                let mut batch = Vec::new();
                while let Ok(queued) = waiting.try_recv() {
                    batch.push(queued);
                }
                if !batch.is_empty() {
                    thread.turn(&mut batch);
                }
                if event == Event::Locked {
                    other.execute_batch("COMMIT").unwrap();
                }
                if let Some(connection) = &mut thread.connection {
                    connection.commit_hook(None::<fn() -> bool>).unwrap();
                    assert!(connection.is_autocommit(), "the transaction ended");
                }
            }
            event => happen(&run, event),
        }
    }
    drop(lock(&run).writer.take());
    thread.run(waiting);
    check(&run, other, &options.metrics);
    let mut run = lock(&run);
    std::mem::take(&mut run.decisions)
}

/// Checks the results of the callers against the database.
fn check(run: &Shared, other: &Connection, metrics: &StoreMetrics) {
    let mut run = lock(run);
    let mut stored = other.prepare("SELECT number FROM some").unwrap();
    let rows = stored.query_map([], |row| row.get(0)).unwrap();
    let stored: Vec<i64> = rows.map(|row| row.unwrap()).collect();
    let events = run.events.clone();
    for (number, write) in run.writes.iter_mut().enumerate() {
        let is_stored = stored.contains(&(number as i64));
        let rule = if let Some(receiver) = &mut write.receiver {
            match receiver.try_recv() {
                Ok(Ok(result)) => (result == number && is_stored, "what was acknowledged is stored"),
                // No fault here loses the result of COMMIT.
                Ok(Err(_)) => (!is_stored, "what failed is not stored"),
                Err(_) => (false, "every caller gets a result"),
            }
        } else {
            let must_not = write.is_refused || write.is_abandoned;
            (!(must_not && is_stored), "what was refused or abandoned before it started is not stored")
        };
        assert!(rule.0, "write {number}: {}; {events:?}; stored: {stored:?}", rule.1);
    }
    assert_eq!(metrics.queue_depth(), 0, "{events:?}");
}

#[test]
fn writes_in_every_order_of_events() {
    // In memory, if the machine has such a directory.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = directory.path().join("some.db");
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other.pragma_update(None, "synchronous", "OFF").unwrap();
    other.execute_batch("CREATE TABLE some (value INTEGER PRIMARY KEY, number INTEGER)").unwrap();
    let events = EVENTS + usize::from(std::env::var_os("STORE_TESTS_LONG").is_some());
    let runs = explore(|decisions| run_once(decisions, events, &path, &other));
    println!("write queue: every order of {events} events and those within batches, {runs} runs");
}
