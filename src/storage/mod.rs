//! Where animals and keys are kept: the promises, and the engines that keep them.
//!
//! [`Store`] is written for its readers first: what each method promises is said here once, and
//! `tests/store` holds every engine to it. An engine has no promise of its own to make.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use self::copy::Transfer;
use crate::schemas::{NewPet, Pet, PetStatus, Pets};

pub use metrics::StoreMetrics;

mod cause;
pub mod copy;
mod known_keys;
mod metrics;
pub mod postgres;
pub mod sqlite;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// More writes are waiting than the store takes on. Nothing was done; trying again is safe.
    #[error("too many writes are waiting")]
    Busy,
    /// The store cannot answer just now: a full disk, a lock held by somebody else, a lost
    /// connection. Whether a write took effect is unknown.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The store holds something that it should not, or the program asked for nonsense.
    #[error("the store is broken: {0}")]
    Broken(String),
}

/// Which animals to list: those with `status` if given, with an identifier above `after`, by
/// ascending identifier, `limit` at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PetsQuery {
    /// Only animals with this status; an animal without one matches no status.
    pub status: Option<PetStatus>,
    /// The identifier after which the page begins; `None` begins with the smallest there is.
    pub after: Option<i64>,
    /// The most animals wanted, 1 to [`Pets::MAX_ITEMS`].
    pub limit: u32,
}

impl PetsQuery {
    /// Refuses a limit that would make a page empty or its work unbounded.
    fn check(&self) -> Result<(), StoreError> {
        if (1..=Pets::MAX_ITEMS).contains(&self.limit) {
            Ok(())
        } else {
            Err(StoreError::Broken(format!("a page of {} animals was asked for", self.limit)))
        }
    }
}

/// Some animals, and whether more match.
#[derive(Clone, Debug, PartialEq)]
pub struct PetsFound {
    /// By ascending identifier.
    pub pets: Vec<Pet>,
    /// Whether an animal beyond the last of `pets` matches as well.
    pub more: bool,
}

/// What is stored of an API key. The key itself is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The public identifier, which may be logged.
    pub id: String,
    /// What people call it; need not be unique.
    pub name: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// When it was made. Times are kept to the second.
    pub created: Timestamp,
    /// When it stops being good, if ever.
    pub expires: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key is neither revoked nor expired at `now`.
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// A durable catalogue of animals and of the API keys for it.
///
/// Promises that hold for every method, those of [`Animals`] and [`Keys`] included:
///
/// - What was acknowledged with `Ok` is on disk and survives the death of the process and of the machine.
/// - What was refused with [`StoreError::Busy`] did not happen.
/// - A method whose future is dropped half-way leaves the store usable; a write may or may not take effect.
/// - Several processes may use one store at once and see each other's acknowledged writes.
/// - The work of reading animals, or of finding a key, is bounded by what is asked for, whatever the filter,
///   the depth and the size of the store. Only [`Keys::keys`] reads all there is.
#[async_trait]
pub trait Store: Animals + Keys + Send + Sync + 'static {
    /// A secret of 32 random bytes, made with the store and the same for all who open it.
    fn secret(&self) -> [u8; 32];

    /// Finishes the writes that were accepted and closes the files. Later calls are
    /// [`StoreError::Unavailable`].
    async fn close(&self);
}

/// The animals of a [`Store`]. Each engine implements these in its `animals.rs`.
#[async_trait]
pub trait Animals {
    /// Stores an animal and returns it under an identifier that no other animal has or had.
    ///
    /// An animal added after another one was acknowledged gets the greater identifier on a store with
    /// one writer. Name, category and status come back exactly as they were given.
    async fn add_pet(&self, new: NewPet) -> Result<Pet, StoreError>;

    /// The animal with this identifier, if there is one.
    async fn pet(&self, id: i64) -> Result<Option<Pet>, StoreError>;

