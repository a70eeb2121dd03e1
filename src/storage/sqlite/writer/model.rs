//! Explores every order of events of the write queue and of the thread that writes, with the real code and a real
//! database: writes that are added to the queue, callers that leave, faults of the database, and the end of the store,
//! also while a batch runs.
//!
//! The thread only meets the callers at the queue and at the channels of the results, which tokio checks with loom. So
//! all runs on one thread, which decides what happens next.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::FutureExt as _;
use rusqlite::ffi;

use super::*;
use crate::model::{Decisions, explore};
use crate::schemas::{NewPet, PetName};
use crate::storage::AddedOnce;
use crate::storage::metrics::StoreMetrics;
use crate::storage::options::Migrate;
use crate::storage::queue::{self, PendingWrite, WriteQueue};
use crate::storage::write::Addition;

/// Called before each write of a batch.
pub(super) type BeforeWrite = Box<dyn FnMut(&mut Write, &Connection) -> rusqlite::Result<()> + Send>;

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
    /// Within a batch: the values violate a constraint, and SQLite ends the transaction.
    Violate,
}

/// What is known of a write.
#[derive(Default)]
struct Known {
    pending: Option<PendingWrite<AddedOnce>>,
    /// Whether it was refused at once.
    is_refused: bool,
    /// Whether its caller left before it was run.
    is_abandoned: bool,
    has_run: bool,
}

struct Run {
    decisions: Decisions,
    events: Vec<Event>,
    queue: Option<WriteQueue>,
    writes: Vec<Known>,
}

type SharedRun = Arc<Mutex<Run>>;

fn lock(run: &SharedRun) -> MutexGuard<'_, Run> {
    run.lock().unwrap()
}

/// Returns what can happen at any time.
fn possible(run: &Run) -> Vec<Event> {
    let waiting = run.writes.iter().enumerate().filter(|(_, write)| write.pending.is_some());
    let mut events: Vec<Event> = waiting.map(|(number, _)| Event::Leave(number)).collect();
    if run.queue.is_some() {
        events.push(Event::Close);
        events.extend((run.writes.len() < WRITES).then_some(Event::Add));
    }
    events
}

fn choose(run: &SharedRun, also: &[Event]) -> Event {
    let mut run = lock(run);
    let among = [also, &possible(&run)].concat();
    let event = run.decisions.choose(&among);
    run.events.push(event);
    event
}

/// Does what is possible at any time.
fn happen(run: &SharedRun, event: Event) {
    match event {
        Event::Add => {
            let mut run = lock(run);
            let number = run.writes.len();
            // The last animal has the name of the first one, which is rejected if that is stored.
            let name = PetName::try_from(format!("{}", number % (WRITES - 1))).unwrap();
            let new = NewPet { name, category_id: number as i64, status: None };
            let added =
                run.queue.as_ref().unwrap().push(|caller| Write::Add(Addition { new, key: None }, caller));
            run.writes.push(Known { is_refused: added.is_err(), pending: added.ok(), ..Known::default() });
        }
        Event::Leave(number) => {
            let mut run = lock(run);
            let write = &mut run.writes[number];
            write.pending = None;
            write.is_abandoned |= !write.has_run;
        }
        Event::Close => drop(lock(run).queue.take()),
        _ => unreachable!("{event:?} is not possible at any time"),
    }
}

/// Lets anything happen before the statement of a write.
fn before(run: &SharedRun, write: &mut Write, connection: &Connection) -> rusqlite::Result<()> {
    let Write::Add(Addition { new, .. }, _) = write else { unreachable!("only animals are added") };
    lock(run).writes[new.category_id as usize].has_run = true;
    let error = |code| Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
    let faults = [
        Event::Fail(ffi::SQLITE_IOERR),
        Event::Fail(ffi::SQLITE_FULL),
        Event::Abort(ffi::SQLITE_FULL),
        Event::Violate,
    ];
    match choose(run, &[&[Event::Nothing], &faults[..]].concat()) {
        Event::Nothing => {}
        Event::Fail(code) => return error(code),
        Event::Abort(code) => {
            connection.execute_batch("ROLLBACK")?;
            return error(code);
        }
        Event::Violate => new.category_id = -1,
        event => happen(run, event),
    }
    Ok(())
}

