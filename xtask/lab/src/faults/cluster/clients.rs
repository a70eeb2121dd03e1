//! Clients of the replicas: each has one connection, sends one request after the other, and records the outcome.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::record::{Animal, Asked, Call, Record, lock};

/// The pause between two requests of a client, so that the load leaves processor time to the servers.
const PAUSE: Duration = Duration::from_millis(15);
/// The pause after a failure, less than `Retry-After`.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A replica as its clients know it.
#[derive(Clone)]
pub(super) struct Replica {
    pub(super) number: usize,
    /// Scheme, host and port.
    pub(super) address: String,
    pub(super) key: String,
}

/// The running clients.
#[derive(Default)]
pub(super) struct Clients {
    pub(super) record: Arc<Record>,
    is_over: Arc<AtomicBool>,
    added: Arc<AtomicUsize>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Clients {
    /// Starts the clients of a replica. One gets animals that were acknowledged a second ago and earlier, mostly by other
    /// replicas; one follows the links of pages, and requests the last page again until it has a link; two add animals
    /// with unique names.
    pub(super) fn add(&self, replica: &Replica) {
        for first in [Asked::Get(0), first_page(), Asked::Add(String::new()), Asked::Add(String::new())] {
            let (client, added) = (Client::new(replica.clone(), self.record.clone()), self.added.clone());
            let is_over = self.is_over.clone();
            let run = move || client.run(first, &added, || is_over.load(Ordering::Relaxed));
            lock(&self.threads).push(thread::spawn(run));
        }
    }

    /// Ends the clients.
    pub(super) fn end(&self) -> Result<(), String> {
        self.is_over.store(true, Ordering::Relaxed);
        let mut threads = std::mem::take(&mut *lock(&self.threads)).into_iter();
        threads.try_for_each(|thread| thread.join().map_err(|_| "a client panicked".to_owned()))
    }
}

struct Client {
    http: ureq::Agent,
    replica: Replica,
    record: Arc<Record>,
}

impl Client {
    fn new(replica: Replica, record: Arc<Record>) -> Self {
        let http = ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false);
        Self { http: http.build().into(), replica, record }
    }

    /// Sends requests of one kind, beginning with that after `asked`.
    fn run(&self, mut asked: Asked, added: &AtomicUsize, is_over: impl Fn() -> bool) {
        let mut turn = self.replica.number;
        while !is_over() {
            match &mut asked {
                Asked::Add(name) => *name = format!("animal {}", added.fetch_add(1, Ordering::Relaxed)),
                Asked::Get(id) => {
                    turn += 7;
                    let Some(known) = self.record.known(turn) else {
                        sleep(PAUSE);
                        continue;
                    };
                    *id = known;
                }
                Asked::Page { .. } => {}
            }
            let Call { status, animals, next, .. } = self.call(&asked);
            // Responses to other requests can have other links.
            if matches!(asked, Asked::Page { .. })
                && let (Some(target), Some((after, _))) = (next, animals.last())
            {
                asked = Asked::Page { after: *after, target };
            }
            sleep(if (200..300).contains(&status) { PAUSE } else { PAUSE_AFTER_FAILURE });
        }
    }

    /// Sends a request and records the outcome.
    fn call(&self, asked: &Asked) -> Call {
        let sent = Instant::now();
        let (status, animals, next) = self.send(asked).unwrap_or_default();
        let (replica, asked, ended) = (self.replica.number, asked.clone(), Instant::now());
        let call = Call { replica, asked, sent, ended, status, animals, next };
        lock(&self.record.0).push(call.clone());
        call
    }

    /// Returns status, animals and the link to the next page, or `None` without a complete response.
    fn send(&self, asked: &Asked) -> Option<(u16, Vec<Animal>, Option<String>)> {
        let url = |target: &str| format!("{}{target}", self.replica.address);
        let key = format!("Bearer {}", self.replica.key);
        let get = |target: &str| self.http.get(url(target)).header("authorization", &key).call();
        let sent = match asked {
            Asked::Add(name) => {
                let request = self.http.post(url("/v1/pets")).header("authorization", &key);
                let body = json!({ "name": name, "categoryId": 1 });
                request.content_type("application/json").send(body.to_string())
            }
            Asked::Get(id) => get(&format!("/v1/pets/{id}")),
            Asked::Page { target, .. } => get(target),
        };
        let mut response = sent.ok()?;
        let text = response.body_mut().read_to_string().ok()?;
        let link = response.headers().get("link").and_then(|link| link.to_str().ok());
        let next = link.and_then(|link| Some(link.strip_prefix('<')?.split_once('>')?.0.to_owned()));
        let body: Value = serde_json::from_str(&text).ok()?;
        let shown = body.as_array().map_or(std::slice::from_ref(&body), Vec::as_slice).iter();
        let animals = shown.filter_map(|it| Some((it["id"].as_i64()?, it["name"].as_str()?.to_owned())));
        Some((response.status().as_u16(), animals.collect(), next))
    }
}

fn first_page() -> Asked {
    Asked::Page { after: 0, target: "/v1/pets?limit=100".to_owned() }
}

/// Returns all animals, or `None` if a page cannot be read.
pub(super) fn all(replica: &Replica) -> Option<Vec<Animal>> {
    let client = Client::new(replica.clone(), Arc::default());
    let (mut found, mut page) = (Vec::new(), first_page());
    loop {
        let (200, animals, next) = client.send(&page)? else { return None };
        found.extend(animals);
        let Some(target) = next else { return Some(found) };
        page = Asked::Page { after: 0, target };
    }
}
