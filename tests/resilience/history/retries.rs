//! Additions that are repeated until they are acknowledged, while replicas are killed and the database fails over.
//!
//! Each animal has its own idempotency key. At the end each must be stored once, whatever happened to the requests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use crate::history::schedule::seed;
use kit::client::Client;
use kit::postgres::Cluster;
use kit::program::{Program, WorkDir};

const REPLICAS: usize = 3;
const WRITERS: usize = 16;
/// How long a client waits before it repeats a request.
const PAUSE: Duration = Duration::from_millis(20);
/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(300);

/// How many animals are added during how many faults.
struct Plan {
    additions: usize,
    failovers: usize,
    kills_per_failover: usize,
}

impl Plan {
    fn get() -> Self {
        if kit::is_long() {
            Self { additions: 10_000, failovers: 20, kills_per_failover: 10 }
        } else {
            Self { additions: 300, failovers: 1, kills_per_failover: 6 }
        }
    }

    /// The number of acknowledged additions before the next kill.
    fn step(&self) -> usize {
        self.additions / (self.failovers * self.kills_per_failover + 1)
    }
}

/// A primary with a synchronous standby. After each failover the standby is a new server.
struct Pair {
    primary: Cluster,
    standby: Cluster,
}

impl Pair {
    /// Promotes the standby of a primary that has ended, and starts a new one.
    async fn fail_over(self) -> Self {
        let (primary, standby) = block_in_place(|| {
            self.standby.promote();
            let standby = self.standby.standby();
            (self.standby, standby)
        });
        primary.replicates("sync").await;
        Self { primary, standby }
    }

    fn url(&self) -> String {
        self.primary.url_with(&self.standby)
    }
}

/// What the writers share.
struct Load {
    key: String,
    additions: usize,
    replicas: [Mutex<SocketAddr>; REPLICAS],
    next: Mutex<usize>,
    /// The number of requests, and of responses that said that an earlier request had added the animal.
    requests: Mutex<(usize, usize)>,
    /// The acknowledged identifiers, by the number of the animal.
    acknowledged: watch::Sender<BTreeMap<usize, i64>>,
}

impl Load {
    async fn write(self: Arc<Self>) {
        loop {
            let number = {
                let mut next = self.next.lock().unwrap();
                *next += 1;
                *next - 1
            };
            if number >= self.additions {
                return;
            }
            let id = self.add(number).await;
            self.acknowledged.send_modify(|acknowledged| {
                acknowledged.insert(number, id);
            });
        }
    }

    /// Repeats an addition at the replicas in turn until it is acknowledged. Returns the identifier.
    async fn add(&self, number: usize) -> i64 {
        for attempt in number.. {
            let address = *self.replicas[attempt % REPLICAS].lock().unwrap();
            if let Some((id, _)) = self.try_add(number, address).await {
                return id;
            }
            sleep(PAUSE).await;
        }
        unreachable!("endless")
    }

    /// Sends an addition. Returns the identifier, and whether an earlier request had added the animal.
    async fn try_add(&self, number: usize, address: SocketAddr) -> Option<(i64, bool)> {
        let mut client = Client::connect(address, &self.key).await.ok()?;
        self.requests.lock().unwrap().0 += 1;
        let body = json!({ "name": format!("animal {number}"), "categoryId": number }).to_string();
        let response = client.post_once(&body, &format!("addition-{number}")).await.ok()?;
        if response.status == 503 {
            return None;
        }
        let pet = response.expect(201);
        assert_eq!(pet["categoryId"], number, "{pet}");
        let is_replayed = response.header("idempotency-replayed") == Some("?1");
        self.requests.lock().unwrap().1 += usize::from(is_replayed);
        Some((pet["id"].as_i64().expect("an identifier"), is_replayed))
    }

    async fn reaches(&self, count: usize) {
        let mut counting = self.acknowledged.subscribe();
        let reached = timeout(TIMEOUT, counting.wait_for(|acknowledged| acknowledged.len() >= count)).await;
        reached.expect("the service works between faults").expect("the sender is here");
    }
}

/// The replicas, and the faults that happen to them.
struct Replicas {
    directory: WorkDir,
    services: Vec<Program>,
    kills: usize,
}

impl Replicas {
    async fn kill(&mut self, replica: usize) {
        self.services[replica].signal(Signal::KILL);
        assert_eq!(self.services[replica].exit().await.0, None, "the service exited before it was killed");
        self.kills += 1;
    }

    async fn restart(&mut self, replica: usize, load: &Load, pair: &Pair) {
        self.services[replica] = self.directory.serve(&["--database", &pair.url()]).await;
        *load.replicas[replica].lock().unwrap() = self.services[replica].direct;
    }
}

