//! What a store takes and returns, and why it fails: in the same words for every engine. Callers and metrics get the type of
//! an error; the log gets the details.

use jiff::{SignedDuration, Timestamp};
use strum::IntoStaticStr;

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
    /// Returns the key in a row of a database. `times` are those of creation, expiry, revocation and the last use, in
    /// seconds. The error describes a value that this program does not store.
    pub(super) fn stored(
        id: String,
        name: String,
        hash: &[u8],
        note: Option<String>,
        times: [Option<i64>; 4],
    ) -> Result<Self, String> {
        let hash = hash.try_into().map_err(|_| "a hash of the wrong length".to_owned())?;
        let time = |seconds: Option<i64>| seconds.map(Timestamp::from_second).transpose();
        let times = times.map(|seconds| time(seconds).map_err(|error| format!("a time of a key: {error}")));
        let [created, expires, revoked, last_used] = times;
        let created = created?.ok_or("a key without a time of creation")?;
        let (expires, revoked, last_used) = (expires?, revoked?, last_used?);
        Ok(Self { id, name, hash, created, expires, revoked, note, last_used })
    }

    /// Whether the key is neither revoked nor expired at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// Why a store failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full. The write did not happen; it is safe to try again.
    #[error("too many writes are waiting")]
    Busy,
    /// The store cannot respond now, for example because of a full disk, a lock of another process or a lost
    /// connection. It is unknown whether a write took effect.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The database is damaged, contains an invalid value or rejected a statement.
    #[error("the store failed: {0}")]
    Broken(String),
    /// The arguments are invalid.
    #[error("{0}")]
    Invalid(String),
}

/// Why a database failed, in the causes upon which an operator acts differently: a message for callers. The name in snake case
/// is the value of the label `error_type` (attribute `error.type` of OpenTelemetry). The log has the code of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum ErrorType {
    /// There is no connection, or it was lost; the file or its disk cannot be used.
    #[error("it cannot be reached")]
    Unreachable,
    /// The database did not respond in time, cancelled the statement, or did not wait for its standby.
    #[error("it did not respond in time")]
    Timeout,
    /// Another process or session holds the lock.
    #[error("another process or session holds its lock")]
    Locked,
    /// The disk, the memory or the number of connections is exhausted.
    #[error("its disk is full, or another resource is exhausted")]
    Full,
    /// The database is read-only.
    #[error("it is read-only")]
    ReadOnly,
    /// Anything else: damage, a value that this program does not store, a missing privilege, a changed table.
    #[error("it is damaged, or rejected a statement")]
    Rejected,
}

impl From<ErrorType> for StoreError {
    fn from(error_type: ErrorType) -> Self {
        let why = error_type.to_string();
        match error_type {
            ErrorType::Rejected => Self::Broken(why),
            _ => Self::Unavailable(why),
        }
    }
}
