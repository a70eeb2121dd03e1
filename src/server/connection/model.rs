//! Explores every order of events of a connection with its real code: requests, responses, the client's bytes, the time,
//! the end of the connection, and the tasks that wait for one of them.
//!
//! Each method locks the state once, so a test on one thread meets every order of their effects. A task that waits is
//! polled when it was woken, at any later time. What a method does between its lock and a notification is not divided.

use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};

use super::*;
use crate::model::{Decisions, explore};

/// The number of events.
const EVENTS: usize = 8;
/// The number of requests: one has no room at first.
const REQUESTS: usize = FIRST_READS + 1;
/// Longer than every time limit.
const LONG: Time = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// A request arrives. Its task is polled, and waits until it may start.
    Request,
    /// The task of a request is polled, if it was woken.
    Run(usize),
    /// A request that has started ends, with a response that is not read.
    Respond(usize),
    /// A request that waits or has started is cancelled.
    Cancel(usize),
    /// The client reads all responses.
    Read,
    /// The time of all limits passes, and the connection is looked at.
    Pass,
    /// The connection is told to end after its requests.
    Finish,
    /// The connection is told to end at once.
    Abort,
    /// The task of the connection, which waits for its end, is polled, if it was woken.
    RunEnding,
}

/// Whether a task was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// A task that is polled when it was woken.
struct Task<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    woken: Arc<Woken>,
}

impl<T> Task<T> {
    fn new(future: impl Future<Output = T> + 'static) -> Self {
        Self { future: Box::pin(future), woken: Arc::new(Woken(AtomicBool::new(true))) }
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Relaxed)
    }

    fn poll(&mut self) -> Option<T> {
        self.woken.0.store(false, Relaxed);
        let waker = Waker::from(self.woken.clone());
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }
}

enum Request {
    Waiting(Task<OpenRequest>),
    Started(OpenRequest),
    /// Its response waits for the client.
    Responded {
        _request: OpenRequest,
    },
    Ended,
}

struct Run {
    happened: Vec<Event>,
    connection: Arc<Connection>,
    requests: Vec<Request>,
    /// The number of responses that the client has taken.
    taken: u32,
    ending: Option<Task<Ending>>,
    /// How the connection ended, as its task was told.
    ended: Option<Ending>,
}

impl Run {
    fn new(shared: Arc<Shared>) -> Self {
        let connection = Arc::new(Connection::new(shared, Phase::New));
        let watched = connection.clone();
        let ending = Task::new(async move { watched.ending(None).await });
        Self {
            happened: Vec::new(),
            connection,
            requests: Vec::new(),
            taken: 0,
            ending: Some(ending),
            ended: None,
        }
    }

    fn possible(&self) -> Vec<Event> {
        let mut events = vec![Event::Pass, Event::Finish, Event::Abort];
        if self.requests.len() < REQUESTS {
            events.push(Event::Request);
        }
        for (number, request) in self.requests.iter().enumerate() {
            match request {
                Request::Waiting(task) if task.is_woken() => {
                    events.extend([Event::Run(number), Event::Cancel(number)]);
                }
                Request::Waiting(_) => events.push(Event::Cancel(number)),
                Request::Started(_) => events.extend([Event::Respond(number), Event::Cancel(number)]),
                Request::Responded { .. } | Request::Ended => {}
            }
        }
        if self.unread() > 0 {
            events.push(Event::Read);
        }
        if self.ending.as_ref().is_some_and(Task::is_woken) {
            events.push(Event::RunEnding);
        }
        events
    }

