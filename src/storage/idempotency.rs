//! Idempotency keys: what is stored with one, the fingerprint of its request and the response, and when it is removed.
//!
//! Additions with a key cause the removal of those that have expired, at most once a minute and in chunks, so that no write
//! waits long and a store without such additions does nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use tokio::time::Instant;

use super::types::{AddedOnce, IdempotencyKey};
use crate::schemas::{NewPet, Pet, PetStatus};

/// The maximum number of keys that one write removes.
pub(super) const CHUNK: u64 = 256;
const BETWEEN_CHUNKS: Duration = Duration::from_secs(60);

/// The key of an addition, with the fingerprint of the request.
#[derive(Clone, Debug)]
pub(super) struct RequestKey {
    pub(super) key: IdempotencyKey,
    pub(super) fingerprint: [u8; 32],
}

impl RequestKey {
    pub(super) fn of_addition(key: IdempotencyKey, new: &NewPet) -> Self {
        let status = new.status.map(PetStatus::as_str);
        Self { key, fingerprint: fingerprint_of_addition(new.category_id, status, new.name.as_str()) }
    }

    /// Returns the result of a request whose key is stored with `fingerprint` and `response`.
    ///
    /// # Errors
    /// The response is not one of an addition.
    pub(super) fn repeated(&self, fingerprint: &[u8], response: &str) -> serde_json::Result<AddedOnce> {
        if fingerprint == self.fingerprint {
            serde_json::from_str(response).map(AddedOnce::Before)
        } else {
            Ok(AddedOnce::Differs)
        }
    }
}

/// Returns the SHA-256 of `createPet`, the category, the status (empty if there is none) and the name, in lines. Only the
/// name, which comes last, may contain a line break, so two requests have the same text only if they are equal. The
/// migrations of both engines compute it, and databases contain it: it never changes.
pub(super) fn fingerprint_of_addition(category_id: i64, status: Option<&str>, name: &str) -> [u8; 32] {
    let text = format!("createPet\n{category_id}\n{}\n{name}", status.unwrap_or_default());
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    fingerprint
}

/// Returns the text of an animal in a response.
pub(super) fn response(pet: &Pet) -> String {
    // Neither numbers nor texts can fail to serialize.
    serde_json::to_string(pet).unwrap_or_default()
}

/// Decides when to remove the next chunk. A clone shares the decision.
#[derive(Clone, Default)]
pub(super) struct Expiry(Arc<Mutex<Option<Instant>>>);

impl Expiry {
    /// Returns whether a chunk is due now. Returns `true` to one caller.
    pub(super) fn is_due(&self) -> bool {
        let mut next = self.next();
        let now = Instant::now();
        if next.is_some_and(|next| now < next) {
            return false;
        }
        *next = Some(now + BETWEEN_CHUNKS);
        true
    }

    /// Notes how many keys a chunk had. After a full one, the next is due at once.
    pub(super) fn removed(&self, count: u64) {
        if count >= CHUNK {
            *self.next() = None;
        }
    }

