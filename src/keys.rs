//! API keys: their format, how they are made, and authentication.
//!
//! A key is `ask_`, 32 random base62 characters (190 bits), and 6 characters with the CRC-32 of everything
//! before them. A secret scanner finds keys by this format and verifies them without a request, and malformed
//! keys cost no query. Only the SHA-256 is stored: the key has too many random bits to be guessed, so a slow
//! hash would add nothing. The query is by that hash, so its duration does not depend on the characters of
//! the key.

use std::sync::Arc;

use aws_lc_rs::digest;
use jiff::{SignedDuration, Timestamp};
use rand::distr::{Alphanumeric, SampleString};

use crate::storage::{KeyRecord, Store, StoreError};

const PREFIX: &str = "ask_";
const RANDOM_CHARACTERS: usize = 32;
const CHECKSUM_CHARACTERS: usize = 6;
/// The number of random characters of an identifier.
const ID_CHARACTERS: usize = 12;
/// The maximum that is accepted, so that nothing longer is hashed.
const MAX_CHARACTERS: usize = 128;

/// The public identifier of a key, which may be logged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(pub(crate) Arc<str>);

impl KeyId {
    /// Returns the identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A new key.
pub struct NewKey {
    /// The secret, which the owner receives once.
    pub secret: String,
    /// The stored record.
    pub record: KeyRecord,
}

impl NewKey {
    /// Generates a key from the random numbers of the operating system.
    pub fn generate(name: &str, note: Option<&str>, created: Timestamp, expires: Option<Timestamp>) -> Self {
        let mut random = rand::rng();
        let mut secret = PREFIX.to_owned() + &Alphanumeric.sample_string(&mut random, RANDOM_CHARACTERS);
        secret.extend(checksum(secret.as_bytes()).map(char::from));
        let id = "key_".to_owned() + &Alphanumeric.sample_string(&mut random, ID_CHARACTERS);
        let record = KeyRecord {
            id,
            name: name.to_owned(),
            hash: sha256(&secret),
            created,
            expires,
            revoked: None,
            note: note.map(str::to_owned),
            last_used: None,
        };
        Self { secret, record }
    }
}

/// Returns the CRC-32 of `text` in base62, most significant digit first, padded with zeros.
fn checksum(text: &[u8]) -> [u8; CHECKSUM_CHARACTERS] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(text);
    let mut characters = [b'0'; CHECKSUM_CHARACTERS];
    for character in characters.iter_mut().rev() {
        *character = DIGITS[(rest % 62) as usize];
        rest /= 62;
    }
    characters
}

/// Whether `text` has the prefix and the checksum of a key.
fn is_well_formed(text: &str) -> bool {
    let Some((start, end)) = text.as_bytes().split_last_chunk() else { return false };
    text.starts_with(PREFIX) && text.len() <= MAX_CHARACTERS && *end == checksum(start)
}

/// Returns the SHA-256 of a secret that is well-formed.
pub fn hash(secret: &str) -> Option<[u8; 32]> {
    is_well_formed(secret).then(|| sha256(secret))
}

fn sha256(text: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    hash
}

/// Returns the identifier of the API key whose secret has this SHA-256, if the key is valid at `now`, and
/// notes its use.
///
/// # Errors
/// The error of the store.
pub async fn authenticate(
    store: &Store,
    hash: &[u8; 32],
    now: Timestamp,
) -> Result<Option<KeyId>, StoreError> {
    let key = store.key_for_authentication(hash).await?;
    Ok(key.filter(|key| key.is_valid_at(now)).map(|key| {
        store.note_use(&key, now);
        KeyId(key.id.as_str().into())
    }))
}

