//! Moving a store to another engine: animals with their identifiers, and keys.
//!
//! Animals are copied by ascending identifier, a chunk at a time, and each chunk is kept whole or not at
//! all. So what is there after an interruption is a beginning, and the next run goes on behind it. Keys are
//! few and are all copied each time. At the end both stores are read again, through nothing but the
//! promises of [`Store`], and must agree in number and checksum.
//!
//! The secret that signs cursors is not copied: a client in the middle of its pages begins again.

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::{KeyRecord, PetsQuery, Store, StoreError};
use crate::schemas::{Pet, Pets};

/// How many animals are stored at once.
const CHUNK: usize = 1_000;

/// What a store can do beyond [`Store`] to be copied. While something else adds animals to a store, nothing
/// is to be copied into it.
#[async_trait]
pub trait Transfer: Store {
    /// The animal with the highest identifier.
    async fn last_pet(&self) -> Result<Option<Pet>, StoreError>;

    /// Stores animals under the identifiers that they have, all or none, and sees to it that
    /// [`Store::add_pet`] gives greater ones. An animal whose identifier is taken is left out.
    async fn take_pets(&self, pets: Vec<Pet>) -> Result<(), StoreError>;

    /// Stores a key as it is, in place of the one with the same `id` if there is one.
    async fn take_key(&self, key: KeyRecord) -> Result<(), StoreError>;
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub step: Step,
    /// The identifier up to which it is done.
    pub id: i64,
    /// The highest identifier there was at the start.
    pub last: i64,
}

/// What a copy does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    Copying,
    CheckingSource,
    CheckingTarget,
}

/// What both stores hold after a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// How many animals.
    pub pets: u64,
    /// How many keys.
    pub keys: usize,
    /// SHA-256 over all animals by ascending identifier.
    pub checksum: [u8; 32],
    /// How many of the animals were there before, from an earlier run.
    pub before: u64,
    /// Whether the source got more animals meanwhile, which were not copied.
    pub source_grew: bool,
}

/// Why a copy was not made, or not finished. Running it again goes on with it.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The store that is read failed.
    #[error("the source: {0}")]
    Source(StoreError),
    /// The store that is written failed.
    #[error("the target: {0}")]
    Target(StoreError),
    /// The target holds what did not come from the source.
    #[error("the target holds animals that are not from the source; give an empty database")]
    Foreign,
    /// The stores do not agree.
    #[error("the target differs from the source: {0}")]
    Differs(String),
}

/// Copies all animals and keys of `from` to `to`, which must be empty or hold the beginning of an earlier
/// copy, and compares both.
///
/// # Errors
/// [`CopyError`].
pub async fn copy(
    from: &dyn Transfer,
    to: &dyn Transfer,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Copied, CopyError> {
    let last = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let begun = to.last_pet().await.map_err(CopyError::Target)?;
    if let Some(pet) = &begun
        && from.pet(pet.id).await.map_err(CopyError::Source)?.as_ref() != Some(pet)
    {
        return Err(CopyError::Foreign);
    }
    let mut copied = 0;
    let mut after = begun.as_ref().map(|pet| pet.id);
    progress(Progress { step: Step::Copying, id: after.unwrap_or(0), last });
    loop {
        let (pets, more) = chunk(from, after, last).await.map_err(CopyError::Source)?;
        let Some(highest) = pets.last().map(|pet| pet.id) else { break };
        copied += pets.len() as u64;
        to.take_pets(pets).await.map_err(CopyError::Target)?;
        progress(Progress { step: Step::Copying, id: highest, last });
        after = Some(highest);
        if !more {
            break;
        }
    }
    let keys = copy_keys(from, to).await?;

    let source = digest(from, last, |id| progress(Progress { step: Step::CheckingSource, id, last }))
        .await
        .map_err(CopyError::Source)?;
    let target = digest(to, i64::MAX, |id| progress(Progress { step: Step::CheckingTarget, id, last }))
        .await
        .map_err(CopyError::Target)?;
    if source != target {
        let ((source, _), (target, _)) = (source, target);
        return Err(CopyError::Differs(format!("{target} animals and not the same {source}")));
    }
    let newest = from.last_pet().await.map_err(CopyError::Source)?.map_or(0, |pet| pet.id);
    let (pets, checksum) = source;
    Ok(Copied { pets, keys, checksum, before: pets - copied.min(pets), source_grew: newest > last })
}

/// The next animals up to the identifier `last`, and whether there are more.
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

async fn copy_keys(from: &dyn Transfer, to: &dyn Transfer) -> Result<usize, CopyError> {
    let keys = from.keys().await.map_err(CopyError::Source)?;
    for key in &keys {
        to.take_key(key.clone()).await.map_err(CopyError::Target)?;
    }
    let there = to.keys().await.map_err(CopyError::Target)?;
    match keys.iter().find(|key| !there.contains(key)) {
        None => Ok(keys.len()),
        Some(key) => Err(CopyError::Differs(format!("key {}", key.id))),
    }
}

/// How many animals there are up to the identifier `last`, and the SHA-256 over them.
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
            // Nothing that follows can be taken for a part of the name, whose length is said first.
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
