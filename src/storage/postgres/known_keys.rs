//! The keys that calls come with, for a short while after they were found.
//!
//! Bounded in number and in age: a key is looked up again a second after it was, however often it is used,
//! so that a revocation by another process takes effect soon. A key that was not found is not kept, and can
//! be used as soon as it is made.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use crate::storage::KeyRecord;

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
    asked: Asked,
    key: KeyRecord,
}

/// When a look-up began, and after how many changes.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    at: Instant,
    changes: u64,
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self { found: Cache::new(KEYS), changes: AtomicU64::new(0) }
    }
}

impl KnownKeys {
    /// A key that was looked up less than [`AGE`] ago, and after the last change.
    pub(super) fn get(&self, hash: &[u8; 32]) -> Option<KeyRecord> {
        let known = self.found.get(hash)?;
        let is_good =
            known.asked.at.elapsed() < AGE && known.asked.changes == self.changes.load(Ordering::Acquire);
        is_good.then_some(known.key)
    }

    /// Must be called before a look-up begins.
    pub(super) fn ask(&self) -> Asked {
        Asked { at: Instant::now(), changes: self.changes.load(Ordering::Acquire) }
    }

    /// Keeps what a look-up found.
    pub(super) fn put(&self, asked: Asked, key: &KeyRecord) {
        self.found.insert(key.hash, Known { asked, key: key.clone() });
    }

    /// Makes nothing known. Must be called after a change.
    pub(super) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }
}