    fn next(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock for the age of idempotency keys. It follows a wall clock, but jumps of that never shorten the life of a key.
///
/// A key is stored with the later of the wall clock and of what the monotonic clock adds to the first look at it; it
/// expires by the earlier one, with the lowest difference between the two clocks that was seen. If the wall clock jumps, or
/// the machine sleeps, keys only live longer. A process that starts while the wall clock is wrong does not notice:
/// therefore the systemd unit has `After=time-sync.target`.
pub(super) struct SteadyClock {
    start: Instant,
    /// The first and the lowest difference, in seconds; `None` before the first look at the wall clock.
    differences: Option<(i64, i64)>,
}

impl Default for SteadyClock {
    fn default() -> Self {
        Self { start: Instant::now(), differences: None }
    }
}

impl SteadyClock {
    /// Looks at the wall clock, whose time is `wall`, in seconds since the Unix epoch.
    pub(super) fn see(&mut self, wall: i64) {
        self.expired_before(wall);
    }

    /// Looks at the wall clock like [`SteadyClock::see`]. Returns the time, in seconds, before which keys that were stored
    /// have expired.
    pub(super) fn expired_before(&mut self, wall: i64) -> i64 {
        let monotonic = self.monotonic();
        let difference = wall.saturating_sub(monotonic);
        let (first, lowest) = self.differences.unwrap_or((difference, difference));
        let lowest = lowest.min(difference);
        self.differences = Some((first, lowest));
        monotonic.saturating_add(lowest).saturating_sub(IdempotencyKey::LIFETIME.as_secs())
    }

    /// Returns the earliest time, in seconds, with which a key may be stored now. Needs a look at the wall clock before.
    pub(super) fn earliest(&self) -> i64 {
        self.differences.map_or(0, |(first, _)| self.monotonic().saturating_add(first))
    }

    fn monotonic(&self) -> i64 {
        self.start.elapsed().as_secs() as i64
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Computed with `printf 'createPet\n7\nsold\nRex' | sha256sum`.
    #[test]
    fn the_fingerprint_of_an_addition_never_changes() {
        let known = "df2325ea99df9eb398c83ffa8130010751ccc0452aa568216c8e058ff21adbff";
        let found =
            fingerprint_of_addition(7, Some("sold"), "Rex").map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(found, known);
    }

    #[test]
    fn requests_that_differ_have_different_fingerprints() {
        let requests = [
            (7, Some("sold"), "Rex"),
            (7, None, "Rex"),
            (7, None, "sold\nRex"),
            (7, Some("sold"), "rex"),
            (-7, Some("sold"), "Rex"),
        ];
        let mut fingerprints =
            requests.map(|(category, status, name)| fingerprint_of_addition(category, status, name));
        fingerprints.sort_unstable();
        assert!(fingerprints.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_chunk_is_due_once_a_minute_and_at_once_after_a_full_one() {
        let expiry = Expiry::default();
        assert!(expiry.is_due());
        advance(BETWEEN_CHUNKS - Duration::from_secs(1)).await;
        assert!(!expiry.is_due());
        advance(Duration::from_secs(1)).await;
        assert!(expiry.is_due());
        expiry.removed(CHUNK - 1);
        assert!(!expiry.is_due());
        expiry.removed(CHUNK);
        assert!(expiry.is_due());
        assert!(!expiry.is_due());
    }

    #[tokio::test(start_paused = true)]
    async fn no_jump_of_the_wall_clock_removes_keys_early() {
        const START: i64 = 1_800_000_000;
        let day = IdempotencyKey::LIFETIME.as_secs();
        let mut clock = SteadyClock::default();
        let mut age_limit = |wall| clock.expired_before(wall) + day - START;
        assert_eq!(age_limit(START), 0);
        let ten_seconds = Duration::from_secs(10);
        advance(ten_seconds).await;
        assert_eq!(age_limit(START + 10), 10);
        // 25 hours ahead, for ten seconds.
        advance(ten_seconds).await;
        assert_eq!(age_limit(START + 25 * 3600 + 20), 20);
        advance(ten_seconds).await;
        assert_eq!(age_limit(START + 30), 30);
        // Set back by an hour: from now on, keys live an hour longer.
        advance(ten_seconds).await;
        assert_eq!(age_limit(START - 3600 + 40), 40 - 3600);
        advance(ten_seconds).await;
        assert_eq!(age_limit(START + 50), 50 - 3600);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_is_stored_while_the_wall_clock_is_behind_has_the_right_time() {
        let mut clock = SteadyClock::default();
        clock.see(1_000_000);
        advance(Duration::from_secs(10)).await;
        clock.see(1_000_000 - 25 * 3600);
        advance(Duration::from_secs(5)).await;
        assert_eq!(clock.earliest(), 1_000_015);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_ahead_at_the_start_is_corrected() {
        let mut clock = SteadyClock::default();
        let day = IdempotencyKey::LIFETIME.as_secs();
        for wall in [10_000_001, 1_000_002, 1_000_003] {
            assert_eq!(clock.expired_before(wall), wall - day);
            advance(Duration::from_secs(1)).await;
        }
    }
}
