//! API keys: how they look, how they are made, and who calls with one.
//!
//! A key is `ask_`, 32 random base62 characters (190 bits), and 6 more that are the CRC-32 of all before
//! them. Secret scanners find it by that shape and can tell a real one from a lookalike without asking us;
//! we spare the store a lookup for what cannot be a key. Only the SHA-256 is stored: a key has too many
//! random bits to be guessed from it, so a slow hash would buy nothing. The lookup is by that hash, so its
//! timing says nothing about how much of a key was right.

use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use rand::distr::{Alphanumeric, SampleString};
use sha2::{Digest, Sha256};

use crate::http::responses::Refusal;
use crate::storage::{KeyRecord, Store, StoreError};

/// The security scheme's name in the document (OpenAPI 3.0.3, Security Scheme Object).
pub const SCHEME_NAME: &str = "apiKey";
/// Its type.
pub const SCHEME_TYPE: &str = "http";
/// Its HTTP authentication scheme (RFC 6750), compared without case.
pub const SCHEME: &str = "bearer";

const PREFIX: &str = "ask_";
const RANDOM_CHARACTERS: usize = 32;
const CHECK_CHARACTERS: usize = 6;
/// The fewest random characters that a key may have; we make a few more.
const MIN_RANDOM_CHARACTERS: usize = 30;
/// No key is longer, so nothing longer is hashed.
const MAX_CHARACTERS: usize = 128;

/// The public identifier of a key, which may be logged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(String);

impl KeyId {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A new key: what its owner gets, once, and what is stored.
pub struct NewKey {
    /// The secret.
    pub secret: String,
    /// What is stored of it.
    pub record: KeyRecord,
}

impl NewKey {
    /// Makes a key out of the operating system's randomness.
    pub fn generate(name: &str, created: Timestamp, expires: Option<Timestamp>) -> Self {
        let mut random = rand::rng();
        let mut secret = PREFIX.to_owned() + &Alphanumeric.sample_string(&mut random, RANDOM_CHARACTERS);
        secret += &check_characters(&secret);
        let id = "key_".to_owned() + &Alphanumeric.sample_string(&mut random, 12);
        let record =
            KeyRecord { id, name: name.to_owned(), hash: hash(&secret), created, expires, revoked: None };
        Self { secret, record }
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}

/// CRC-32 of `text` in base62, most significant first, padded with zeros.
fn check_characters(text: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut characters = ['0'; CHECK_CHARACTERS];
    for character in characters.iter_mut().rev() {
        *character = char::from(DIGITS[(rest % 62) as usize]);
        rest /= 62;
    }
    characters.iter().collect()
}

/// Whether `text` has the shape of a key, its check included.
fn is_key(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(PREFIX) else { return false };
    rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && rest.len() >= MIN_RANDOM_CHARACTERS + CHECK_CHARACTERS
        && text.len() <= MAX_CHARACTERS
        && text.ends_with(&check_characters(&text[..text.len() - CHECK_CHARACTERS]))
}

/// Finds out who calls.
///
/// # Errors
/// [`Refusal::Unauthorized`], or what the store's failure comes to.
pub(crate) async fn authenticate(
    headers: &HeaderMap,
    store: &dyn Store,
    now: Timestamp,
) -> Result<KeyId, Refusal> {
    let secret = bearer_token(headers)?;
    let bad = Refusal::Unauthorized { given: true };
    if !is_key(secret) {
        return Err(bad);
    }
    match store.key_for_call(&hash(secret)).await? {
        Some(key) if is_good(&key, now) => Ok(KeyId(key.id)),
        _ => Err(bad),
    }
}

/// Whether a key opens the service at `now`.
pub fn is_good(key: &KeyRecord, now: Timestamp) -> bool {
    key.revoked.is_none() && key.expires.is_none_or(|expires| now < expires)
}

/// The one bearer token (RFC 6750, section 2.1).
fn bearer_token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let none = Refusal::Unauthorized { given: false };
    let value = values.next().ok_or(none.clone())?;
    if values.next().is_some() {
        return Err(Refusal::Unauthorized { given: true });
    }
    let (scheme, token) = value.to_str().ok().and_then(|value| value.split_once(' ')).ok_or(none.clone())?;
    let token = token.trim_matches(' ');
    if !scheme.eq_ignore_ascii_case(SCHEME) || token.is_empty() {
        return Err(none);
    }
    Ok(token)
}

/// What the `key` command does with a store. Every function that makes a key returns it once.
pub mod commands {
    use jiff::SignedDuration;

    use super::{KeyRecord, NewKey, Store, StoreError, Timestamp};

    /// Makes and stores a key that expires `expires_in` from `now`, or never.
    ///
    /// # Errors
    /// What the store says.
    pub async fn create(
        store: &dyn Store,
        name: &str,
        now: Timestamp,
        expires_in: Option<SignedDuration>,
    ) -> Result<NewKey, StoreError> {
        let key = NewKey::generate(name, now, expiry(now, expires_in)?);
        store.add_key(key.record.clone()).await?;
        Ok(key)
    }

    /// Makes a key with the name of the key `id`, which expires `overlap` from `now` at the latest.
    /// `None` when there is no key `id`, or it is not good any more.
    ///
    /// # Errors
    /// What the store says.
    pub async fn rotate(
        store: &dyn Store,
        id: &str,
        now: Timestamp,
        overlap: SignedDuration,
        expires_in: Option<SignedDuration>,
    ) -> Result<Option<NewKey>, StoreError> {
        let Some(old) = find(store, id).await?.filter(|key| super::is_good(key, now)) else {
            return Ok(None);
        };
        let key = NewKey::generate(&old.name, now, expiry(now, expires_in)?);
        let old_expires = expiry(now, Some(overlap))?.unwrap_or(now);
        Ok(store.rotate_key(id, old_expires, key.record.clone()).await?.then_some(key))
    }

    async fn find(store: &dyn Store, id: &str) -> Result<Option<KeyRecord>, StoreError> {
        Ok(store.keys().await?.into_iter().find(|key| key.id == id))
    }

    fn expiry(now: Timestamp, lifetime: Option<SignedDuration>) -> Result<Option<Timestamp>, StoreError> {
        lifetime
            .map(|lifetime| {
                now.checked_add(lifetime)
                    .map_err(|_| StoreError::Broken("the key would expire beyond the year 9999".to_owned()))
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_key_has_the_shape_of_a_key_and_a_mistyped_one_has_not() {
        let key = NewKey::generate("test", Timestamp::UNIX_EPOCH, None).secret;
        assert!(is_key(&key));
        for at in 0..key.len() {
            let mut typo = key.clone().into_bytes();
            typo[at] = if typo[at] == b'x' { b'y' } else { b'x' };
            assert!(!is_key(&String::from_utf8(typo).unwrap()), "a typo at {at} went unnoticed");
        }
        assert!(!is_key(&key[..key.len() - 1]));
        assert!(!is_key(""));
        assert!(!is_key("ask_"));
        assert!(!is_key(&format!("ask_{}", "é".repeat(40))));
    }

    #[test]
    fn the_check_is_the_crc_32_in_base62() {
        // CRC-32 of "123456789" is the algorithm's published check value, 0xCBF43926 = 3421780262.
        assert_eq!(check_characters("123456789"), "3jZRME");
    }

    #[test]
    fn no_two_keys_are_alike() {
        let keys: std::collections::HashSet<_> =
            (0..1000).map(|_| NewKey::generate("test", Timestamp::UNIX_EPOCH, None).secret).collect();
        assert_eq!(keys.len(), 1000);
    }
}
