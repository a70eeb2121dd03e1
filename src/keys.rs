//! API keys: their format, how they are made, and authentication.
//!
//! A key is `ask_`, 32 random base62 characters (190 bits), and 6 characters with the CRC-32 of everything
//! before them. A secret scanner finds keys by this format and verifies them without a request, and malformed
//! keys cost no query. Only the SHA-256 is stored: the key has too many random bits to be guessed, so a slow
//! hash would add nothing. The query is by that hash, so its duration does not depend on the characters of
//! the key.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest;
use jiff::{SignedDuration, Timestamp};
use rand::distr::{Alphanumeric, SampleString};

use crate::storage::{KeyRecord, Store, StoreError};

const PREFIX: &str = "ask_";
const RANDOM_CHARACTERS: usize = 32;
const CHECKSUM_CHARACTERS: usize = 6;
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

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
        let id = "key_".to_owned() + &Alphanumeric.sample_string(&mut random, 12);
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

/// Creates and stores a key that expires `expires_in` after `now`, or never. The secret is not stored.
///
/// # Errors
/// The error of the store.
pub async fn create(
    store: &Store,
    name: &str,
    note: Option<&str>,
    now: Timestamp,
    expires_in: Option<SignedDuration>,
) -> Result<NewKey, StoreError> {
    let key = NewKey::generate(name, note, now, expiry(now, expires_in)?);
    store.add_key(key.record.clone()).await?;
    Ok(key)
}

/// Creates and stores a key with the name and the note of the key `id`, which then expires `overlap` after `now` at the
/// latest. Without `expires_in`, the new key has the lifetime of the old one. Returns `None` when there is no valid key
/// `id`.
///
/// # Errors
/// The error of the store.
pub async fn rotate(
    store: &Store,
    id: &str,
    now: Timestamp,
    overlap: SignedDuration,
    expires_in: Option<SignedDuration>,
) -> Result<Option<NewKey>, StoreError> {
    let old = store.keys().await?.into_iter().find(|key| key.id == id && key.is_valid_at(now));
    let Some(old) = old else { return Ok(None) };
    let lifetime = expires_in.or(old.expires.map(|expires| expires.duration_since(old.created)));
    let key = NewKey::generate(&old.name, old.note.as_deref(), now, expiry(now, lifetime)?);
    let old_expires = expiry(now, Some(overlap))?.unwrap_or(now);
    Ok(store.rotate_key(id, old_expires, key.record.clone()).await?.then_some(key))
}

fn expiry(now: Timestamp, lifetime: Option<SignedDuration>) -> Result<Option<Timestamp>, StoreError> {
    let too_late = |_| StoreError::Broken("the key would expire after the year 9999".to_owned());
    lifetime.map(|lifetime| now.checked_add(lifetime).map_err(too_late)).transpose()
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
