//! Random clients that record what they ask and what they learn.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::Errno;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::history::recording::{Animal, Answer, Call, Recording};
use crate::history::schedule::{Action, PATIENT, Step, Steps};
use kit::client::Client;
use kit::recorder::wire::Response;

/// How long a client waits before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// What all clients of a run share.
pub struct World {
    pub recording: Recording,
    /// The addresses of the replicas, which change when a replica is started again.
    pub replicas: Vec<Mutex<SocketAddr>>,
    pub key: String,
    /// The number of responses other than 503.
    pub responses: watch::Sender<usize>,
    /// Set when the clients must end.
    pub is_over: AtomicBool,
    seen: Mutex<Vec<i64>>,
    highest: AtomicI64,
}

impl World {
    pub fn new(replicas: Vec<SocketAddr>, key: String) -> Arc<Self> {
        Arc::new(Self {
            recording: Recording::default(),
            replicas: replicas.into_iter().map(Mutex::new).collect(),
            key,
            responses: watch::Sender::new(0),
            is_over: AtomicBool::new(false),
            seen: Mutex::default(),
            highest: AtomicI64::new(0),
        })
    }

    fn address(&self, replica: usize) -> SocketAddr {
        *self.replicas[replica].lock().expect("no client panicked")
    }

    /// Records what a client learned.
    fn learned(&self, operation: usize, answer: Answer) {
        self.recording.end(operation, answer);
        self.responses.send_modify(|count| *count += 1);
    }

    fn saw(&self, id: i64) {
        if self.highest.fetch_max(id, Ordering::Relaxed) < id {
            self.seen.lock().expect("no client panicked").push(id);
        }
    }
}

/// A client with one connection.
pub struct RandomClient {
    world: Arc<World>,
    number: usize,
    connection: Option<(SocketAddr, Client)>,
    /// The numbers that this client added with an idempotency key.
    added: Vec<u32>,
    /// The last page of each list: its cursor, and the last identifier before it.
    lists: BTreeMap<Option<&'static str>, (Option<String>, i64)>,
}

impl RandomClient {
    pub fn new(world: &Arc<World>, number: usize) -> Self {
        let world = Arc::clone(world);
        Self { world, number, connection: None, added: Vec::new(), lists: BTreeMap::new() }
    }

    /// Takes the steps of the seed until the run is over.
    pub async fn run(mut self, seed: u64) {
        let mut steps = Steps::new(seed, self.number);
        // The second connection of a race.
        let mut other = Self::new(&self.world, self.number);
        while !self.world.is_over.load(Ordering::Relaxed) {
            let step = steps.next().expect("endless");
            self.take(step, &mut other).await;
        }
    }

    async fn take(&mut self, step: Step, other: &mut Self) {
        let Step { action, replica, patience } = step;
        match action {
            Action::Add(animal) => _ = self.add(animal, false, replica, patience).await,
            Action::AddOnce { animal, retry } => {
                self.added.push(animal.number);
                let is_settled = self.add(animal, true, replica, patience).await;
                if retry && !is_settled {
                    self.settle(animal, replica).await;
                }
            }
            Action::Race([one, two]) => {
                self.added.push(one.number);
                let both = tokio::join!(
                    self.add(one, true, replica, patience),
                    other.add(two, true, replica + 1, PATIENT)
                );
                for (is_settled, animal) in [(both.0, one), (both.1, two)] {
                    if !is_settled {
                        self.settle(animal, replica).await;
                    }
                }
            }
            Action::Repeat { earlier, variant } => {
                let Some(index) = earlier.checked_rem(self.added.len()) else { return };
                let animal = Animal { number: self.added[index], variant };
                self.add(animal, true, replica, patience).await;
            }
            Action::GetKnown(index) => {
                let id = {
                    let seen = self.world.seen.lock().expect("no client panicked");
                    let Some(index) = index.checked_rem(seen.len()) else { return };
                    seen[index]
                };
                self.get(id, replica, patience).await;
            }
            Action::GetNext(more) => {
                let id = self.world.highest.load(Ordering::Relaxed) + more;
                self.get(id, replica, patience).await;
            }
            Action::List { limit, status } => {
                self.lists.remove(&status);
                self.list(limit, status, replica, patience).await;
            }
            Action::Poll { limit, status } => _ = self.list(limit, status, replica, patience).await,
        }
    }

    /// Repeats an addition with its idempotency key at all replicas in turn, until its outcome is known.
    async fn settle(&mut self, animal: Animal, first: usize) {
        for replica in first + 1.. {
            if self.add(animal, true, replica, PATIENT).await {
                return;
            }
            sleep(PAUSE).await;
        }
    }

