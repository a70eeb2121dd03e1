//! A load of concurrent callers that add animals during a failure, and a comparison with the store afterwards.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::storage::{PetsFound, PetsQuery, Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::conformance::new_pet;

/// The time limit for the next acknowledgement.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The running callers.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    acknowledged: watch::Sender<usize>,
    callers: Vec<JoinHandle<Results>>,
}

/// The results of one caller: names and identifiers of acknowledged animals, and the number of errors.
#[derive(Default)]
struct Results {
    acknowledged: Vec<(String, i64)>,
    unavailable: usize,
    busy: usize,
}

/// The result of a load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) acknowledged: usize,
    pub(crate) unavailable: usize,
    pub(crate) busy: usize,
    /// Stored although the caller got an error, which is allowed.
    pub(crate) unacknowledged: usize,
    pub(crate) lost: usize,
    /// The names that several animals have.
    pub(crate) stored_twice: Vec<String>,
}

/// Reads a page, again if that fails: a poll of the servers that takes long on a busy machine interrupts reads.
pub(crate) async fn read(store: &Store, query: PetsQuery) -> PetsFound {
    let reading = async {
        loop {
            match store.pets(query).await {
                Ok(page) => return page,
                Err(StoreError::Unavailable(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(broken) => panic!("{broken:?}"),
            }
        }
    };
    timeout(TIMEOUT, reading).await.expect("the store must recover")
}

impl Load {
    /// Starts 32 callers, distributed over the stores.
    pub(crate) fn start(stores: &[Arc<Store>]) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), watch::Sender::new(0));
        let callers = (0..32)
            .map(|caller| {
                let store = stores[caller % stores.len()].clone();
                let (stop, acknowledged) = (stop.clone(), acknowledged.clone());
                tokio::spawn(async move {
                    let mut results = Results::default();
                    for number in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let name = format!("{caller}/{number}");
                        match store.add_pet(new_pet(&name, 1, None)).await {
                            Ok(pet) => {
                                results.acknowledged.push((name, pet.id));
                                acknowledged.send_modify(|count| *count += 1);
                                continue;
                            }
                            Err(StoreError::Unavailable(_)) => results.unavailable += 1,
                            Err(StoreError::Busy) => results.busy += 1,
                            Err(broken) => panic!("{broken:?}"),
                        }
                        // Waits before the retry, like a client that respects Retry-After.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    results
                })
            })
            .collect();
        Self { stop, acknowledged, callers }
    }

    /// Waits until `count` more animals are acknowledged.
    pub(crate) async fn more(&self, count: usize) {
        let mut acknowledged = self.acknowledged.subscribe();
        let goal = *acknowledged.borrow() + count;
        while *acknowledged.borrow_and_update() < goal {
            timeout(TIMEOUT, acknowledged.changed()).await.expect("the store must recover").unwrap();
        }
    }

    /// Stops the callers and compares their results with the content of `store`.
    pub(crate) async fn finish(self, store: &Store) -> Summary {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Results::default();
        for caller in self.callers {
            let results = caller.await.unwrap();
            all.acknowledged.extend(results.acknowledged);
            all.unavailable += results.unavailable;
            all.busy += results.busy;
        }
        let mut found: HashMap<String, Vec<i64>> = HashMap::new();
        let mut query = PetsQuery { status: None, after: None, limit: 100 };
        loop {
            let page = read(store, query).await;
            query.after = page.pets.last().map(|pet| pet.id);
            for pet in page.pets {
                found.entry(pet.name.into_string()).or_default().push(pet.id);
            }
            if !page.more {
                break;
            }
        }
        let is_found = |(name, id): &&(String, i64)| found.get(name).is_some_and(|ids| ids.contains(id));
        let stored_twice = found.iter().filter(|(_, ids)| ids.len() > 1).map(|(name, _)| name.clone());
        let summary = Summary {
            acknowledged: all.acknowledged.len(),
            unavailable: all.unavailable,
            busy: all.busy,
            unacknowledged: found.values().map(Vec::len).sum::<usize>() - all.acknowledged.len(),
            lost: all.acknowledged.iter().filter(|added| !is_found(added)).count(),
            stored_twice: stored_twice.collect(),
        };
        println!("{summary:?}");
        assert!(summary.lost == 0 && summary.stored_twice.is_empty(), "{summary:?}");
        summary
    }
}
