//! When expired idempotency keys are removed.
//!
//! Additions with a key cause it, at most once a minute and in small chunks, so that no write waits long and a store
//! without such additions does nothing.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

use super::store::IdempotencyKey;

/// The maximum number of keys that one write removes.
pub(super) const CHUNK: u32 = 256;
const SECONDS_BETWEEN_CHUNKS: i64 = 60;

/// Decides when to remove the next chunk.
#[derive(Default)]
pub(super) struct Expiry {
    /// When the next chunk is due, in seconds.
    next: AtomicI64,
}

impl Expiry {
    /// Whether a chunk is due at `at`. Returns `true` to one caller.
    pub(super) fn is_due(&self, at: Timestamp) -> bool {
        let (now, next) = (at.as_second(), self.next.load(Ordering::Relaxed));
        let later = now.saturating_add(SECONDS_BETWEEN_CHUNKS);
        now >= next && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Notes that a chunk was removed. After a full one there may be more, so the next one is due at once.
    pub(super) fn removed(&self, count: u64) {
        if count >= u64::from(CHUNK) {
            self.next.store(i64::MIN, Ordering::Relaxed);
        }
    }
}

/// Returns the time, in seconds, up to which keys that were stored have expired at `at`.
pub(super) fn expired_until(at: Timestamp) -> i64 {
    at.as_second().saturating_sub(IdempotencyKey::LIFETIME.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_due_once_a_minute_and_at_once_after_a_full_one() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let expiry = Expiry::default();
        assert!(expiry.is_due(at(1_000)));
        assert!(!expiry.is_due(at(1_059)));
        assert!(expiry.is_due(at(1_060)));
        expiry.removed(u64::from(CHUNK) - 1);
        assert!(!expiry.is_due(at(1_061)));
        expiry.removed(CHUNK.into());
        assert!(expiry.is_due(at(1_061)));
        assert!(!expiry.is_due(at(1_061)));
    }
}