    /// Adds an animal. Returns whether the outcome is known.
    async fn add(&mut self, animal: Animal, once: bool, replica: usize, patience: Duration) -> bool {
        let Some(mut connection) = self.connected(replica).await else { return false };
        let (world, body) = (Arc::clone(&self.world), animal.body().to_string());
        let operation = world.recording.begin(self.number, Call::Add(animal));
        let response = if once {
            let key = format!("key-{}", animal.number);
            timeout(patience, connection.1.post_once(&body, &key)).await
        } else {
            timeout(patience, connection.1.post(&body)).await
        };
        // A connection that ended, or whose response is still to come, is not used again.
        let Ok(Ok(response)) = response else { return false };
        let answer = match response.status {
            201 => {
                let (id, added) = Animal::read(&response.json());
                assert_eq!(added, animal, "another animal was added");
                assert_eq!(response.header("location"), Some(&*format!("/v1/pets/{id}")));
                let replayed = response.header("idempotency-replayed");
                assert!(matches!(replayed, None | Some("?1")), "{replayed:?}");
                world.saw(id);
                Some(Answer::Added { id, replayed: replayed.is_some() })
            }
            422 => {
                response.expect_error(422, "idempotency_key_reused");
                Some(Answer::Reused)
            }
            _ => {
                response.expect_error(503, "unavailable");
                None
            }
        };
        let is_settled = answer.is_some();
        if let Some(answer) = answer {
            world.learned(operation, answer);
        }
        self.keep(connection);
        is_settled
    }

    async fn get(&mut self, id: i64, replica: usize, patience: Duration) {
        let Some(mut connection) = self.connected(replica).await else { return };
        let operation = self.world.recording.begin(self.number, Call::Get(id));
        let target = format!("/v1/pets/{id}");
        let Ok(Ok(response)) = timeout(patience, connection.1.get(&target)).await else { return };
        match response.status {
            200 => {
                let (found, animal) = Animal::read(&response.json());
                assert_eq!(found, id);
                self.world.learned(operation, Answer::Found(animal));
            }
            404 => self.world.learned(operation, Answer::NotFound),
            _ => _ = response.expect_error(503, "unavailable"),
        }
        self.keep(connection);
    }

    /// Lists the pages from the last one that was read before, or from the first. Returns whether the end was reached.
    pub async fn list(
        &mut self,
        limit: usize,
        status: Option<&'static str>,
        replica: usize,
        patience: Duration,
    ) -> bool {
        loop {
            let (cursor, after) = self.lists.get(&status).cloned().unwrap_or((None, i64::MIN));
            let Some(mut connection) = self.connected(replica).await else { return false };
            let operation = self.world.recording.begin(self.number, Call::Page { after, status });
            let status_is = status.map(|status| format!("&status={status}")).unwrap_or_default();
            let cursor_is = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let target = format!("/v1/pets?limit={limit}{status_is}{cursor_is}");
            let Ok(Ok(response)) = timeout(patience, connection.1.get(&target)).await else { return false };
            if response.status != 200 {
                response.expect_error(503, "unavailable");
                self.keep(connection);
                return false;
            }
            let (animals, next) = page(&response);
            assert!(animals.len() <= limit, "{} animals with limit {limit}", animals.len());
            assert!(animals.is_sorted_by_key(|(id, _)| *id), "a page is not sorted");
            assert!(animals.iter().all(|(id, _)| *id > after), "an animal is on two pages");
            let is_listed = |(_, animal): &(i64, Animal)| status.is_none() || animal.status() == status;
            assert!(animals.iter().all(is_listed), "an animal has another status than {status:?}");
            animals.iter().for_each(|(id, _)| self.world.saw(*id));
            let last = animals.last().map(|(id, _)| *id);
            let more = next.is_some();
            self.world.learned(operation, Answer::Page { animals, more });
            self.keep(connection);
            match (next, last) {
                (Some(next), Some(last)) => _ = self.lists.insert(status, (Some(next), last)),
                (Some(_), None) => panic!("an empty page has a next one"),
                (None, _) => return true,
            }
        }
    }

    /// Returns the open connection to a replica, or a new one; `None` if the replica does not accept it.
    async fn connected(&mut self, replica: usize) -> Option<(SocketAddr, Client)> {
        let address = self.world.address(replica % self.world.replicas.len());
        match self.connection.take() {
            Some(open) if open.0 == address => Some(open),
            _ => match Client::connect(address, &self.world.key).await {
                Ok(client) => Some((address, client)),
                Err(error) => {
                    let full = error.raw_os_error() == Some(Errno::MFILE.raw_os_error());
                    assert!(!full, "the test has no descriptors left");
                    sleep(PAUSE).await;
                    None
                }
            },
        }
    }

    /// Keeps a connection after a response.
    fn keep(&mut self, connection: (SocketAddr, Client)) {
        self.connection = (!connection.1.closing).then_some(connection);
    }
}

/// Returns the animals of a page, and the cursor of the next page.
fn page(response: &Response) -> (Vec<(i64, Animal)>, Option<String>) {
    let Value::Array(pets) = response.json() else { panic!("not a list: {}", response.text()) };
    let next = response.header("link").map(|link| {
        let (_, cursor) = link.split_once("cursor=").expect("a cursor");
        cursor.split(['&', '>']).next().expect("a cursor").to_owned()
    });
    (pets.iter().map(Animal::read).collect(), next)
}
