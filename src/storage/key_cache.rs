//! What authentication keeps in memory: a cache of API keys, and which of their uses are stored.
//!
//! The cache is bounded in size and time: a key is queried again after a second, however often it is used, so that a
//! revocation by another process takes effect soon. Unknown keys are not cached, so that a new key works at once.
//!
//! A use is stored to the hour, once for each key, so most requests find that the hour of their key is stored already.

use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use quick_cache::sync::Cache;
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use super::types::{KeyRecord, StoreError};

/// The maximum age of an entry, from the start of its query.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The maximum number of entries of a few hundred bytes each.
const CAPACITY: usize = 10_000;
const SECONDS_PER_HOUR: i64 = 3600;

pub(super) struct KeyCache {
    entries: Cache<[u8; 32], Entry>,
    /// How often this process has changed keys.
    changes: AtomicU64,
}

#[derive(Clone)]
struct Entry {
    /// When the query started.
    queried: Instant,
    /// The value of `changes` at that time.
    changes: u64,
    key: Arc<KeyRecord>,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self { entries: Cache::new(CAPACITY), changes: AtomicU64::new(0) }
    }
}

impl KeyCache {
    /// Returns the key with this hash. Queries it with `query`, unless an entry is younger than [`MAX_AGE`]
    /// and than the last change.
    pub(super) async fn get_or_query<R>(
        &self,
        hash: &[u8; 32],
        query: impl FnOnce() -> R,
    ) -> Result<Option<Arc<KeyRecord>>, StoreError>
    where
        R: Future<Output = Result<Option<KeyRecord>, StoreError>>,
    {
        let changes = self.changes.load(Ordering::Acquire);
        let entry = self.entries.get(hash);
        if let Some(entry) = entry.filter(|it| it.changes == changes && it.queried.elapsed() < MAX_AGE) {
            return Ok(Some(entry.key));
        }
        let queried = Instant::now();
        let key = query().await?.map(Arc::new);
        if let Some(key) = &key {
            self.entries.insert(*hash, Entry { queried, changes, key: key.clone() });
        }
        Ok(key)
    }

    /// Invalidates all entries. Must be called after a change, whether it succeeded or not.
    pub(super) fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}

/// The start of an hour, in seconds, and the identifiers of the keys that were noted in it.
#[derive(Default)]
pub(super) struct KeyUses(Mutex<(i64, HashSet<String>)>);

impl KeyUses {
    /// Returns the start of the hour in seconds if it must be stored that `key` was used at `at`.
    pub(super) fn note(&self, key: &KeyRecord, at: Timestamp) -> Option<i64> {
        let hour = at.as_second().div_euclid(SECONDS_PER_HOUR) * SECONDS_PER_HOUR;
        if key.last_used.is_some_and(|last| last.as_second() >= hour) {
            return None;
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (noted, keys) = &mut *state;
        if *noted != hour {
            *noted = hour;
            keys.clear();
        }
        // Most requests allocate nothing.
        (!keys.contains(&key.id) && keys.insert(key.id.clone())).then_some(hour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str, last_used: Option<i64>) -> KeyRecord {
        KeyRecord {
            id: id.to_owned(),
            name: String::new(),
            hash: [0; 32],
            created: Timestamp::UNIX_EPOCH,
            expires: None,
            revoked: None,
            note: None,
            last_used: last_used.map(second),
        }
    }

    fn second(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_key_is_noted_once_per_hour() {
        let uses = KeyUses::default();
        assert_eq!(uses.note(&key("a", None), second(3601)), Some(3600));
        assert_eq!(uses.note(&key("a", Some(0)), second(7199)), None);
        assert_eq!(uses.note(&key("b", None), second(3601)), Some(3600));
        assert_eq!(uses.note(&key("b", None), second(7200)), Some(7200));
        assert_eq!(uses.note(&key("a", None), second(7201)), Some(7200));
    }

    #[test]
    fn an_hour_that_is_stored_is_not_noted() {
        let uses = KeyUses::default();
        assert_eq!(uses.note(&key("a", Some(3600)), second(7199)), None);
        assert_eq!(uses.note(&key("a", Some(7200)), second(7199)), None, "the clock was set back");
        assert_eq!(uses.note(&key("a", Some(3600)), second(7200)), Some(7200));
    }
}
