//! The uses of API keys that are not stored yet.
//!
//! A use is stored to the hour, so most requests find that the hour of their key is stored already. Uses that
//! come while a write waits in the queue join it.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::store::KeyRecord;

const SECONDS_PER_HOUR: i64 = 3600;

#[derive(Default)]
pub(super) struct KeyUses(Mutex<State>);

#[derive(Default)]
struct State {
    /// The start of the hour of `seen`, in seconds.
    hour: i64,
    /// The identifiers of the keys that were noted in that hour.
    seen: HashSet<String>,
    /// The keys that no write has taken yet, each with one hour: PostgreSQL updates a row once per statement.
    pending: HashMap<String, i64>,
}

impl KeyUses {
    /// Notes that `key` was used at `at`. Returns the uses to write, unless a write waits already.
    pub(super) fn note(self: &Arc<Self>, key: &KeyRecord, at: Timestamp) -> Option<UsesToWrite> {
        let hour = at.as_second().div_euclid(SECONDS_PER_HOUR) * SECONDS_PER_HOUR;
        if key.last_used.is_some_and(|last| last.as_second() >= hour) {
            return None;
        }
        let mut state = self.lock();
        if state.hour != hour {
            state.hour = hour;
            state.seen.clear();
        }
        if state.seen.contains(&key.id) {
            return None;
        }
        state.seen.insert(key.id.clone());
        let is_first = state.pending.is_empty();
        state.pending.insert(key.id.clone(), hour);
        is_first.then(|| UsesToWrite(Some(Arc::clone(self))))
    }

    fn take(&self) -> Vec<(String, i64)> {
        mem::take(&mut self.lock().pending).into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The uses that a write stores. If it never starts, they are forgotten: otherwise no other write would start.
pub(super) struct UsesToWrite(Option<Arc<KeyUses>>);

impl UsesToWrite {
    /// Returns the identifiers of the keys, each with the start of an hour in seconds.
    pub(super) fn take(&mut self) -> Vec<(String, i64)> {
        self.0.take().map(|uses| uses.take()).unwrap_or_default()
    }
}

impl Drop for UsesToWrite {
    fn drop(&mut self) {
        if let Some(uses) = self.0.take() {
            uses.take();
        }
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
        let uses = Arc::new(KeyUses::default());
        let mut first = uses.note(&key("a", None), second(3600)).unwrap();
        assert!(uses.note(&key("a", Some(0)), second(7199)).is_none());
        assert!(uses.note(&key("b", None), second(3601)).is_none(), "a write waits already");
        let mut taken = first.take();
        taken.sort();
        assert_eq!(taken, [("a".to_owned(), 3600), ("b".to_owned(), 3600)]);
        assert!(uses.note(&key("b", None), second(7199)).is_none());
        let mut second_hour = uses.note(&key("b", None), second(7200)).unwrap();
        assert_eq!(second_hour.take(), [("b".to_owned(), 7200)]);
        // The later of two hours that wait counts.
        let mut both = uses.note(&key("a", None), second(3600)).unwrap();
        assert!(uses.note(&key("a", None), second(7200)).is_none());
        assert_eq!(both.take(), [("a".to_owned(), 7200)]);
    }

    #[test]
    fn after_a_write_that_did_not_start_the_next_use_starts_one() {
        let uses = Arc::new(KeyUses::default());
        drop(uses.note(&key("a", None), second(3600)).unwrap());
        assert_eq!(uses.note(&key("b", None), second(3600)).unwrap().take(), [("b".to_owned(), 3600)]);
    }

    #[test]
    fn an_hour_that_is_stored_is_not_noted() {
        let uses = Arc::new(KeyUses::default());
        assert!(uses.note(&key("a", Some(3600)), second(7199)).is_none());
        assert!(uses.note(&key("a", Some(7200)), second(7199)).is_none(), "the clock was set back");
        assert!(uses.note(&key("a", Some(3600)), second(7200)).is_some());
    }
}
