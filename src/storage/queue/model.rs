//! Explores every order of events of the write queue with two writers, as PostgreSQL has: writes that are added, callers
//! that leave, writers that wait for a batch, stop waiting and complete it, and the end of the store.
//!
//! The writers only meet the callers at the queue and at the channels of the results, which tokio checks with loom. So
//! all runs on one thread, which decides what happens next.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::*;
use crate::model::{Decisions, explore};
use crate::schemas::{NewPet, Pet, PetName};
use crate::storage::AddedOnce;
use crate::storage::options::{Migrate, PostgresOptions};
use crate::storage::write::Addition;

const WRITES: usize = 3;
const WRITERS: usize = 2;
/// One write finds the queue full unless a writer takes a batch before.
const QUEUE: usize = 2;
const EVENTS: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The next write is added to the queue.
    Add,
    /// The caller of a write leaves.
    Leave(usize),
    /// A writer takes a batch, or waits for one.
    Take(usize),
    /// A writer does not wait any more, because its connection was lost.
    Stop(usize),
    /// The batch of a writer is committed.
    Commit(usize),
    /// The batch of a writer fails.
    Fail(usize),
    /// The store is closed.
    Close,
}

enum Writer {
    Idle,
    Waiting(BoxFuture<'static, (bool, Vec<QueuedWrite>)>),
    Busy(Vec<QueuedWrite>),
    Ended,
}

/// What is known of a write.
#[derive(Default)]
struct Known {
    pending: Option<PendingWrite<AddedOnce>>,
    /// Whether it was refused at once.
    is_refused: bool,
    /// Whether its caller left before it was in a batch.
    is_abandoned: bool,
    /// How often it was in a batch.
    taken: usize,
    is_stored: bool,
}

struct Run {
    queue: Option<WriteQueue>,
    batches: Arc<Mutex<Batches>>,
    writers: [Writer; WRITERS],
    writes: Vec<Known>,
}

impl Run {
    fn possible(&self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.queue.is_some() {
            events.push(Event::Close);
            events.extend((self.writes.len() < WRITES).then_some(Event::Add));
        }
        let waiting = self.writes.iter().enumerate().filter(|(_, write)| write.pending.is_some());
        events.extend(waiting.map(|(number, _)| Event::Leave(number)));
        for (number, writer) in self.writers.iter().enumerate() {
            events.extend(match writer {
                Writer::Idle => vec![Event::Take(number)],
                Writer::Waiting(_) => vec![Event::Take(number), Event::Stop(number)],
                Writer::Busy(_) => vec![Event::Commit(number), Event::Fail(number)],
                Writer::Ended => vec![],
            });
        }
        events
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Add => self.add(),
            Event::Leave(number) => {
                let write = &mut self.writes[number];
                write.pending = None;
                write.is_abandoned = write.taken == 0;
            }
            Event::Take(number) => self.take(number),
            Event::Stop(number) => self.writers[number] = Writer::Idle,
            Event::Commit(number) | Event::Fail(number) => {
                let writer = std::mem::replace(&mut self.writers[number], Writer::Idle);
                let Writer::Busy(batch) = writer else { unreachable!("{event:?} without a batch") };
                batch.into_iter().for_each(|queued| self.complete(queued, matches!(event, Event::Commit(_))));
            }
            Event::Close => self.queue = None,
        }
    }

    fn add(&mut self) {
        let name = PetName::try_from("Rex".to_owned()).unwrap();
        let new = NewPet { name, category_id: self.writes.len() as i64, status: None };
        let added =
            self.queue.as_ref().unwrap().push(|caller| Write::Add(Addition { new, key: None }, caller));
        self.writes.push(Known { is_refused: added.is_err(), pending: added.ok(), ..Known::default() });
    }

