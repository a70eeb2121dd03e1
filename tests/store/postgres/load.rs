//! Many callers that add animals while something goes wrong, and the account of it afterwards.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::battery::new_pet;

/// The longest that an acknowledgement may take to come; none does unless a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Callers at work.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    acknowledged: watch::Sender<usize>,
    callers: Vec<JoinHandle<Told>>,
}

/// What a caller was told: the name and the identifier of each animal that was acknowledged, and how often
/// the store could not say.
#[derive(Default)]
struct Told {
    acknowledged: Vec<(String, i64)>,
    unavailable: usize,
    busy: usize,
}

/// The account of a load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) acknowledged: usize,
    pub(crate) unavailable: usize,
    pub(crate) busy: usize,
    /// Stored although nobody was told; allowed.
    pub(crate) unacknowledged: usize,
    pub(crate) lost: usize,
    pub(crate) doubled: usize,
}

impl Load {
    /// 32 callers, who take the stores in turn.
    pub(crate) fn start(stores: &[Arc<dyn Store>]) -> Self {
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), watch::Sender::new(0));
        let callers = (0..32)
            .map(|caller| {
                let store = stores[caller % stores.len()].clone();
                let (stop, acknowledged) = (stop.clone(), acknowledged.clone());
                tokio::spawn(async move {
                    let mut told = Told::default();
                    for number in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let name = format!("{caller}/{number}");
                        match store.add_pet(new_pet(&name, 1, None)).await {
                            Ok(pet) => {
                                told.acknowledged.push((name, pet.id));
                                acknowledged.send_modify(|count| *count += 1);
                                continue;
                            }
                            Err(StoreError::Unavailable(_)) => told.unavailable += 1,
                            Err(StoreError::Busy) => told.busy += 1,
                            Err(broken) => panic!("{broken:?}"),
                        }
                        // As a client does that heeds Retry-After.
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    told
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
            timeout(PATIENCE, acknowledged.changed()).await.expect("service must resume").unwrap();
        }
    }

    /// Stops the callers and compares what they were told with what `store` holds.
    pub(crate) async fn finish(self, store: &dyn Store) -> Account {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Told::default();
        for caller in self.callers {
            let told = caller.await.unwrap();
            all.acknowledged.extend(told.acknowledged);
            all.unavailable += told.unavailable;
            all.busy += told.busy;
        }
        let mut found: HashMap<String, Vec<i64>> = HashMap::new();
        let mut query = PetsQuery { status: None, after: None, limit: 100 };
        loop {
            let page = store.pets(query).await.unwrap();
            query.after = page.pets.last().map(|pet| pet.id);
            for pet in page.pets {
                found.entry(pet.name.into_string()).or_default().push(pet.id);
            }
            if !page.more {
                break;
            }
        }
        let is_found = |(name, id): &&(String, i64)| found.get(name).is_some_and(|ids| ids.contains(id));
        let account = Account {
            acknowledged: all.acknowledged.len(),
            unavailable: all.unavailable,
            busy: all.busy,
            unacknowledged: found.values().map(Vec::len).sum::<usize>() - all.acknowledged.len(),
            lost: all.acknowledged.iter().filter(|told| !is_found(told)).count(),
            doubled: found.values().filter(|ids| ids.len() > 1).count(),
        };
        println!("{account:?}");
        assert_eq!((account.lost, account.doubled), (0, 0), "{account:?}");
        account
    }
}
