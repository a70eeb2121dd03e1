//! What clients do and which faults happen, as a function of the seed.
//!
//! The seed decides the steps of each client and the faults, each in their order. It does not decide how threads and
//! processes interleave, so a second run with a seed has the same calls and faults but another history.

use std::env;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::history::recording::Animal;

/// How long a run goes on: `STORE_TESTS_LONG=1` for the long form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This many faults.
    Faults(usize),
    /// Until this time has passed.
    Time(Duration),
}

impl Length {
    /// Returns the length of the runs of this process.
    pub fn get() -> Self {
        if kit::is_long() { Self::Time(Duration::from_secs(120)) } else { Self::Faults(6) }
    }
}

/// Returns the seed in `STORE_TESTS_SEED`. By default it is 1, and a new one for a long run.
pub fn seed() -> u64 {
    match env::var("STORE_TESTS_SEED") {
        Ok(seed) => seed.parse().expect("STORE_TESTS_SEED: expected a number from 0 to 2^64-1"),
        Err(_) if kit::is_long() => {
            SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
        }
        Err(_) => 1,
    }
}

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub action: Action,
    /// The replica that gets the first request, modulo their number.
    pub replica: usize,
    /// How long the client waits for the first response; then it closes the connection.
    pub patience: Duration,
}

/// The kinds of steps. Numbers that stand for something known only at run time count modulo what is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Adds an animal without an idempotency key. It is sent once.
    Add(Animal),
    /// Adds an animal with an idempotency key, and repeats the request until its outcome is known, if `retry`.
    AddOnce { animal: Animal, retry: bool },
    /// Adds two animals with one idempotency key at the same time at two replicas.
    Race([Animal; 2]),
    /// Repeats an earlier addition with its idempotency key, or sends another animal with that key.
    Repeat { earlier: usize, variant: u8 },
    /// Gets an animal that some client has seen.
    GetKnown(usize),
    /// Gets an identifier that was not assigned yet when it was chosen.
    GetNext(i64),
    /// Lists all pages.
    List { limit: usize, status: Option<&'static str> },
    /// Continues at the last page of the same list.
    Poll { limit: usize, status: Option<&'static str> },
}

/// How long a client waits normally: longer than any request may take.
pub const PATIENT: Duration = Duration::from_secs(60);

/// The endless steps of one client.
pub struct Steps {
    random: StdRng,
    next: u32,
}

impl Steps {
    pub fn new(seed: u64, client: usize) -> Self {
        let client = u32::try_from(client).expect("few clients");
        Self { random: generator(seed, client + 1), next: client * 1_000_000 }
    }

    fn animal(&mut self) -> Animal {
        self.next += 1;
        Animal { number: self.next, variant: 0 }
    }

    fn status(&mut self) -> Option<&'static str> {
        [None, None, Some("available"), Some("pending"), Some("sold")][self.random.random_range(0..5)]
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let action = match self.random.random_range(0..100) {
            0..15 => Action::Add(self.animal()),
            15..40 => Action::AddOnce { animal: self.animal(), retry: self.random.random_ratio(9, 10) },
            40..48 => {
                let one = self.animal();
                Action::Race([one, Animal { variant: self.random.random_range(0..2), ..one }])
            }
            48..54 => Action::Repeat {
                earlier: self.random.random_range(0..1_000),
                variant: self.random.random_range(0..2),
            },
            54..64 => Action::GetKnown(self.random.random_range(0..1_000_000)),
            64..72 => Action::GetNext(self.random.random_range(1..6)),
            72..74 => Action::List { limit: 100, status: self.status() },
            _ => Action::Poll { limit: self.random.random_range(1..101), status: self.status() },
        };
        let is_patient = self.random.random_ratio(9, 10);
        let short = Duration::from_micros(self.random.random_range(200..20_000));
        let replica = self.random.random_range(0..6);
        Some(Step { action, replica, patience: if is_patient { PATIENT } else { short } })
    }
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `kill -9` of a replica, and a new start.
    Kill { replica: usize },
    /// SIGSTOP to a replica, and SIGCONT after this time.
    Suspend { replica: usize, time: Duration },
    /// Another process holds the write lock of the SQLite database.
    Lock(Duration),
    /// SIGSTOP to all processes of the database server, and SIGCONT after this time.
    SuspendServer(Duration),
    /// The database server is stopped and started.
    RestartServer,
    /// `kill -9` of the database server, and a new start.
    KillServer,
}

/// The kinds of faults of an engine, to select from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

/// The endless faults of a run, each with the number of responses that are awaited before it.
pub struct Faults {
    random: StdRng,
    engine: Engine,
    count: usize,
}

impl Faults {
    pub fn new(seed: u64, engine: Engine) -> Self {
        Self { random: generator(seed, 0), engine, count: 0 }
    }
}

impl Iterator for Faults {
    type Item = (usize, Fault);

    fn next(&mut self) -> Option<(usize, Fault)> {
        let responses = self.random.random_range(20..200);
        let replica = self.random.random_range(0..3);
        let longest = if self.random.random_ratio(1, 8) { 4_000 } else { 700 };
        let time = Duration::from_millis(self.random.random_range(20..longest));
        let kinds = match self.engine {
            Engine::Sqlite => {
                vec![Fault::Kill { replica: 0 }, Fault::Suspend { replica: 0, time }, Fault::Lock(time)]
            }
            Engine::Postgres => vec![
                Fault::Kill { replica },
                Fault::Suspend { replica, time },
                Fault::SuspendServer(time),
                Fault::RestartServer,
                Fault::KillServer,
            ],
        };
        // Each kind once before any is repeated, so that short runs have all.
        let start = self.count % kinds.len();
        self.count += 1;
        let selected =
            if self.count <= kinds.len() { start } else { self.random.random_range(0..kinds.len()) };
        Some((responses, kinds[selected]))
    }
}

fn generator(seed: u64, stream: u32) -> StdRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&stream.to_le_bytes());
    StdRng::from_seed(bytes)
}

#[test]
fn a_seed_gives_the_same_steps_and_faults_again() {
    let steps = |seed, client| Steps::new(seed, client).take(1_000).collect::<Vec<_>>();
    let faults = |seed, engine| Faults::new(seed, engine).take(100).collect::<Vec<_>>();
    assert_eq!(steps(7, 2), steps(7, 2));
    assert_eq!(faults(7, Engine::Postgres), faults(7, Engine::Postgres));
    assert_ne!(steps(7, 2), steps(8, 2));
    assert_ne!(steps(7, 2), steps(7, 3));
    assert_ne!(faults(7, Engine::Sqlite), faults(8, Engine::Sqlite));
}
