//! What a store takes and returns.

use jiff::{SignedDuration, Timestamp};

use super::error::StoreError;
use crate::schemas::{Pet, PetStatus, Pets};

/// The value of an `Idempotency-Key` of an addition, and the client that sent it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyKey {
    /// The public identifier of the client's API key.
    pub client: String,
    /// The value, 1 to 64 printable ASCII characters.
    pub value: String,
}

impl IdempotencyKey {
    /// How long a key is remembered.
    pub const LIFETIME: SignedDuration = SignedDuration::from_hours(24);
}

/// The result of an addition with an [`IdempotencyKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedOnce {
    /// The animal was added.
    Now(Pet),
    /// An earlier addition of the same animal had the key. Nothing was added. The animal is as it was then.
    Before(Pet),
    /// An earlier addition of a different animal had the key. Nothing was added.
    Differs,
}

/// A page to list: the first `limit` animals with `status` and an identifier greater than `after`, by
/// ascending identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PetsQuery {
    /// Only animals with this status; `None` for all. An animal without a status matches no status.
    pub status: Option<PetStatus>,
    /// The last identifier of the previous page; `None` for the first page.
    pub after: Option<i64>,
    /// The maximum number of animals, 1 to [`Pets::MAX_ITEMS`].
    pub limit: u32,
}

impl PetsQuery {
    /// Rejects a limit of 0 and one above the maximum.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if (1..=Pets::MAX_ITEMS).contains(&self.limit) {
            Ok(())
        } else {
            Err(StoreError::Invalid(format!(
                "the limit of a page is {}; expected 1 to {}",
                self.limit,
                Pets::MAX_ITEMS
            )))
        }
    }
}

/// A page of animals.
#[derive(Clone, Debug, PartialEq)]
pub struct PetsFound {
    /// The animals by ascending identifier.
    pub pets: Vec<Pet>,
    /// Whether more animals match after the last of `pets`.
    pub more: bool,
}

/// What is stored of an API key. The secret is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The public identifier, which may be logged.
    pub id: String,
    /// The name, not necessarily unique.
    pub name: String,
    /// The SHA-256 of the secret.
    pub hash: [u8; 32],
    /// When the key was created. Times are stored in whole seconds.
    pub created: Timestamp,
    /// When the key expires; `None` for never.
    pub expires: Option<Timestamp>,
    /// When the key was revoked, if it was.
    pub revoked: Option<Timestamp>,
    /// Who made the key, or what it is for.
    pub note: Option<String>,
    /// The start of the hour in which the key was last used, if it was.
    pub last_used: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key is neither revoked nor expired at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}
