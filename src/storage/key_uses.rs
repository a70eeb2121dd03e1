//! Which uses of API keys are stored.
//!
//! A use is stored to the hour, once for each key, so most requests find that the hour of their key is stored already.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::types::KeyRecord;

const SECONDS_PER_HOUR: i64 = 3600;

/// The start of an hour, in seconds, and the identifiers of the keys that were noted in it.
#[derive(Default)]
pub(super) struct KeyUses(Mutex<(i64, HashSet<String>)>);

impl KeyUses {
    /// Returns the start of the hour in seconds if it must be stored that `key` was used at `at`.
    pub(super) fn note(&self, key: &KeyRecord, at: Timestamp) -> Option<i64> {
        let hour = at.as_second().div_euclid(SECONDS_PER_HOUR) * SECONDS_PER_HOUR;
        if key.last_used.is_some_and(|last| last.as_second() >= hour) {
            return None;
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (noted, keys) = &mut *state;
        if *noted != hour {
            *noted = hour;
            keys.clear();
        }
        // Most requests allocate nothing.
        (!keys.contains(&key.id) && keys.insert(key.id.clone())).then_some(hour)
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
        let uses = KeyUses::default();
        assert_eq!(uses.note(&key("a", None), second(3601)), Some(3600));
        assert_eq!(uses.note(&key("a", Some(0)), second(7199)), None);
        assert_eq!(uses.note(&key("b", None), second(3601)), Some(3600));
        assert_eq!(uses.note(&key("b", None), second(7200)), Some(7200));
        assert_eq!(uses.note(&key("a", None), second(7201)), Some(7200));
    }

    #[test]
    fn an_hour_that_is_stored_is_not_noted() {
        let uses = KeyUses::default();
        assert_eq!(uses.note(&key("a", Some(3600)), second(7199)), None);
        assert_eq!(uses.note(&key("a", Some(7200)), second(7199)), None, "the clock was set back");
        assert_eq!(uses.note(&key("a", Some(3600)), second(7200)), Some(7200));
    }
}
