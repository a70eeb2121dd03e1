//! The promises of every store.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::schemas::{NewPet, Pet, PetStatus, Pets};

/// Why a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full. The write did not happen; it is safe to try again.
    #[error("too many writes are waiting")]
    Busy,
    /// The store cannot respond now, for example because of a full disk, a lock of another process or a lost
    /// connection. It is unknown whether a write took effect.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store contains an invalid value, or the arguments are invalid.
    #[error("the store is broken: {0}")]
    Broken(String),
}

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
    /// An earlier addition of the same animal had the key. Nothing was added.
    Before(Pet),
    /// An earlier addition of a different animal had the key. Nothing was added.
    Differs,
    /// An earlier addition had the key, and its animal was removed since. Nothing was added.
    Removed,
}

impl AddedOnce {
    /// Returns the result of adding `new` with the key with which `added` was added, which is `None` if it was removed.
    pub(super) fn repeated(added: Option<Pet>, new: &NewPet) -> Self {
        let Some(added) = added else { return Self::Removed };
        let Pet { id: _, name, category_id, status } = &added;
        if (name, category_id, status) == (&new.name, &new.category_id, &new.status) {
            Self::Before(added)
        } else {
            Self::Differs
        }
    }
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
            Err(StoreError::Broken(format!("the limit of a page is {}", self.limit)))
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

/// A durable store of animals and API keys.
///
/// Promises of every method. The SQL of an engine is in its `animals.rs` and `keys.rs`.
///
/// - A write that returned `Ok` is on disk and survives a crash of the process and of the machine.
/// - A write that failed with [`StoreError::Busy`] did not happen.
/// - A method whose future is dropped leaves the store usable; a write may or may not take effect.
/// - Several processes may use one store and see each other's acknowledged writes.
/// - The cost of reading animals or finding a key is bounded by the query, whatever the filter, the depth of
///   the page and the size of the store. Only [`Store::keys`] reads everything.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Returns the secret of the store: 32 random bytes, generated once and the same for all processes.
    fn secret(&self) -> [u8; 32];

    /// Whether processes of an older release may use the store during an upgrade, because replicas are replaced one
    /// after the other.
    fn is_replicated(&self) -> bool;

    /// Returns the maximum number of file descriptors that the store has open at the same time, so that connections of
    /// clients leave them free.
    fn descriptors(&self) -> usize;

    /// Checks that the store can be read and written now, without writing an animal or a key.
    ///
    /// # Errors
    /// The error with which a read or a write would fail.
    async fn check_ready(&self) -> Result<(), StoreError> {
        self.pets(PetsQuery { status: None, after: None, limit: 1 }).await.map(drop)
    }

    /// Completes when the store can never write again until the process is restarted, such as after a panic of
    /// the thread that writes. Never completes while the store works, nor after [`Store::close`].
    async fn failed(&self) {
        std::future::pending().await
    }

    /// Finishes the accepted writes and closes the store. Later calls fail with [`StoreError::Unavailable`].
    async fn close(&self);

    /// Stores an animal and returns it with an identifier that no other animal has or had.
    ///
    /// On a store with one writer, an animal that is added after another was acknowledged gets the greater
    /// identifier. Name, category and status are returned unchanged.
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError>;

    /// Stores an animal like [`Store::add_pet`], and the key with it, unless a client added an animal with this
    /// key less than [`IdempotencyKey::LIFETIME`] before `at`. Of concurrent calls with the same key, by any
    /// processes, one stores its animal and the others wait for it. A rejected animal leaves no key.
    async fn add_pet_once(
        &self,
        new: NewPet,
        key: IdempotencyKey,
        at: Timestamp,
    ) -> Result<AddedOnce, StoreError>;

    /// Returns the animal with this identifier.
    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError>;

    /// Returns a page of animals. Pages linked by `after` contain each animal that existed at the start
    /// exactly once, also while animals are added, and the last page has no more. No animal is added before the
    /// last one of a page, so a later page after it contains everything that was added since.
    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError>;

    /// Stores a key. Fails with [`StoreError::Broken`] if its `id` or `hash` exists.
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError>;

    /// Returns all keys, including revoked and expired ones, oldest first.
    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Returns the key with this SHA-256, whether valid or not.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError>;

    /// Returns the same as [`Store::key_by_hash`], but may miss changes that another process made in the last
    /// two seconds. It never misses a change made through this store.
    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<Arc<KeyRecord>>, StoreError>;

    /// Stores that `key` was used at `at`, to the hour: returns at once, and the write happens later, at most once
    /// for each key, hour and store. It may be lost when the write or the process fails. Must be called within
    /// a tokio runtime.
    fn note_use(&self, key: &KeyRecord, at: Timestamp);

    /// Revokes a key at `at`. A key that is already revoked keeps its time. Returns `false` when there is no
    /// such key.
    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Atomically stores `new` and makes the key `old` expire at `old_expires`, unless it expires earlier.
    /// Returns `false` and stores nothing when there is no key `old`, or it is revoked.
    async fn rotate_key(&self, old: &str, old_expires: Timestamp, new: KeyRecord)
    -> Result<bool, StoreError>;
}