/// Lets all faults happen. Returns the last pair of servers.
async fn disturb(mut pair: Pair, seed: u64, plan: &Plan, load: &Load, replicas: &mut Replicas) -> Pair {
    let mut random = StdRng::seed_from_u64(seed);
    let mut goal = 0;
    for failover in 0..plan.failovers {
        // First each replica once, because only a new process knows the new standby.
        let mut order: Vec<usize> = (0..REPLICAS).collect();
        order.shuffle(&mut random);
        order.resize_with(plan.kills_per_failover, || random.random_range(0..REPLICAS));
        let last = order.pop().expect("a kill");
        for replica in order {
            goal += plan.step();
            load.reaches(goal).await;
            replicas.kill(replica).await;
            replicas.restart(replica, load, &pair).await;
        }
        goal += plan.step();
        load.reaches(goal).await;
        match failover % 2 {
            0 => pair.primary.kill(),
            _ => block_in_place(|| pair.primary.stop()),
        }
        replicas.kill(last).await;
        pair = pair.fail_over().await;
        replicas.restart(last, load, &pair).await;
    }
    pair
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn repeated_additions_are_stored_once() {
    let Some((primary, standby)) = Cluster::pair().await else { return };
    // After a promotion nothing is acknowledged without the next standby either.
    standby.require_standby().await;
    let pair = Pair { primary, standby };
    let (plan, seed, start) = (Plan::get(), seed(), Instant::now());
    println!("STORE_TESTS_SEED={seed}");
    let directory = WorkDir::new();
    let url = pair.url();
    let key = directory.run(&["key", "create", "tests", "--database", &url]).await.success();
    let mut services = Vec::new();
    for _ in 0..REPLICAS {
        services.push(directory.serve(&["--database", &url]).await);
    }
    let load = Arc::new(Load {
        key: key.trim_end().to_owned(),
        additions: plan.additions,
        replicas: [0, 1, 2].map(|replica: usize| Mutex::new(services[replica].direct)),
        next: Mutex::default(),
        requests: Mutex::default(),
        acknowledged: watch::Sender::new(BTreeMap::new()),
    });
    let writers: Vec<_> = (0..WRITERS).map(|_| tokio::spawn(Arc::clone(&load).write())).collect();
    let mut replicas = Replicas { directory, services, kills: 0 };
    let _pair = disturb(pair, seed, &plan, &load, &mut replicas).await;
    let ended = timeout(TIMEOUT, join_all(writers)).await.expect("every addition is acknowledged");
    ended.into_iter().for_each(|writer| writer.expect("a writer panicked"));

    let acknowledged = load.acknowledged.borrow().clone();
    let (requests, replays) = *load.requests.lock().unwrap();
    replicas.services[0].wait_for_status(200, &load.key).await;
    let all = replicas.services[0].all(&load.key).await;
    let mut found: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for pet in &all {
        let number = pet["categoryId"].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap();
        found.entry(number).or_default().push(pet["id"].as_i64().unwrap());
    }
    let is_lost = |(number, id): &(&usize, &i64)| !found.get(number).is_some_and(|ids| ids.contains(id));
    let lost = acknowledged.iter().filter(is_lost).count();
    let doubled: usize = found.values().map(|ids| ids.len() - 1).sum();
    println!(
        "seed {seed}: {} kills, {} failovers in {:.0?}\n\
         | sent | replayed | distinct | acknowledged | found | lost | doubled |\n| --- | --- | --- | --- | --- | --- | --- |\n\
         | {requests} | {replays} | {} | {} | {} | {lost} | {doubled} |",
        replicas.kills,
        plan.failovers,
        start.elapsed(),
        plan.additions,
        acknowledged.len(),
        all.len(),
    );
    assert_eq!((acknowledged.len(), all.len(), lost, doubled), (plan.additions, plan.additions, 0, 0));
    assert!(all.iter().map(|pet| &pet["id"]).is_sorted_by_key(Value::as_i64));

    // The keys are still known, at every replica.
    for (replica, number) in (0..plan.additions).step_by(plan.step()).enumerate() {
        let address = replicas.services[replica % REPLICAS].direct;
        let again = async {
            loop {
                if let Some(again) = load.try_add(number, address).await {
                    return again;
                }
                sleep(PAUSE).await;
            }
        };
        let again = timeout(TIMEOUT, again).await.expect("the service works after the faults");
        assert_eq!(again, (acknowledged[&number], true));
    }
    for service in replicas.services {
        service.stop().await;
    }
}
