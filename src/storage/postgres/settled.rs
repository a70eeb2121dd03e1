//! Up to which identifier pages are complete (`pages.rs`).

use std::sync::atomic::{AtomicI64, Ordering};

/// The highest identifier up to which no animal can be added any more, as far as this process knows.
pub(super) struct Settled(AtomicI64);

impl Settled {
    pub(super) fn unknown() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }

    /// Forgets the identifier: after a crash or a failover, the sequence may assign the latest ones again.
    pub(super) fn forget(&self) {
        self.0.store(i64::MIN, Ordering::SeqCst);
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the identifier after it was raised to `id`.
    pub(super) fn raise(&self, id: i64) -> i64 {
        self.0.fetch_max(id, Ordering::SeqCst).max(id)
    }
}
