//! A cache of API keys, for authentication.
//!
//! It is bounded in size and time: a key is queried again after a second, however often it is used, so that a
//! revocation by another process takes effect soon. Unknown keys are not cached, so that a new key works at
//! once.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quick_cache::sync::Cache;
// Unlike the clock of `std`, tests can pause and advance this one.
use tokio::time::Instant;

use super::error::StoreError;
use super::types::KeyRecord;

/// The maximum age of an entry, from the start of its query.
const MAX_AGE: Duration = Duration::from_secs(1);
/// The maximum number of entries of a few hundred bytes each.
const CAPACITY: usize = 10_000;

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
