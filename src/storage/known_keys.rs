//! The keys that calls come with, for a short while after they were found.
//!
//! Bounded in number and in age: a key is looked up again a second after it was, however often it is used,
//! so that a revocation by another process takes effect soon. A key that was not found is not kept, and can
//! be used as soon as it is made.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use quick_cache::sync::Cache;
// This clock rather than that of `std`: a test can stop and advance it.
use tokio::time::Instant;

use super::{KeyRecord, StoreError};

/// How long after a look-up began its answer is good.
const AGE: Duration = Duration::from_secs(1);
/// How many keys are kept at the most, a few hundred bytes each.
const KEYS: usize = 10_000;

/// The keys that were found.
pub(super) struct KnownKeys {
    found: Cache<[u8; 32], Known>,
    /// How often this process has changed keys.
    changes: AtomicU64,
}

#[derive(Clone)]
struct Known {
    /// When the look-up began.
    asked: Instant,
    /// After how many changes it did.
    changes: u64,
    key: KeyRecord,
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self { found: Cache::new(KEYS), changes: AtomicU64::new(0) }
    }
}

impl KnownKeys {
    /// The key with this hash, looked up with `find` unless that was done less than [`AGE`] ago and since the
    /// last change.
    pub(super) async fn get_or_find<R>(
        &self,
        hash: &[u8; 32],
        find: impl FnOnce() -> R,
    ) -> Result<Option<KeyRecord>, StoreError>
    where
        R: Future<Output = Result<Option<KeyRecord>, StoreError>>,
    {
        let changes = self.changes.load(Ordering::Acquire);
        let known = self.found.get(hash);
        if let Some(known) = known.filter(|known| known.changes == changes && known.asked.elapsed() < AGE) {
            return Ok(Some(known.key));
        }
        let asked = Instant::now();
        let key = find().await?;
        if let Some(key) = &key {
            self.found.insert(*hash, Known { asked, changes, key: key.clone() });
        }
        Ok(key)
    }

    /// Makes nothing known. Must be called after a change.
    pub(super) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}
