//! Clients of the replicas: each has one connection, sends one request after the other, and records the outcome.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::record::{Kind, Page, Record, Stored};

const WRITERS: usize = 2;
/// One of them reads single animals, the other one lists.
const READERS: usize = 2;
/// The pause between two requests of a client, so that the load leaves processor time to the servers.
const PAUSE: Duration = Duration::from_millis(15);
/// The pause after a failure, less than `Retry-After`.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);
/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The number of animals on a page.
const LIMIT: usize = 100;

/// A replica as its clients know it.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) number: usize,
    /// Scheme, host and port.
    pub(super) address: String,
    pub(super) key: String,
}

/// The running clients.
pub(super) struct Clients {
    pub(super) record: Arc<Record>,
    is_over: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Clients {
    pub(super) fn new() -> Self {
        Self { record: Arc::default(), is_over: Arc::default(), sent: Arc::default(), threads: Vec::new() }
    }

    /// Starts the clients of a replica.
    pub(super) fn add(&mut self, target: &Target) {
        for number in 0..WRITERS + READERS {
            let client = Client {
                http: agent(),
                target: target.clone(),
                record: self.record.clone(),
                is_over: self.is_over.clone(),
            };
            let sent = self.sent.clone();
            self.threads.push(thread::spawn(move || match number {
                0 => client.get(),
                1 => client.list(),
                _ => client.write(&sent),
            }));
        }
    }

    /// Ends the clients, and returns what they recorded.
    pub(super) fn end(self) -> Result<Arc<Record>, String> {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| "a client panicked")?;
        }
        Ok(self.record)
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder().timeout_global(Some(TIMEOUT)).http_status_as_error(false).build().into()
}

struct Client {
    http: ureq::Agent,
    target: Target,
    record: Arc<Record>,
    is_over: Arc<AtomicBool>,
}

/// A complete response.
struct Response {
    status: u16,
    /// The target of the link to the next page.
    next: Option<String>,
    body: Value,
}

impl Client {
    /// Adds animals with unique names.
    fn write(&self, sent: &AtomicUsize) {
        while self.goes_on() {
            let name = format!("animal {}", sent.fetch_add(1, Ordering::Relaxed));
            let response = self.send(Some(&json!({ "name": name, "categoryId": 1 })), "/v1/pets");
            let id = response.as_ref().and_then(|response| response.body["id"].as_i64());
            if let Some(id) = id.filter(|_| is(&response, 201)) {
                self.record.acknowledged(id, name);
            }
            self.ended(Kind::Write, &response);
        }
    }

    /// Gets animals that were acknowledged a second ago and earlier, mostly by other replicas.
    fn get(&self) {
        let mut turn = self.target.number;
        while self.goes_on() {
            turn += 7;
            let Some((id, name)) = self.record.expected(turn) else {
                sleep(PAUSE);
                continue;
            };
            let response = self.send(None, &format!("/v1/pets/{id}"));
            if let Some(found) = response.as_ref().filter(|response| [200, 404].contains(&response.status)) {
                self.record.found(self.target.number, id, &name, found.body["name"].as_str());
            }
            self.ended(Kind::Read, &response);
        }
    }

    /// Follows the links of pages, and requests the last page again until it has a link.
    fn list(&self) {
        let mut target = format!("/v1/pets?limit={LIMIT}");
        let (mut after, mut seen) = (0, BTreeSet::new());
        while self.goes_on() {
            let sent = Instant::now();
            let response = self.send(None, &target);
            if let Some(Response { next, body, .. }) =
                response.as_ref().filter(|response| response.status == 200)
            {
                let pets = body.as_array().map(Vec::as_slice).unwrap_or_default();
                let ids: Vec<_> = pets.iter().filter_map(|pet| pet["id"].as_i64()).collect();
                let page = Page { after, ids: &ids, has_next: next.is_some() };
                self.record.listed(self.target.number, &page, sent);
                if let (Some(next), Some(last)) = (next, ids.last()) {
                    (target, after) = (next.clone(), *last);
                    seen.extend(ids);
                }
            }
            self.ended(Kind::Read, &response);
        }
        self.record.polled(&seen, after);
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Records the end of a request, and pauses.
    fn ended(&self, kind: Kind, response: &Option<Response>) {
        let status = response.as_ref().map_or(0, |response| response.status);
        self.record.ended(kind, self.target.number, status);
        sleep(if (200..300).contains(&status) { PAUSE } else { PAUSE_AFTER_FAILURE });
    }

    /// Sends a POST request with a body, else a GET request. Returns `None` without a complete response.
    fn send(&self, body: Option<&Value>, target: &str) -> Option<Response> {
        send(&self.http, &self.target, body, target)
    }
}

fn is(response: &Option<Response>, status: u16) -> bool {
    response.as_ref().is_some_and(|response| response.status == status)
}

fn send(http: &ureq::Agent, to: &Target, body: Option<&Value>, target: &str) -> Option<Response> {
    let (url, key) = (format!("{}{target}", to.address), format!("Bearer {}", to.key));
    let sent = match body {
        Some(body) => http
            .post(url)
            .header("authorization", key)
            .content_type("application/json")
            .send(body.to_string()),
        None => http.get(url).header("authorization", key).call(),
    };
    let mut response = sent.ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    let link = response.headers().get("link").and_then(|link| link.to_str().ok());
    let next = link.and_then(|link| Some(link.strip_prefix('<')?.split_once('>')?.0.to_owned()));
    Some(Response { status: response.status().as_u16(), next, body: serde_json::from_str(&text).ok()? })
}

/// Returns the identifiers and names of all animals, or `None` if a page cannot be read.
pub(super) fn all(replica: &Target) -> Option<Stored> {
    let http = agent();
    let (mut found, mut target) = (Vec::new(), Some(format!("/v1/pets?limit={LIMIT}")));
    while let Some(page) = target {
        let response = send(&http, replica, None, &page).filter(|response| response.status == 200)?;
        for pet in response.body.as_array()? {
            found.push((pet["id"].as_i64()?, pet["name"].as_str()?.to_owned()));
        }
        target = response.next;
    }
    Some(found)
}
