//! What authentication keeps in memory: a cache of API keys.
//!
//! The cache is bounded in size and time: a key is queried again after a second, however often it is used, so that a
//! revocation by another process takes effect soon. Unknown keys are not cached, so that a new key works at once.
//!
//! A use is stored to the hour, so most requests find that the entry of their key has this hour already.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

    /// Returns the start of the hour in seconds if it must be stored that `key` was used at `at`. The entry of the key has
    /// this hour from then on, until it is queried again.
    pub(super) fn note_use(&self, key: &KeyRecord, at: Timestamp) -> Option<i64> {
        let hour = at.as_second().div_euclid(SECONDS_PER_HOUR) * SECONDS_PER_HOUR;
        if key.last_used.is_some_and(|last| last.as_second() >= hour) {
            return None;
        }
        if let Some(entry) = self.entries.get(&key.hash) {
            // Of the same age as the entry: the argument may be older.
            let used = KeyRecord { last_used: Timestamp::from_second(hour).ok(), ..(*entry.key).clone() };
            self.entries.insert(key.hash, Entry { key: Arc::new(used), ..entry });
        }
        Some(hour)
    }

    /// Invalidates all entries. Must be called after a change, whether it succeeded or not.
    pub(super) fn invalidate(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(last_used: Option<i64>) -> KeyRecord {
        KeyRecord {
            id: "a".to_owned(),
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

    #[tokio::test]
    async fn an_hour_is_noted_until_the_key_has_it() {
        let cache = KeyCache::default();
        let get = async || {
            let query = async || Ok(Some(key(None)));
            cache.get_or_query(&[0; 32], query).await.unwrap().unwrap()
        };
        assert_eq!(cache.note_use(&*get().await, second(3601)), Some(3600));
        assert_eq!(cache.note_use(&*get().await, second(7199)), None);
        assert_eq!(cache.note_use(&*get().await, second(7200)), Some(7200));
        assert_eq!(cache.note_use(&*get().await, second(7199)), None, "the clock was set back");
        // Another process may have removed it.
        cache.invalidate();
        assert_eq!(cache.note_use(&*get().await, second(7200)), Some(7200));
    }

    #[test]
    fn an_hour_that_is_stored_is_not_noted() {
        let cache = KeyCache::default();
        assert_eq!(cache.note_use(&key(Some(3600)), second(7199)), None);
        assert_eq!(cache.note_use(&key(Some(7200)), second(7199)), None, "the clock was set back");
        assert_eq!(cache.note_use(&key(Some(3600)), second(7200)), Some(7200));
    }
}
