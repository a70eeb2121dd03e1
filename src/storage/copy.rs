//! Copies a store to another engine: animals with their identifiers, idempotency keys, and API keys.
//!
//! Animals are copied in chunks by ascending identifier, and each chunk is stored atomically. So an
//! interrupted copy leaves a prefix, and the next run continues after it. API keys are few and are all copied
//! each time. At the end both stores are read again through [`Store`], and must have the same number of
//! animals and the same checksum.
//!
//! Idempotency keys are copied, so that a client may repeat a request to the target that it sent to the source.
//!
//! An API key that exists in the target is merged: of both, the earlier expiry and the earlier revocation count, so
//! that no copy makes a key valid again. Two keys are the same if identifier and hash are. If only one of them
//! is, nothing is copied.
//!
//! The secret that signs cursors is not copied, so clients must start their pages again.

use async_trait::async_trait;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::store::{IdempotencyKey, KeyRecord, PetsQuery, Store, StoreError};
use crate::schemas::{Pet, Pets};

/// The number of animals in a chunk.
const CHUNK: usize = 1_000;
/// The number of idempotency keys in a chunk.
const KEY_CHUNK: u32 = 1_000;

/// A store that can be copied. The target of a copy must have no other writer.
#[async_trait]
pub trait Transfer: Store {
    /// Returns the animal with the highest identifier.
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError>;

    /// Atomically stores animals with their identifiers, skips those whose identifier exists, and makes
    /// [`super::Animals::add_pet`] assign greater ones.
    async fn import_pets(&self, pets: Vec<Pet>) -> Result<(), StoreError>;

    /// Returns the next `limit` idempotency keys, by ascending identifier of their animals, which is greater than `after`.
    async fn idempotency_keys(&self, after: i64, limit: u32) -> Result<Vec<CopiedKey>, StoreError>;

    /// Atomically stores idempotency keys, and skips those that exist.
    async fn import_idempotency_keys(&self, keys: Vec<CopiedKey>) -> Result<(), StoreError>;

    /// Stores an API key, or merges it into the same key: the earlier expiry, the earlier revocation and the later use
    /// count. Fails with [`StoreError::Broken`] if another key has its `id` or `hash`.
    async fn import_key(&self, key: KeyRecord) -> Result<(), StoreError>;
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
    CheckingSource,
    CheckingTarget,
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
    /// The number of animals that an earlier run had copied.
    pub before: u64,
    /// Whether animals were added to the source during the copy. They were not copied.
    pub source_grew: bool,
}

/// Why a copy failed. Running it again continues it.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source failed.
    #[error("the source: {0}")]
    Source(StoreError),
    /// The target failed.
    #[error("the target: {0}")]
    Target(StoreError),
    /// The target contains animals of another source.
    #[error("the target contains animals that are not in the source; use an empty database")]
    Foreign,
    /// A key of the source and another key of the target have the same identifier or hash.
    #[error("the target has another key with the identifier or the secret of key {0}; use an empty database")]
    KeyConflict(String),
    /// The stores differ after the copy.
    #[error("the target differs from the source: {0}")]
    Differs(String),
}

