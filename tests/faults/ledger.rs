//! The books: what was sent, what was acknowledged, what is open, and whether the store agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::client::Client;

/// The longest that anything may take; no test waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The books of one database.
#[derive(Default)]
pub struct Ledger {
    sent: AtomicUsize,
    stopped: AtomicBool,
    entries: Mutex<Entries>,
    news: Notify,
}

#[derive(Default)]
struct Entries {
    /// The animals as they were acknowledged, by the number in their name.
    acknowledged: BTreeMap<usize, Value>,
    /// The statuses of other answers, and 0 for none.
    others: BTreeMap<u16, usize>,
    /// How connections ended with a request on them that was not answered.
    ends: BTreeMap<String, usize>,
    /// Animals with an unknown outcome that were found stored.
    found: BTreeSet<usize>,
}

/// What a comparison of the books with the store found.
pub struct Compared {
    pub acknowledged: usize,
    /// Neither acknowledged nor refused for good: no answer, or a 503.
    pub open: usize,
    /// Of those, how many the store kept.
    pub open_and_stored: usize,
}

impl Ledger {
    /// Adds animals over `clients` connections until told to stop or the connections end.
    pub async fn write(&self, clients: usize, address: SocketAddr, key: &str) {
        join_all((0..clients).map(|_| self.write_one_by_one(address, key))).await;
    }

    async fn write_one_by_one(&self, address: SocketAddr, key: &str) {
        let Ok(mut client) = Client::connect(address, key).await else { return };
        while !self.stopped.load(Ordering::Relaxed) && !client.over {
            if self.add(&mut client).await.is_err() {
                return;
            }
        }
    }

    /// Adds one animal and enters what came of it.
    pub async fn add(&self, client: &mut Client) -> std::io::Result<u16> {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        let mut pet = json!({ "name": format!("animal {number} 🦊"), "categoryId": number });
        if let Some(status) = ["available", "pending", "sold"].get(number % 4) {
            pet["status"] = json!(status);
        }
        let answer = client.post(&pet.to_string()).await;
        let mut entries = self.entries();
        let status = match answer {
            Ok(answer) => {
                if answer.status == 201 {
                    entries.acknowledged.insert(number, answer.json());
                } else {
                    answer.refused(503, "unavailable");
                    *entries.others.entry(answer.status).or_default() += 1;
                }
                Ok(answer.status)
            }
            Err(error) => {
                *entries.others.entry(0).or_default() += 1;
                *entries.ends.entry(end(error.kind())).or_default() += 1;
                Err(error)
            }
        };
        drop(entries);
        self.news.notify_waiters();
        status
    }

    /// Waits until the entries are so.
    async fn until(&self, so: impl Fn(&Entries) -> bool) {
        let wait = async {
            loop {
                let news = self.news.notified();
                let mut news = std::pin::pin!(news);
                news.as_mut().enable();
                if so(&self.entries()) {
                    return;
                }
                news.await;
            }
        };
        let waited = timeout(PATIENCE, wait).await;
        assert!(waited.is_ok(), "it never came to that; answers until now: {:?}", self.entries().others);
    }

    /// Waits for so many more acknowledgements.
    pub async fn acknowledged(&self, more: usize) {
        let wanted = self.entries().acknowledged.len() + more;
        self.until(|entries| entries.acknowledged.len() >= wanted).await;
    }

    /// Waits for so many more 503.
    pub async fn unavailable(&self, more: usize) {
        let count = |entries: &Entries| entries.others.get(&503).copied().unwrap_or(0);
        let wanted = count(&self.entries()) + more;
        self.until(|entries| count(entries) >= wanted).await;
    }

    /// Ends the writing.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// How connections ended with an unanswered request on them.
    pub fn ends(&self) -> BTreeMap<String, usize> {
        self.entries().ends.clone()
    }

    /// Holds all animals of the store against the books. Nothing acknowledged may be lost or changed,
    /// nothing may be there twice, and of the rest only what was left open.
    pub fn compare(&self, stored: &[Value]) -> Compared {
        let mut entries = self.entries();
        let mut ids = BTreeSet::new();
        let mut by_number = BTreeMap::new();
        for pet in stored {
            let number = pet["categoryId"].as_u64().expect("a number") as usize;
            assert!(ids.insert(pet["id"].as_i64().expect("an identifier")), "given twice: {pet}");
            assert!(by_number.insert(number, pet).is_none(), "stored twice: {pet}");
            assert_eq!(pet["name"], format!("animal {number} 🦊"), "changed: {pet}");
            assert!(number < self.sent.load(Ordering::Relaxed), "never sent: {pet}");
        }
        for (number, pet) in &entries.acknowledged {
            assert_eq!(by_number.get(number), Some(&pet), "acknowledged, and lost or changed: {pet}");
        }
        let acknowledged = entries.acknowledged.len();
        let open = entries.others.values().sum();
        let found: BTreeSet<_> =
            by_number.keys().copied().filter(|number| !entries.acknowledged.contains_key(number)).collect();
        assert!(entries.found.is_subset(&found), "an animal that was found is gone");
        assert!(found.len() <= open, "{} animals out of {open} open additions", found.len());
        entries.found = found;
        Compared { acknowledged, open, open_and_stored: entries.found.len() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().expect("no writer panicked")
    }
}

fn end(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::ConnectionRefused => "refused".to_owned(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "reset".to_owned(),
        ErrorKind::UnexpectedEof => "closed".to_owned(),
        other => other.to_string(),
    }
}
