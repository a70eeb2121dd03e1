//! Records each addition with its outcome, and compares the records with the store.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::client::Client;
use crate::program::TIMEOUT;

/// How long a client waits after a 503, which is less than `Retry-After` says.
const PAUSE: Duration = Duration::from_millis(20);

/// The additions sent to one database, and their outcomes.
#[derive(Default)]
pub struct Ledger {
    sent: AtomicUsize,
    stopped: AtomicBool,
    entries: Mutex<Entries>,
    changed: Notify,
}

#[derive(Default)]
struct Entries {
    /// The acknowledged animals, by the number in their name.
    acknowledged: BTreeMap<usize, Value>,
    /// The number of other responses by status; 0 stands for no response.
    others: BTreeMap<u16, usize>,
    /// How connections ended that had a request without a response.
    ends: BTreeMap<String, usize>,
    /// The additions with an unknown outcome that were found in the store.
    found: BTreeSet<usize>,
}

/// The result of a comparison with the store.
pub struct Compared {
    /// The additions with a 201, all of which are stored.
    pub acknowledged: usize,
    /// The additions with an unknown outcome: no response, or a 503.
    pub unknown: usize,
    /// The additions with an unknown outcome that are in the store.
    pub unknown_and_stored: usize,
}

impl Ledger {
    /// Adds animals over `clients` connections until [`Ledger::stop`] is called or the connections end.
    pub async fn write(&self, clients: usize, address: SocketAddr, key: &str) {
        join_all((0..clients).map(|_| self.write_one_by_one(address, key))).await;
    }

    async fn write_one_by_one(&self, address: SocketAddr, key: &str) {
        let Ok(mut client) = Client::connect(address, key).await else { return };
        while !self.stopped.load(Ordering::Relaxed) && !client.closing {
            match self.add(&mut client).await {
                Ok(503) => sleep(PAUSE).await,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Adds one animal and records the outcome.
    pub async fn add(&self, client: &mut Client) -> std::io::Result<u16> {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let mut pet = json!({ "name": format!("animal {number} 🦊"), "categoryId": number });
        if let Some(status) = ["available", "pending", "sold"].get(number % 4) {
            pet["status"] = json!(status);
        }
        let response = client.post(&pet.to_string()).await;
        let mut entries = self.entries();
        let status = match response {
            Ok(response) => {
                if response.status == 201 {
                    entries.acknowledged.insert(number, response.json());
                } else {
                    response.expect_error(503, "unavailable");
                    *entries.others.entry(response.status).or_default() += 1;
                }
                Ok(response.status)
            }
            Err(error) => {
                *entries.others.entry(0).or_default() += 1;
                *entries.ends.entry(end_name(error.kind())).or_default() += 1;
                Err(error)
            }
        };
        drop(entries);
        self.changed.notify_waiters();
        status
    }

    /// Waits until `condition` holds.
    async fn wait_until(&self, condition: impl Fn(&Entries) -> bool) {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                let mut changed = std::pin::pin!(changed);
                changed.as_mut().enable();
                if condition(&self.entries()) {
                    return;
                }
                changed.await;
            }
        };
        let waited = timeout(TIMEOUT, wait).await;
        assert!(
            waited.is_ok(),
            "the condition did not come true within the time limit; other responses so far: {:?}",
            self.entries().others
        );
    }

    /// Waits for `more` acknowledged additions.
    pub async fn acknowledged(&self, more: usize) {
        let wanted = self.entries().acknowledged.len() + more;
        self.wait_until(|entries| entries.acknowledged.len() >= wanted).await;
    }

    /// Waits for `more` responses with status 503.
    pub async fn unavailable(&self, more: usize) {
        let count = |entries: &Entries| entries.others.get(&503).copied().unwrap_or(0);
        let wanted = count(&self.entries()) + more;
        self.wait_until(|entries| count(entries) >= wanted).await;
    }

    /// Makes [`Ledger::write`] return.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// How connections ended that had a request without a response.
    pub fn ends(&self) -> BTreeMap<String, usize> {
        self.entries().ends.clone()
    }

    /// Compares all animals of the store with the records. Panics if an acknowledged animal is lost or changed,
    /// if one is stored twice, or if one was neither acknowledged nor has an unknown outcome.
    pub fn compare(&self, stored: &[Value]) -> Compared {
        let mut entries = self.entries();
        let mut ids = BTreeSet::new();
        let mut by_number = BTreeMap::new();
        for pet in stored {
            let number = pet["categoryId"].as_u64().expect("a number") as usize;
            assert!(ids.insert(pet["id"].as_i64().expect("an identifier")), "identifier used twice: {pet}");
            assert!(by_number.insert(number, pet).is_none(), "stored twice: {pet}");
            assert_eq!(pet["name"], format!("animal {number} 🦊"), "changed: {pet}");
            assert!(number < self.sent.load(Ordering::Relaxed), "never sent: {pet}");
        }
        for (number, pet) in &entries.acknowledged {
            assert_eq!(by_number.get(number), Some(&pet), "acknowledged, but lost or changed: {pet}");
        }
        let acknowledged = entries.acknowledged.len();
        let unknown = entries.others.values().sum();
        let found: BTreeSet<_> =
            by_number.keys().copied().filter(|number| !entries.acknowledged.contains_key(number)).collect();
        assert!(entries.found.is_subset(&found), "an animal that was stored before is missing");
        assert!(
            found.len() <= unknown,
            "{} animals out of {unknown} additions with an unknown outcome",
            found.len()
        );
        entries.found = found;
        Compared { acknowledged, unknown, unknown_and_stored: entries.found.len() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().expect("no writer panicked")
    }
}

fn end_name(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::ConnectionRefused => "refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "reset".to_owned(),
        ErrorKind::UnexpectedEof => "closed".to_owned(),
        other => other.to_string(),
    }
}
