//! When expired idempotency keys are removed.
//!
//! Additions with a key cause it, at most once a minute and in small chunks, so that no write waits long and a store
//! without such additions does nothing.
//!
//! The minute is one of the monotonic clock. The age of a key is one of the wall clock, which may have jumped: a key with
//! a time in the future gets the present time when it is found among the oldest keys, and so expires a day later.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::store::IdempotencyKey;

/// The maximum number of keys that one write removes.
pub(super) const CHUNK: u32 = 256;
/// A chunk of at least this many keys is followed by the next one. Not [`CHUNK`]: a key that had a time in the future
/// keeps its place among the oldest keys for a day.
const HALF: u64 = CHUNK as u64 / 2;
const BETWEEN_CHUNKS: Duration = Duration::from_secs(60);

/// Decides when to remove the next chunk.
#[derive(Default)]
pub(super) struct Expiry {
    /// When the next chunk is due; `None` for at once.
    next: Mutex<Option<Instant>>,
}

impl Expiry {
    /// Whether a chunk is due now. Returns `true` to one caller.
    pub(super) fn is_due(&self) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_due = next.is_none_or(|next| now >= next);
        if is_due {
            *next = Some(now + BETWEEN_CHUNKS);
        }
        is_due
    }

    /// Notes that a chunk was removed. After a large one there may be more, so the next one is due at once.
    pub(super) fn removed(&self, count: u64) {
        if count >= HALF {
            *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// Returns the time, in seconds, up to which keys that were stored have expired at `at`.
pub(super) fn expired_until(at: Timestamp) -> i64 {
    at.as_second().saturating_sub(IdempotencyKey::LIFETIME.as_secs())
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_chunk_is_due_once_a_minute_and_at_once_after_a_large_one() {
        let expiry = Expiry::default();
        assert!(expiry.is_due());
        advance(BETWEEN_CHUNKS - Duration::from_secs(1)).await;
        assert!(!expiry.is_due());
        advance(Duration::from_secs(1)).await;
        assert!(expiry.is_due());
        expiry.removed(HALF - 1);
        assert!(!expiry.is_due());
        expiry.removed(HALF);
        assert!(expiry.is_due());
        assert!(!expiry.is_due());
    }
}
