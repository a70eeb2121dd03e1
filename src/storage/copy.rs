//! Copies a store into an empty one, of the same engine or of another: animals with their identifiers, idempotency keys,
//! and API keys.
//!
//! The copy is all or nothing: until it is complete, the target has a mark with which no command opens it. After an
//! interruption, the target is emptied by [`super::discard_copy`].
//!
//! The source may be in use. Animals are copied up to the highest identifier at the start; they never change. At the end,
//! the target is read through [`Store`], and must have the animals that were read from the source. API keys follow, so that a key that was
//! revoked during the copy is revoked in the target.
//!
//! Idempotency keys are copied, so that a client may repeat a request to the target that it sent to the source.
//!
//! The secret that signs cursors is not copied, so clients must start their pages again.

use async_trait::async_trait;
use aws_lc_rs::digest::{Context, SHA256};
use jiff::Timestamp;
use uuid::Uuid;

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

    /// Marks an empty store as the target of `copy`. Returns `false` and does nothing if the store is not empty.
    async fn begin_copy(&self, copy: Uuid) -> Result<bool, StoreError>;

    /// Atomically stores a chunk of `copy`. Returns `false` and stores nothing if another process discarded the copy.
    async fn import(&self, copy: Uuid, chunk: Chunk) -> Result<bool, StoreError>;

    /// Removes the mark. Returns `false` if another process discarded the copy.
    async fn finish_copy(&self, copy: Uuid) -> Result<bool, StoreError>;
}

/// What a copy stores at once.
#[derive(Clone, Debug)]
pub enum Chunk {
    /// Animals with their identifiers. [`super::Animals::add_pet`] then assigns greater ones.
    Pets(Vec<Pet>),
    /// Idempotency keys.
    IdempotencyKeys(Vec<CopiedKey>),
    /// API keys.
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
    /// The current step.
    pub step: Step,
    /// The last identifier of the step that is done.
    pub id: i64,
    /// The highest identifier at the start.
    pub last: i64,
}

/// The steps of a copy, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    Copying,
    Checking,
}

/// The result of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The number of animals.
    pub pets: u64,
    /// The number of API keys.
    pub keys: usize,
    /// SHA-256 over all animals by ascending identifier.
    pub checksum: [u8; 32],
    /// Whether animals were added to the source during the copy. They were not copied.
    pub source_grew: bool,
}

/// Why a copy failed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source failed.
    #[error("the source: {0}")]
    Source(StoreError),
    /// The target failed.
    #[error("the target: {0}")]
    Target(StoreError),
    /// The target has animals or keys. It is unchanged.
    #[error("the target is not empty; use a new database")]
    NotEmpty,
    /// The stores differ after the copy.
    #[error("the target differs from the source: {0}")]
    Differs(String),
    /// Another process discarded the copy.
    #[error("another process discarded the copy; copy again")]
    Discarded,
}

impl CopyError {
    /// Whether a part of the copy is in the target.
    pub fn left_a_part(&self) -> bool {
        !matches!(self, Self::NotEmpty | Self::Discarded)
    }
}

/// A store that is being filled.
struct Target<'a> {
    store: &'a dyn Transfer,
    copy: Uuid,
}

impl<'a> Target<'a> {
    async fn begin(store: &'a dyn Transfer) -> Result<Self, CopyError> {
        let copy = Uuid::new_v4();
        let began = store.begin_copy(copy).await.map_err(CopyError::Target)?;
        began.then_some(Self { store, copy }).ok_or(CopyError::NotEmpty)
    }

    async fn import(&self, chunk: Chunk) -> Result<(), CopyError> {
        let imported = self.store.import(self.copy, chunk).await.map_err(CopyError::Target)?;
        imported.then_some(()).ok_or(CopyError::Discarded)
    }

    async fn finish(self) -> Result<(), CopyError> {
        let finished = self.store.finish_copy(self.copy).await.map_err(CopyError::Target)?;
        finished.then_some(()).ok_or(CopyError::Discarded)
    }

