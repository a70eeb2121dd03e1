//! Copies a store into an empty one, of the same engine or of another: animals with their identifiers, idempotency keys,
//! and API keys.
//!
//! The copy is one transaction of the target, so it is all or nothing. Each chunk is read back and compared.
//!
//! The source may be in use. Animals are copied up to the highest identifier at the start; they never change. API keys
//! follow, so that a key that was revoked during the copy is revoked in the target.
//!
//! Idempotency keys are copied, so that a client may repeat a request to the target that it sent to the source.
//!
//! The secret that signs cursors is not copied, so clients must start their pages again.

use async_trait::async_trait;
use jiff::Timestamp;

use super::store::{IdempotencyKey, KeyRecord, PetsQuery, Store, StoreError};
use crate::schemas::{Pet, Pets};

/// The number of animals in a chunk.
const CHUNK: usize = 1_000;
/// The number of idempotency keys in a chunk.
const KEY_CHUNK: u32 = 1_000;

/// A store that can be copied.
#[async_trait]
pub trait Transfer: Store {
    /// Returns the animal with the highest identifier.
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError>;

    /// Returns the next `limit` idempotency keys, by ascending identifier of their animals, which is greater than `after`.
    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError>;

    /// Begins the transaction of a copy, which locks the store for all other writers. Returns `None` if the store is not
    /// empty.
    async fn begin_import(&self) -> Result<Option<Box<dyn Import>>, StoreError>;
}

/// The transaction of a copy. It is rolled back if it is dropped.
#[async_trait]
pub trait Import: Send {
    /// Stores a chunk. Returns whether it is the same when it is read back.
    async fn import(&mut self, chunk: &Chunk) -> Result<bool, StoreError>;

    /// Commits the transaction.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}

/// What a copy stores at once, by ascending identifier.
#[derive(Clone, Debug)]
pub enum Chunk {
    /// Animals with their identifiers. [`Store::add_pet`] then assigns greater ones.
    Pets(Vec<Pet>),
    /// Idempotency keys.
    IdempotencyKeys(Vec<CopiedKey>),
    /// All API keys.
    Keys(Vec<KeyRecord>),
}

/// An idempotency key with the animal that was added with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedKey {
    /// The identifier of the animal.
    pub animal_id: i64,
    /// The key.
    pub key: IdempotencyKey,
    /// When the animal was added, in whole seconds.
    pub added: Timestamp,
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The last identifier that was copied.
    pub id: i64,
    /// The highest identifier at the start.
    pub last: i64,
}

/// The result of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The number of animals.
    pub pets: usize,
    /// The number of API keys.
    pub keys: usize,
    /// Whether animals were added to the source during the copy. They were not copied.
    pub source_grew: bool,
}

/// Why a copy failed. The target is unchanged, unless its COMMIT failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source failed.
    #[error("the source: {0}")]
    Source(StoreError),
    /// The target failed.
    #[error("the target: {0}")]
    Target(StoreError),
    /// The target has animals or keys.
    #[error("the target is not empty; use a new database")]
    NotEmpty,
    /// What was read back from the target differs.
    #[error(
        "the target returns other {0} than were stored; use another database, without triggers on its tables"
    )]
    Differs(&'static str),
}

/// Copies all animals and keys of `from` to `to`, which must be empty.
///
/// # Errors
/// [`CopyError`].
pub async fn copy(
    from: &dyn Transfer,
    to: &dyn Transfer,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Copied, CopyError> {
    let last = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let mut to = to.begin_import().await.map_err(CopyError::Target)?.ok_or(CopyError::NotEmpty)?;
    progress(Progress { id: 0, last });
    let (mut after, mut count) = (None, 0);
    while let Some(pets) = chunk(from, after, last).await.map_err(CopyError::Source)? {
        count += pets.len();
        after = pets.last().map(|pet| pet.id);
        import(&mut *to, Chunk::Pets(pets)).await?;
        progress(Progress { id: after.unwrap_or(0), last });
    }
    let mut after = i64::MIN;
    loop {
        let mut keys = from.idempotency_keys(after, KEY_CHUNK).await.map_err(CopyError::Source)?;
        keys.retain(|key| key.animal_id <= last);
        let Some(highest) = keys.last().map(|key| key.animal_id) else { break };
        import(&mut *to, Chunk::IdempotencyKeys(keys)).await?;
        after = highest;
    }
    let newest = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let keys = from.keys().await.map_err(CopyError::Source)?;
    let copied = Copied { pets: count, keys: keys.len(), source_grew: newest > last };
    import(&mut *to, Chunk::Keys(keys)).await?;
    to.commit().await.map_err(CopyError::Target)?;
    Ok(copied)
}

async fn import(to: &mut dyn Import, chunk: Chunk) -> Result<(), CopyError> {
    if to.import(&chunk).await.map_err(CopyError::Target)? {
        return Ok(());
    }
    Err(CopyError::Differs(match chunk {
        Chunk::Pets(_) => "animals",
        Chunk::IdempotencyKeys(_) => "idempotency keys",
        Chunk::Keys(_) => "API keys",
    }))
}

/// Returns the next animals up to the identifier `last`; `None` if there are none.
async fn chunk(
    from: &dyn Transfer,
    mut after: Option<i64>,
    last: i64,
) -> Result<Option<Vec<Pet>>, StoreError> {
    let mut pets = Vec::with_capacity(CHUNK);
    while pets.len() < CHUNK {
        let page = from.pets(PetsQuery { status: None, after, limit: Pets::MAX_ITEMS }).await?;
        after = page.pets.last().map(|pet| pet.id);
        pets.extend(page.pets.into_iter().filter(|pet| pet.id <= last));
        if !page.more || after >= Some(last) {
            break;
        }
    }
    Ok((!pets.is_empty()).then_some(pets))
}
