//! Clients of the replicas: each has one connection, sends one request after the other, and records the outcome.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::record::{Animal, Asked, Call, Record, lock};

/// What the clients of each replica do.
const ROLES: [Role; 4] = [Role::Get, Role::List, Role::Add, Role::Add];
/// The pause between two requests of a client, so that the load leaves processor time to the servers.
const PAUSE: Duration = Duration::from_millis(15);
/// The pause after a failure, less than `Retry-After`.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The target of the first page.
const FIRST: &str = "/v1/pets?limit=100";

#[derive(Clone, Copy)]
enum Role {
    /// Gets animals that were acknowledged a second ago and earlier, mostly by other replicas.
    Get,
    /// Follows the links of pages, and requests the last page again until it has a link.
    List,
    /// Adds animals with unique names.
    Add,
}

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
    /// Starts the clients of a replica.
    pub(super) fn add(&self, replica: &Replica) {
        for role in ROLES {
            let (client, added) = (Client::new(replica.clone(), self.record.clone()), self.added.clone());
            let is_over = self.is_over.clone();
            let run = move || client.run(role, &added, || is_over.load(Ordering::Relaxed));
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

    fn run(&self, role: Role, added: &AtomicUsize, is_over: impl Fn() -> bool) {
        let (mut after, mut page, mut turn) = (0, FIRST.to_owned(), self.replica.number);
        while !is_over() {
            let call = match role {
                Role::Get => {
                    turn += 7;
                    let known = self.record.known(turn);
                    known.map(|id| self.call(Asked::Get(id), &format!("/v1/pets/{id}"), None))
                }
                Role::List => Some(self.call(Asked::Page(after), &page, None)),
                Role::Add => {
                    let name = format!("animal {}", added.fetch_add(1, Ordering::Relaxed));
                    Some(self.call(Asked::Add, "/v1/pets", Some(&json!({ "name": name, "categoryId": 1 }))))
                }
            };
            let status = call.as_ref().map_or(200, |call| call.status);
            if let Some(Call { animals, next: Some(next), .. }) = call
                && let Some((last, _)) = animals.last()
            {
                (after, page) = (*last, next);
            }
            sleep(if (200..300).contains(&status) { PAUSE } else { PAUSE_AFTER_FAILURE });
        }
    }

    /// Sends a POST request with a body, else a GET request, and records the outcome.
    fn call(&self, asked: Asked, target: &str, body: Option<&Value>) -> Call {
        let sent = Instant::now();
        let (status, animals, next) = self.send(target, body).unwrap_or_default();
        let ended = Instant::now();
        let call = Call { replica: self.replica.number, asked, sent, ended, status, animals, next };
        lock(&self.record.0).push(call.clone());
        call
    }

    /// Returns status, animals and the link to the next page, or `None` without a complete response.
    fn send(&self, target: &str, body: Option<&Value>) -> Option<(u16, Vec<Animal>, Option<String>)> {
        let url = format!("{}{target}", self.replica.address);
        let key = format!("Bearer {}", self.replica.key);
        let sent = match body {
            Some(body) => {
                let request = self.http.post(url).header("authorization", key);
                request.content_type("application/json").send(body.to_string())
            }
            None => self.http.get(url).header("authorization", key).call(),
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

/// Returns all animals, or `None` if a page cannot be read.
pub(super) fn all(replica: &Replica) -> Option<Vec<Animal>> {
    let client = Client::new(replica.clone(), Arc::default());
    let (mut found, mut page) = (Vec::new(), Some(FIRST.to_owned()));
    while let Some(target) = page {
        let (status, animals, next) = client.send(&target, None)?;
        found.extend(animals);
        page = if status == 200 { next } else { return None };
    }
    Some(found)
}