    /// Returns the error about a difference from the source.
    async fn differs(&self, difference: String) -> CopyError {
        // A discarded copy differs, too.
        match self.import(Chunk::Pets(Vec::new())).await {
            Ok(()) => CopyError::Differs(difference),
            Err(error) => error,
        }
    }
}

/// Copies all animals and keys of `from` to `to`, which must be empty, and compares both.
///
/// # Errors
/// [`CopyError`].
pub async fn copy(
    from: &dyn Transfer,
    to: &dyn Transfer,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Copied, CopyError> {
    let last = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let to = Target::begin(to).await?;
    progress(Progress { step: Step::Copying, id: 0, last });
    let (mut after, mut source) = (None, Digest::default());
    while let Some(pets) = chunk(from, after, last).await.map_err(CopyError::Source)? {
        source.update(&pets);
        after = pets.last().map(|pet| pet.id);
        to.import(Chunk::Pets(pets)).await?;
        progress(Progress { step: Step::Copying, id: after.unwrap_or(0), last });
    }
    let (mut after, mut target) = (None, Digest::default());
    while let Some(pets) = chunk(to.store, after, i64::MAX).await.map_err(CopyError::Target)? {
        target.update(&pets);
        after = pets.last().map(|pet| pet.id);
        progress(Progress { step: Step::Checking, id: after.unwrap_or(0), last });
    }
    let (source, target) = (source.finish(), target.finish());
    if source != target {
        let ((source, _), (target, _)) = (source, target);
        let difference = format!("{target} animals in the target, {source} in the source, or other contents");
        return Err(to.differs(difference).await);
    }
    copy_idempotency_keys(from, &to, last).await?;
    let newest = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let keys = copy_keys(from, &to).await?;
    to.finish().await?;
    let (pets, checksum) = source;
    Ok(Copied { pets, keys, checksum, source_grew: newest > last })
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

/// Copies the idempotency keys of animals up to the identifier `last`.
async fn copy_idempotency_keys(from: &dyn Transfer, to: &Target<'_>, last: i64) -> Result<(), CopyError> {
    let mut after = i64::MIN;
    loop {
        let mut keys = from.idempotency_keys(after, KEY_CHUNK).await.map_err(CopyError::Source)?;
        keys.retain(|key| key.animal_id <= last);
        let Some(highest) = keys.last().map(|key| key.animal_id) else { return Ok(()) };
        to.import(Chunk::IdempotencyKeys(keys.clone())).await?;
        if to.store.idempotency_keys(after, KEY_CHUNK).await.map_err(CopyError::Target)? != keys {
            return Err(to.differs("idempotency keys".to_owned()).await);
        }
        after = highest;
    }
}

/// Copies the API keys. Returns their number.
async fn copy_keys(from: &dyn Transfer, to: &Target<'_>) -> Result<usize, CopyError> {
    let keys = from.keys().await.map_err(CopyError::Source)?;
    to.import(Chunk::Keys(keys.clone())).await?;
    if to.store.keys().await.map_err(CopyError::Target)? != keys {
        return Err(to.differs("API keys".to_owned()).await);
    }
    Ok(keys.len())
}

/// The number of animals and their SHA-256.
struct Digest(u64, Context);

impl Default for Digest {
    fn default() -> Self {
        Self(0, Context::new(&SHA256))
    }
}

impl Digest {
    fn update(&mut self, pets: &[Pet]) {
        let Self(count, sum) = self;
        *count += pets.len() as u64;
        for pet in pets {
            let name = pet.name.as_str();
            sum.update(&pet.id.to_le_bytes());
            sum.update(&pet.category_id.to_le_bytes());
            // The length marks the end of the name.
            sum.update(&(name.len() as u64).to_le_bytes());
            sum.update(name.as_bytes());
            sum.update(&[pet.status.map_or(0, |status| status as u8 + 1)]);
        }
    }

    fn finish(self) -> (u64, [u8; 32]) {
        let mut checksum = [0; 32];
        checksum.copy_from_slice(self.1.finish().as_ref());
        (self.0, checksum)
    }
}