/// Runs the queue once. Returns the decisions.
fn run_once(decisions: Decisions, events: usize, path: &Path, other: &Connection) -> Decisions {
    other.execute_batch("DELETE FROM animal").unwrap();
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
    let (queue, mut batches, _) = queue::open(&options, None);
    let mut writer = Writer::new(connection, file, KeyHasher::new(&[7; 32]), &options);
    let state = Run { decisions, events: Vec::new(), queue: Some(queue), writes: Vec::new() };
    let run: SharedRun = Arc::new(Mutex::new(state));
    let shared = run.clone();
    writer.before_write = Some(Box::new(move |write, connection| before(&shared, write, connection)));
    for _ in 0..events {
        match choose(&run, &[Event::Batch, Event::Locked, Event::CommitFails]) {
            event @ (Event::Batch | Event::Locked | Event::CommitFails) => {
                if event == Event::Locked {
                    other.execute_batch("BEGIN IMMEDIATE").unwrap();
                }
                let hook = (event == Event::CommitFails).then_some(|| true);
                if let Some(connection) = &mut writer.connection {
                    connection.commit_hook(hook).unwrap();
                }
                let mut batch = Vec::new();
                // Completes at once, unless the queue is empty.
                if batches.take(&mut batch).now_or_never() == Some(true) {
                    writer.turn(&mut batch);
                }
                if event == Event::Locked {
                    other.execute_batch("COMMIT").unwrap();
                }
                if let Some(connection) = &mut writer.connection {
                    connection.commit_hook(None::<fn() -> bool>).unwrap();
                    assert!(connection.is_autocommit(), "the transaction ended");
                }
            }
            event => happen(&run, event),
        }
    }
    drop(lock(&run).queue.take());
    writer.run(batches);
    check(&run, other, &options.metrics);
    let mut run = lock(&run);
    std::mem::take(&mut run.decisions)
}

/// Checks the results of the callers against the database.
fn check(run: &SharedRun, other: &Connection, metrics: &StoreMetrics) {
    let mut run = lock(run);
    let mut stored = other.prepare("SELECT category_id FROM animal").unwrap();
    let rows = stored.query_map([], |row| row.get(0)).unwrap();
    let stored: Vec<i64> = rows.map(|row| row.unwrap()).collect();
    let events = run.events.clone();
    for (number, write) in run.writes.iter_mut().enumerate() {
        let is_stored = stored.contains(&(number as i64));
        let rule = if let Some(pending) = write.pending.take() {
            match pending.wait().now_or_never() {
                Some(Ok(AddedOnce::Now(pet))) => {
                    (pet.category_id == number as i64 && is_stored, "what was acknowledged is stored")
                }
                // No fault here loses the result of COMMIT.
                Some(Err(error)) if error.to_string() != queue::stopped().to_string() => {
                    (!is_stored, "what failed is not stored")
                }
                _ => (false, "every caller gets a result"),
            }
        } else {
            let must_not = write.is_refused || write.is_abandoned;
            (!(must_not && is_stored), "what was refused or abandoned before it started is not stored")
        };
        assert!(rule.0, "write {number}: {}; {events:?}; stored: {stored:?}", rule.1);
    }
    assert_eq!(metrics.queue.get(), 0, "{events:?}");
}

#[test]
fn writes_in_every_order_of_events() {
    // In memory, if the machine has such a directory.
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = directory.path().join("some.db");
    let other = Connection::open(&path).unwrap();
    other.pragma_update(None, "journal_mode", "WAL").unwrap();
    other.pragma_update(None, "synchronous", "OFF").unwrap();
    let animal = "CREATE TABLE animal (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, category_id INTEGER, status TEXT, \
         fine INTEGER GENERATED ALWAYS AS (nullif(category_id, -1)) NOT NULL ON CONFLICT ROLLBACK)";
    other.execute_batch(animal).unwrap();
    let events = EVENTS + usize::from(std::env::var_os("STORE_TESTS_LONG").is_some());
    let runs = explore(|decisions| run_once(decisions, events, &path, &other));
    println!("write queue: every order of {events} events and those within batches, {runs} runs");
}