/// Why a key was not created, rotated or revoked: one line that says what to do, without a secret.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The expiry cannot be stored.
    #[error("the expiry must be before the year 10000; give a shorter duration")]
    TooLate,
    /// No key has this identifier or this secret.
    #[error("there is no {0}; `animal-store key list` shows all keys, such as key_a1B2c3D4e5F6")]
    Unknown(String),
    /// The key to rotate is revoked or expired.
    #[error(
        "the key {0} is no longer valid, so nothing can replace it; create a key with `animal-store key create`"
    )]
    Invalid(String),
    /// The key to rotate has an expiry that may be the end of the overlap of an earlier rotation.
    #[error(
        "the key {id} expires, and the newer key {newer} has its name and note: rotate that one, or give the lifetime of \
         the new key with --expires-in"
    )]
    Replaced {
        /// The identifier of the key.
        id: String,
        /// The identifier of the newest key with its name and note.
        newer: String,
    },
    /// The database did not keep the revocation.
    #[error(
        "the key {0} is still valid: the database accepted the revocation and did not keep it; check its triggers"
    )]
    NotKept(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates and stores a key that expires `expires_in` after `now`, or never. The secret is not stored.
///
/// # Errors
/// [`KeyError::TooLate`] and [`KeyError::Store`].
pub async fn create(
    store: &Store,
    name: &str,
    note: Option<&str>,
    now: Timestamp,
    expires_in: Option<SignedDuration>,
) -> Result<NewKey, KeyError> {
    let key = NewKey::generate(name, note, now, expiry(now, expires_in)?);
    store.add_key(key.record.clone()).await?;
    Ok(key)
}

/// Creates and stores a key with the name and the note of the key with the identifier or secret `key`, which then expires
/// `overlap` after `now` at the latest. Returns the identifier of the old key, and the new one. Without `expires_in`, the
/// new key has the lifetime of the old one.
///
/// # Errors
/// [`KeyError`].
pub async fn rotate(
    store: &Store,
    key: &str,
    now: Timestamp,
    overlap: SignedDuration,
    expires_in: Option<SignedDuration>,
) -> Result<(String, NewKey), KeyError> {
    let keys = store.keys().await?;
    let old = find(&keys, key)?;
    let newest = keys.iter().rev().find(|key| (&key.name, &key.note) == (&old.name, &old.note));
    let lifetime = match (expires_in, old.expires, newest) {
        // A rotation shortens the expiry of the old key, so its lifetime is no longer known.
        (None, Some(_), Some(newer)) if newer.id != old.id => {
            return Err(KeyError::Replaced { id: old.id.clone(), newer: newer.id.clone() });
        }
        _ => expires_in.or(old.expires.map(|expires| expires.duration_since(old.created))),
    };
    let new = NewKey::generate(&old.name, old.note.as_deref(), now, expiry(now, lifetime)?);
    let old_expires = expiry(now, Some(overlap))?.unwrap_or(now);
    if !old.is_valid_at(now) || !store.rotate_key(&old.id, old_expires, new.record.clone()).await? {
        return Err(KeyError::Invalid(old.id.clone()));
    }
    Ok((old.id.clone(), new))
}

/// Revokes the key with the identifier or secret `key`, unless it was revoked before. Returns its record, and whether
/// this call revoked it.
///
/// # Errors
/// [`KeyError::Unknown`], [`KeyError::NotKept`] and [`KeyError::Store`].
pub async fn revoke(store: &Store, key: &str, now: Timestamp) -> Result<(KeyRecord, bool), KeyError> {
    let keys = store.keys().await?;
    let found = find(&keys, key)?;
    if found.revoked.is_some() {
        return Ok((found.clone(), false));
    }
    store.revoke_key(&found.id, now).await?;
    let kept = store.key_by_hash(&found.hash).await?.filter(|key| key.revoked.is_some());
    Ok((kept.ok_or_else(|| KeyError::NotKept(found.id.clone()))?, true))
}

/// Returns the key with an identifier or a secret.
fn find<'a>(keys: &'a [KeyRecord], text: &str) -> Result<&'a KeyRecord, KeyError> {
    let hash = hash(text);
    // Anything that is not an identifier may be a mistyped secret.
    let is_id = text.starts_with("key_") && text.len() <= "key_".len() + ID_CHARACTERS;
    let shown = if is_id { format!("key {text}") } else { "such key".to_owned() };
    keys.iter().find(|key| key.id == text || hash == Some(key.hash)).ok_or(KeyError::Unknown(shown))
}

fn expiry(now: Timestamp, lifetime: Option<SignedDuration>) -> Result<Option<Timestamp>, KeyError> {
    lifetime.map(|lifetime| now.checked_add(lifetime).map_err(|_| KeyError::TooLate)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_is_well_formed_and_a_mistyped_one_is_not() {
        let key = NewKey::generate("test", None, Timestamp::UNIX_EPOCH, None).secret;
        assert!(is_well_formed(&key));
        for at in 0..key.len() {
            let mut typo = key.clone().into_bytes();
            typo[at] = if typo[at] == b'x' { b'y' } else { b'x' };
            assert!(!is_well_formed(&String::from_utf8(typo).unwrap()), "a typo at {at} was accepted");
        }
        assert!(!is_well_formed(&key[..key.len() - 1]));
        assert!(!is_well_formed(""));
        assert!(!is_well_formed("ask_"));
        assert!(!is_well_formed(&format!("ask_{}", "é".repeat(40))));
    }

    #[test]
    fn the_checksum_is_the_crc_32_in_base62() {
        // CRC-32 of "123456789" is the algorithm's published check value, 0xCBF43926 = 3421780262.
        assert_eq!(checksum(b"123456789"), *b"3jZRME");
    }

    #[test]
    fn keys_are_unique() {
        let keys: std::collections::HashSet<_> =
            (0..1000).map(|_| NewKey::generate("test", None, Timestamp::UNIX_EPOCH, None).secret).collect();
        assert_eq!(keys.len(), 1000);
    }
}