/// Copies all animals and keys of `from` to `to`, which must be empty or contain an interrupted copy, and
/// compares both.
///
/// # Errors
/// [`CopyError`].
pub async fn copy(
    from: &dyn Transfer,
    to: &dyn Transfer,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Copied, CopyError> {
    let last = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let copied_before = to.last_pet().await.map_err(CopyError::Target)?;
    if let Some(pet) = &copied_before
        && from.pet(pet.id).await.map_err(CopyError::Source)?.as_ref() != Some(pet)
    {
        return Err(CopyError::Foreign);
    }
    check_keys(from, to).await?;
    let mut copied = 0;
    let mut after = copied_before.as_ref().map(|pet| pet.id);
    progress(Progress { step: Step::Copying, id: after.unwrap_or(0), last });
    loop {
        let (pets, more) = chunk(from, after, last).await.map_err(CopyError::Source)?;
        let Some(highest) = pets.last().map(|pet| pet.id) else { break };
        copied += pets.len() as u64;
        to.import_pets(pets).await.map_err(CopyError::Target)?;
        progress(Progress { step: Step::Copying, id: highest, last });
        after = Some(highest);
        if !more {
            break;
        }
    }
    copy_idempotency_keys(from, to, last).await?;
    let keys = copy_keys(from, to).await?;

    let source = digest(from, last, |id| progress(Progress { step: Step::CheckingSource, id, last }))
        .await
        .map_err(CopyError::Source)?;
    let target = digest(to, i64::MAX, |id| progress(Progress { step: Step::CheckingTarget, id, last }))
        .await
        .map_err(CopyError::Target)?;
    if source != target {
        let ((source, _), (target, _)) = (source, target);
        return Err(CopyError::Differs(format!(
            "{target} animals in the target, {source} in the source, or other contents"
        )));
    }
    let newest = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let (pets, checksum) = source;
    Ok(Copied { pets, keys, checksum, before: pets - copied.min(pets), source_grew: newest > last })
}

/// Returns the next animals up to the identifier `last`, and whether there are more.
async fn chunk(
    from: &dyn Transfer,
    mut after: Option<i64>,
    last: i64,
) -> Result<(Vec<Pet>, bool), StoreError> {
    let mut pets = Vec::with_capacity(CHUNK);
    while pets.len() < CHUNK {
        let page = from.pets(PetsQuery { status: None, after, limit: Pets::MAX_ITEMS }).await?;
        let highest = page.pets.last().map(|pet| pet.id);
        pets.extend(page.pets.into_iter().filter(|pet| pet.id <= last));
        if !page.more || highest >= Some(last) {
            return Ok((pets, false));
        }
        after = highest;
    }
    Ok((pets, true))
}

/// Rejects a target with a key that is another one, although its identifier or hash is in the source.
async fn check_keys(from: &dyn Transfer, to: &dyn Transfer) -> Result<(), CopyError> {
    let existing = to.keys().await.map_err(CopyError::Target)?;
    for key in from.keys().await.map_err(CopyError::Source)? {
        if existing.iter().any(|other| (other.id == key.id) != (other.hash == key.hash)) {
            return Err(CopyError::KeyConflict(key.id));
        }
    }
    Ok(())
}

/// Copies the idempotency keys of animals up to the identifier `last`.
async fn copy_idempotency_keys(from: &dyn Transfer, to: &dyn Transfer, last: i64) -> Result<(), CopyError> {
    let mut after = i64::MIN;
    loop {
        let mut keys = from.idempotency_keys(after, KEY_CHUNK).await.map_err(CopyError::Source)?;
        keys.retain(|key| key.animal_id <= last);
        let Some(highest) = keys.last().map(|key| key.animal_id) else { return Ok(()) };
        to.import_idempotency_keys(keys.clone()).await.map_err(CopyError::Target)?;
        let mut copied = to.idempotency_keys(after, KEY_CHUNK).await.map_err(CopyError::Target)?;
        copied.truncate(keys.len());
        if copied != keys {
            return Err(CopyError::Differs("idempotency keys".to_owned()));
        }
        after = highest;
    }
}

async fn copy_keys(from: &dyn Transfer, to: &dyn Transfer) -> Result<usize, CopyError> {
    let keys = from.keys().await.map_err(CopyError::Source)?;
    for key in &keys {
        to.import_key(key.clone()).await.map_err(CopyError::Target)?;
    }
    let copied = to.keys().await.map_err(CopyError::Target)?;
    match keys.iter().find(|key| !copied.iter().any(|copy| is_copy(copy, key))) {
        None => Ok(keys.len()),
        Some(key) => Err(CopyError::Differs(format!("key {}", key.id))),
    }
}

/// Whether `copy` is `key` and is at no time valid when `key` is not.
fn is_copy(copy: &KeyRecord, key: &KeyRecord) -> bool {
    let ends_no_later = |end: Option<Timestamp>, other: Option<Timestamp>| match (end, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(end), Some(other)) => end <= other,
    };
    (&copy.id, &copy.hash) == (&key.id, &key.hash)
        && ends_no_later(copy.expires, key.expires)
        && ends_no_later(copy.revoked, key.revoked)
}

/// Returns the number of animals up to the identifier `last`, and their SHA-256.
async fn digest(
    store: &dyn Transfer,
    last: i64,
    mut progress: impl FnMut(i64) + Send,
) -> Result<(u64, [u8; 32]), StoreError> {
    let (mut count, mut sum, mut after) = (0, Sha256::new(), None);
    loop {
        let (pets, more) = chunk(store, after, last).await?;
        for pet in &pets {
            let name = pet.name.as_str();
            sum.update(pet.id.to_le_bytes());
            sum.update(pet.category_id.to_le_bytes());
            // The length marks the end of the name.
            sum.update((name.len() as u64).to_le_bytes());
            sum.update(name);
            sum.update([pet.status.map_or(0, |status| status as u8 + 1)]);
        }
        count += pets.len() as u64;
        after = pets.last().map(|pet| pet.id).or(after);
        progress(after.unwrap_or(0));
        if !more {
            return Ok((count, sum.finalize().into()));
        }
    }
}
