//! One run: random clients against a service while faults happen, and the verdict on what they recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::timeout;

use crate::history::clients::{RandomClient, World};
use crate::history::judge::judge;
use crate::history::model::SIZE;
use crate::history::recording::{Answer, Call, Operation};
use crate::history::schedule::{Engine, Fault, Faults, Length, PATIENT, seed};
use crate::history::wrong::is_refused_when_changed;

const CLIENTS: usize = 8;
/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A service with its database, and the means to disturb both.
pub trait System {
    const ENGINE: Engine;

    /// Lets a fault happen. When this returns, all replicas and the database work again.
    async fn inject(&mut self, fault: Fault, world: &World);
}

/// What a run recorded.
pub struct Record {
    engine: Engine,
    seed: u64,
    length: Length,
    took: Duration,
    faults: BTreeMap<&'static str, usize>,
    operations: Vec<Operation>,
}

/// Runs clients and faults.
pub async fn record<S: System>(system: &mut S, world: &Arc<World>) -> Record {
    let (seed, length) = (seed(), Length::get());
    println!("{:?}: STORE_TESTS_SEED={seed}", S::ENGINE);
    let start = Instant::now();
    let clients: Vec<_> =
        (0..CLIENTS).map(|number| tokio::spawn(RandomClient::new(world, number).run(seed))).collect();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (number, (responses, fault)) in Faults::new(seed, S::ENGINE).enumerate() {
        more(world, responses).await;
        let is_over = match length {
            Length::Faults(count) => number == count,
            Length::Time(time) => start.elapsed() >= time,
        };
        // A client that panicked ends early.
        if is_over || clients.iter().any(tokio::task::JoinHandle::is_finished) {
            break;
        }
        system.inject(fault, world).await;
        *counts.entry(name(fault)).or_default() += 1;
    }
    world.is_over.store(true, Ordering::Relaxed);
    let ended = timeout(TIMEOUT, join_all(clients)).await.expect("every addition is settled");
    ended.into_iter().for_each(|client| client.expect("a client panicked"));

    // Each replica must return everything.
    let all = world.recording.begin(CLIENTS, Call::All);
    for replica in 0..world.replicas.len() {
        let mut auditor = RandomClient::new(world, CLIENTS);
        let listing = async { while !auditor.list(100, None, replica, PATIENT).await {} };
        timeout(TIMEOUT, listing).await.expect("the service works after the faults");
    }
    world.recording.end(all, Answer::Listed);
    let operations = world.recording.operations();
    Record { engine: S::ENGINE, seed, length, took: start.elapsed(), faults: counts, operations }
}

/// Waits for more responses.
async fn more(world: &World, responses: usize) {
    let goal = *world.responses.borrow() + responses;
    let mut counting = world.responses.subscribe();
    let waited = timeout(TIMEOUT, counting.wait_for(|count| *count >= goal)).await;
    waited.expect("the service works between faults").expect("the sender is in the world");
}

impl Record {
    /// Prints the verdict on the record, and panics if it is refused.
    pub fn check(&self) {
        println!("{}", self.summary());
        let start = Instant::now();
        let verdict = judge(&self.operations);
        println!(
            "judged in {:.1?}: {} histories of at most {SIZE} animals, {} operations, {} in the longest: {}",
            start.elapsed(),
            verdict.histories,
            verdict.judged,
            verdict.longest,
            if verdict.refused.is_empty() { "all linearizable" } else { "REFUSED" }
        );
        let refused = verdict.refused.len();
        let some: Vec<String> = verdict.refused.into_iter().take(3).collect();
        assert!(refused == 0, "seed {}: {refused} refused, such as\n{}", self.seed, some.join("\n"));
        assert!(verdict.judged > 0, "nothing was judged");
        // Long records are judged only once, because that takes a while.
        if let Length::Faults(_) = self.length {
            is_refused_when_changed(&self.operations);
        }
    }

    /// Returns one line about the run.
    fn summary(&self) -> String {
        let count = |is: &dyn Fn(&Operation) -> bool| self.operations.iter().filter(|it| is(it)).count();
        let adds = count(&|it| matches!(it.call, Call::Add(_)));
        let open = count(&|it| matches!(it.call, Call::Add(_)) && it.end.is_none());
        let replayed = count(&|it| matches!(it.end, Some((_, Answer::Added { replayed: true, .. }))));
        let reused = count(&|it| matches!(it.end, Some((_, Answer::Reused))));
        let gets = count(&|it| matches!(it.call, Call::Get(_)));
        let pages = count(&|it| matches!(it.call, Call::Page { .. }));
        let mut text = format!(
            "{:?}, seed {}, {:.0?}: {} calls ({adds} additions, of which {open} without an outcome, {replayed} replayed \
             and {reused} with 422; {gets} gets; {pages} pages), faults:",
            self.engine,
            self.seed,
            self.took,
            self.operations.len(),
        );
        for (name, count) in &self.faults {
            let _ = write!(text, " {count} {name},");
        }
        text.trim_end_matches(',').to_owned()
    }
}

fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::Kill { .. } => "kill -9 of the service",
        Fault::Suspend { .. } => "suspended service",
        Fault::Lock(_) => "locked database",
        Fault::SuspendServer(_) => "suspended PostgreSQL",
        Fault::RestartServer => "restarted PostgreSQL",
        Fault::KillServer => "kill -9 of PostgreSQL",
    }
}