    fn take(&mut self, number: usize) {
        let batches = self.batches.clone();
        let taking = async move {
            let mut batch = Vec::new();
            (batches.lock().await.take(&mut batch).await, batch)
        };
        let mut taking = match std::mem::replace(&mut self.writers[number], Writer::Idle) {
            Writer::Waiting(taking) => taking,
            _ => taking.boxed(),
        };
        self.writers[number] = match taking.poll_unpin(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Writer::Waiting(taking),
            Poll::Ready((true, batch)) if batch.is_empty() => Writer::Idle,
            Poll::Ready((true, batch)) => {
                batch.iter().for_each(|queued| self.writes[number_of(queued)].taken += 1);
                Writer::Busy(batch)
            }
            Poll::Ready((false, _)) => {
                assert!(self.queue.is_none(), "a writer ends only when the store is closed");
                Writer::Ended
            }
        };
    }

    fn complete(&mut self, queued: QueuedWrite, is_committed: bool) {
        self.writes[number_of(&queued)].is_stored |= is_committed;
        match queued.write {
            Write::Add(Addition { new: NewPet { name, category_id, status }, .. }, caller)
                if is_committed =>
            {
                caller.send(Ok(AddedOnce::Now(Pet { id: 1, name, category_id, status })));
            }
            failed => failed.complete(Some(StoreError::Unavailable("for the test".to_owned()))),
        }
    }

    /// Closes the store, and lets the first writer do the rest.
    fn finish(&mut self) {
        self.queue = None;
        for number in 0..WRITERS {
            match self.writers[number] {
                Writer::Waiting(_) => self.happen(Event::Stop(number)),
                Writer::Busy(_) => self.happen(Event::Commit(number)),
                Writer::Idle | Writer::Ended => {}
            }
        }
        while !matches!(self.writers[0], Writer::Ended) {
            let is_busy = matches!(self.writers[0], Writer::Busy(_));
            self.happen(if is_busy { Event::Commit(0) } else { Event::Take(0) });
        }
    }
}

/// Returns the number of a write.
fn number_of(queued: &QueuedWrite) -> usize {
    let Write::Add(Addition { new, .. }, _) = &queued.write else { unreachable!("only animals are added") };
    new.category_id as usize
}

fn run_once(mut decisions: Decisions, events: usize) -> Decisions {
    let options = StoreOptions {
        postgres: PostgresOptions::default(),
        write_queue: QUEUE,
        lock_timeout: Duration::ZERO,
        migrate: Migrate::Apply,
        version: "1.2.3",
        log: slog::Logger::root(slog::Discard, slog::o!()),
        metrics: StoreMetrics::default(),
    };
    let (queue, batches, stopped) = open(&options, None);
    let batches = Arc::new(Mutex::new(batches));
    let writers = [(); WRITERS].map(|()| Writer::Idle);
    let mut run = Run { queue: Some(queue), batches, writers, writes: Vec::new() };
    let mut happened = Vec::new();
    for _ in 0..events {
        let possible = run.possible();
        if possible.is_empty() {
            break;
        }
        let event = decisions.choose(&possible);
        happened.push(event);
        run.happen(event);
    }
    run.finish();
    for (number, write) in run.writes.iter_mut().enumerate() {
        let must_not = write.is_refused || write.is_abandoned;
        let result = write.pending.take().map(|pending| pending.wait().now_or_never());
        let rule = match result {
            _ if write.taken > 1 => (false, "no write is in two batches"),
            None => (!(must_not && write.taken > 0), "what was refused or abandoned is in no batch"),
            Some(Some(Ok(AddedOnce::Now(pet)))) => {
                (pet.category_id == number as i64 && write.is_stored, "what was acknowledged is stored")
            }
            Some(Some(Err(error))) if error.to_string() != super::stopped().to_string() => {
                (!write.is_stored, "what failed is not stored")
            }
            Some(_) => (false, "every caller gets a result"),
        };
        assert!(rule.0, "write {number}: {}; {happened:?}", rule.1);
    }
    assert_eq!(options.metrics.queue.get(), 0, "{happened:?}");
    drop(run);
    assert!(stopped.cancelled().now_or_never().is_some(), "{happened:?}");
    decisions
}

#[test]
fn two_writers_in_every_order_of_events() {
    let events = EVENTS + usize::from(std::env::var_os("STORE_TESTS_LONG").is_some());
    let runs = explore(|decisions| run_once(decisions, events));
    println!("write queue with two writers: every order of {events} events, {runs} runs");
}