    fn happen(&mut self, event: Event) {
        self.happened.push(event);
        match event {
            Event::Request => {
                let connection = self.connection.clone();
                let task = Task::new(async move {
                    let mut request = connection.open_request(0);
                    request.begin(true).await;
                    request
                });
                self.requests.push(Request::Waiting(task));
                self.run(self.requests.len() - 1);
            }
            Event::Run(number) => self.run(number),
            Event::Respond(number) => {
                let request = mem::replace(&mut self.requests[number], Request::Ended);
                let Request::Started(mut request) = request else { panic!("it has not started") };
                request.respond(1);
                self.requests[number] = Request::Responded { _request: request };
            }
            Event::Cancel(number) => self.requests[number] = Request::Ended,
            Event::Read => {
                for request in &mut self.requests {
                    if matches!(request, Request::Responded { .. }) {
                        *request = Request::Ended;
                        self.taken += 1;
                    }
                }
            }
            Event::Pass => {
                // The first look notices what the client has taken until now.
                self.connection.look(Taken::default);
                self.connection.shared.now.fetch_add(LONG, Relaxed);
                self.connection.look(Taken::default);
            }
            Event::Finish => drop(self.connection.finish()),
            Event::Abort => drop(self.connection.abort()),
            Event::RunEnding => {
                let must_last = self.is_in_use() && !self.connection.is_ending();
                self.ended = self.ending.as_mut().and_then(Task::poll);
                if self.ended.is_some() {
                    assert!(!must_last, "no time limit ends a connection in use: {:?}", self.happened);
                    self.ending = None;
                }
            }
        }
    }

    /// Polls the task of a request.
    fn run(&mut self, number: usize) {
        let has_room = self.has_room();
        if let Request::Waiting(task) = &mut self.requests[number]
            && let Some(started) = task.poll()
        {
            assert!(has_room, "a request starts only when there is room: {:?}", self.happened);
            self.requests[number] = Request::Started(started);
        }
    }

    fn has_room(&self) -> bool {
        self.reads() < FIRST_READS << self.taken
    }

    /// The number of requests that have begun, and whose response the client has not taken.
    fn reads(&self) -> usize {
        self.unread() + self.count(|it| matches!(it, Request::Started(_)))
    }

    fn unread(&self) -> usize {
        self.count(|it| matches!(it, Request::Responded { .. }))
    }

    fn count(&self, is_counted: impl Fn(&Request) -> bool) -> usize {
        self.requests.iter().filter(|request| is_counted(request)).count()
    }

    /// Whether the client waits for a response, and has read all others.
    fn is_in_use(&self) -> bool {
        self.unread() == 0 && self.count(|it| !matches!(it, Request::Ended)) > 0
    }

    /// Returns a rule that is broken after the last event, when each task that was woken has run.
    fn broken_rule(&self, last: Event) -> Option<&'static str> {
        let state = self.connection.state();
        if (state.reads, state.responses) != (self.reads(), self.unread()) {
            return Some("what is counted is what has begun and what waits for the client");
        }
        if self.has_room() && self.count(|it| matches!(it, Request::Waiting(_))) > 0 {
            return Some("a request starts when there is room");
        }
        if self.ended.is_none() && (state.ending.is_some() || last == Event::Pass && !self.is_in_use()) {
            return Some("the task of a connection learns of its end, or that a time limit has passed");
        }
        None
    }

    /// Polls each task that was woken, until none was.
    fn settle(&mut self) {
        loop {
            let next = self.possible().into_iter().find(|it| matches!(it, Event::Run(_) | Event::RunEnding));
            let Some(event) = next else { return };
            self.happen(event);
        }
    }
}

fn run_once(shared: &Arc<Shared>, mut decisions: Decisions, events: usize) -> Decisions {
    shared.now.store(0, Relaxed);
    let mut run = Run::new(shared.clone());
    run.happen(Event::RunEnding);
    for _ in 0..events {
        let event = decisions.choose(&run.possible());
        run.happen(event);
    }
    let last = run.happened.last().copied();
    run.settle();
    if let Some(rule) = last.and_then(|last| run.broken_rule(last)) {
        panic!("broken: {rule}, after {:?}", run.happened);
    }
    decisions
}

#[test]
fn a_connection_in_every_order_of_events() {
    let events = EVENTS + usize::from(std::env::var_os("STORE_TESTS_LONG").is_some());
    // A new one would read the limits of the processor again.
    let shared = Arc::default();
    let runs = explore(|decisions| run_once(&shared, decisions, events));
    println!("connection: every order of {events} events, {runs} runs");
}
