//! When expired idempotency keys are removed.
//!
//! Additions with a key cause it, at most once a minute and in small chunks, so that no write waits long and a store
//! without such additions does nothing. A chunk looks at the oldest keys, so that it never scans the others.
//!
//! The minute is one of the monotonic clock. The age of a key is one of the wall clock, which may have jumped: a key with
//! a time in the future gets the present time when it is found among the oldest keys, and so expires a day later. Until
//! then, chunks begin after it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::types::IdempotencyKey;

/// The maximum number of keys that one write looks at.
pub(super) const CHUNK: u32 = 256;
const BETWEEN_CHUNKS: Duration = Duration::from_secs(60);

/// Decides when to remove the next chunk.
#[derive(Default)]
pub(super) struct Expiry(Mutex<State>);

#[derive(Default)]
struct State {
    /// When the next chunk is due; `None` for at once.
    next: Option<Instant>,
    /// The highest identifier with a key that was corrected, and when that was, in seconds of the wall clock.
    corrected: Option<(i64, i64)>,
}

/// What was done with a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removed {
    /// The number of keys that were removed.
    pub(super) count: u64,
    /// The highest identifier of an animal whose key had a time in the future.
    pub(super) corrected: Option<i64>,
}

impl Expiry {
    /// Returns the identifier after which the keys of a chunk begin, if one is due now. Returns it to one caller.
    pub(super) fn due(&self, at: Timestamp) -> Option<i64> {
        let mut state = self.state();
        let now = Instant::now();
        if state.next.is_some_and(|next| now < next) {
            return None;
        }
        state.next = Some(now + BETWEEN_CHUNKS);
        let day = 0..IdempotencyKey::LIFETIME.as_secs();
        state.corrected.take_if(|(_, since)| !day.contains(&at.as_second().saturating_sub(*since)));
        Some(state.corrected.map_or(i64::MIN, |(id, _)| id))
    }

    /// Notes what was done with a chunk at `at`. If there may be more to remove, the next one is due at once.
    pub(super) fn removed(&self, removed: Removed, at: Timestamp) {
        let mut state = self.state();
        if let Some(id) = removed.corrected {
            state.corrected = Some((id, at.as_second()));
        }
        if removed.corrected.is_some() || removed.count >= u64::from(CHUNK) {
            state.next = None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    #[tokio::test(start_paused = true)]
    async fn a_chunk_is_due_once_a_minute_and_at_once_after_a_full_one() {
        let expiry = Expiry::default();
        assert_eq!(expiry.due(NOW), Some(i64::MIN));
        advance(BETWEEN_CHUNKS - Duration::from_secs(1)).await;
        assert_eq!(expiry.due(NOW), None);
        advance(Duration::from_secs(1)).await;
        assert_eq!(expiry.due(NOW), Some(i64::MIN));
        expiry.removed(Removed { count: 255, corrected: None }, NOW);
        assert_eq!(expiry.due(NOW), None);
        expiry.removed(Removed { count: 256, corrected: None }, NOW);
        assert_eq!(expiry.due(NOW), Some(i64::MIN));
        assert_eq!(expiry.due(NOW), None);
    }

    #[tokio::test(start_paused = true)]
    async fn chunks_begin_after_corrected_keys_for_a_day() {
        for (later, after) in [(0, 7), (86_399, 7), (86_400, i64::MIN), (-1, i64::MIN)] {
            let expiry = Expiry::default();
            assert_eq!(expiry.due(NOW), Some(i64::MIN));
            expiry.removed(Removed { count: 0, corrected: Some(7) }, NOW);
            let at = Timestamp::from_second(later).unwrap();
            assert_eq!(expiry.due(at), Some(after), "{later} seconds later");
        }
    }
}