    /// A page of animals. Pages chained by `after` hold each animal that was there at the start exactly
    /// once, also while others are added, and the last one says that there is no more.
    async fn pets(&self, query: PetsQuery) -> Result<PetsFound, StoreError>;
}

/// The API keys of a [`Store`]. Each engine implements these in its `keys.rs`.
#[async_trait]
pub trait Keys {
    /// Stores a key. Its `id` and its `hash` must be new, otherwise [`StoreError::Broken`].
    async fn add_key(&self, key: KeyRecord) -> Result<(), StoreError>;

    /// All keys, revoked and expired ones too, oldest first.
    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// The key with this SHA-256, whether still good or not.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError>;

    /// As [`Keys::key_by_hash`], for judging a call: what another process changed less than two seconds ago
    /// may be missing, and what this handle changed is not.
    async fn key_for_authentication(&self, hash: &[u8; 32]) -> Result<Option<KeyRecord>, StoreError> {
        self.key_by_hash(hash).await
    }

    /// Marks a key as revoked at `at`. A key revoked before keeps its first date. `false` when there is
    /// no such key.
    async fn revoke_key(&self, id: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// In one step, stores `new` and lets the key `old` expire at `old_expires` unless it does so
    /// earlier. `false`, and nothing stored, when there is no key `old` that is not revoked.
    async fn rotate_key(&self, old: &str, old_expires: Timestamp, new: KeyRecord)
    -> Result<bool, StoreError>;
}

/// Why a store could not be opened. Says what to do about it, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

/// Opens the store that a `--database` value names: `sqlite:PATH` or `postgres://...`. Must be called within
/// a tokio runtime, which then also runs what the store does by itself.
///
/// # Errors
/// One line that says what to do.
pub async fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, OpenError> {
    let store: Arc<dyn Store> = open_for_copy(url, options).await?;
    Ok(store)
}

/// As [`open`], for [`copy::copy`].
///
/// # Errors
/// One line that says what to do.
pub async fn open_for_copy(url: &str, options: &StoreOptions) -> Result<Arc<dyn Transfer>, OpenError> {
    match url.split_once(':') {
        Some(("sqlite", path)) if !path.is_empty() => {
            Ok(Arc::new(sqlite::SqliteStore::open(path.as_ref(), options)?))
        }
        Some(("postgres" | "postgresql", _)) => {
            Ok(Arc::new(postgres::PostgresStore::open(url, options).await?))
        }
        _ => Err(OpenError(
            "the database must be given as sqlite:PATH, for example sqlite:animals.db, or as \
             postgres://USER:PASSWORD@HOST:PORT/DATABASE"
                .to_owned(),
        )),
    }
}

/// A `--database` value as it may be logged: without a password.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // The last one, because somebody may have forgotten to escape those in the password.
    let (user, rest) = match rest.rsplit_once('@') {
        Some((user, rest)) => (user.split(':').next().unwrap_or_default(), rest),
        None => ("", rest),
    };
    let at = if user.is_empty() { "" } else { "@" };
    // What follows may hold a password as well.
    let place = rest.split('?').next().unwrap_or_default();
    format!("{scheme}://{user}{at}{place}")
}

/// What an operator may set about a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// How many writes may wait before the next one is [`StoreError::Busy`].
    pub write_queue: usize,
    /// How long a write waits for a lock that another process holds.
    pub lock_timeout: std::time::Duration,
    /// Where the store reports what no caller can be told.
    pub log: slog::Logger,
    /// Where it counts.
    pub metrics: StoreMetrics,
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("sqlite:a@b:c?password=x", "sqlite:a@b:c?password=x"),
            ("postgres://u:secret@h:1,i:2/d", "postgres://u@h:1,i:2/d"),
            ("postgres://u@h/d?password=secret&sslmode=require", "postgres://u@h/d"),
            ("postgres://u:secret@secret@h/d", "postgres://u@h/d"),
            ("postgres://u:secret?secret/@h/d", "postgres://u@h/d"),
            ("postgres:///d?host=/tmp&user=u", "postgres:///d"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
