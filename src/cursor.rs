//! Cursors of pages.
//!
//! A cursor contains the last identifier of the previous page and its filter, with an HMAC-SHA-256 of both: clients
//! cannot forge one, and replicas need no state. It is base64url, and opaque to clients.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::schemas::PetStatus;

const VERSION: u8 = 1;
const MAC_BYTES: usize = 16;
const BYTES: usize = 1 + 1 + 8 + MAC_BYTES;

/// Signs and verifies cursors with the secret of the store.
pub(crate) struct Cursors(Hmac<Sha256>);

impl Cursors {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        // HMAC pads the key with zeros to a block of its hash (RFC 2104). A key of that size cannot be invalid.
        let mut key = [0; 64];
        key[..secret.len()].copy_from_slice(secret);
        Self(Hmac::new(&key.into()))
    }

    /// Returns the cursor of the page of animals with `status` that starts after the identifier `after`.
    pub(crate) fn sign(&self, after: i64, status: Option<PetStatus>) -> String {
        let mut bytes = [0; BYTES];
        let (content, mac) = bytes.split_at_mut(BYTES - MAC_BYTES);
        content.copy_from_slice(&content_of(after, status));
        mac.copy_from_slice(&self.mac(content).finalize().into_bytes()[..MAC_BYTES]);
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the identifier after which the page starts; `None` if the cursor is invalid or for another status.
    pub(crate) fn verify(&self, cursor: &str, status: Option<PetStatus>) -> Option<i64> {
        let mut bytes = [0; BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).ok()?;
        let (content, mac) = bytes.split_at(BYTES - MAC_BYTES);
        if length != BYTES || self.mac(content).verify_truncated_left(mac).is_err() {
            return None;
        }
        let after = i64::from_be_bytes(content[2..].try_into().ok()?);
        (content == content_of(after, status)).then_some(after)
    }

    fn mac(&self, content: &[u8]) -> Hmac<Sha256> {
        self.0.clone().chain_update(content)
    }
}

fn content_of(after: i64, status: Option<PetStatus>) -> [u8; BYTES - MAC_BYTES] {
    let mut content = [0; BYTES - MAC_BYTES];
    content[0] = VERSION;
    content[1] = match status {
        None => 0,
        Some(PetStatus::Available) => 1,
        Some(PetStatus::Pending) => 2,
        Some(PetStatus::Sold) => 3,
    };
    content[2..].copy_from_slice(&after.to_be_bytes());
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_valid_for_its_own_filter_only() {
        let cursors = Cursors::new(&[7; 32]);
        let filters = [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];
        for after in [i64::MIN, -1, 0, 1, 42, i64::MAX] {
            for signed_for in filters {
                let cursor = cursors.sign(after, signed_for);
                for requested in filters {
                    let expected = (signed_for == requested).then_some(after);
                    assert_eq!(cursors.verify(&cursor, requested), expected);
                }
                assert_eq!(Cursors::new(&[8; 32]).verify(&cursor, signed_for), None);
            }
        }
    }

    #[test]
    fn a_changed_character_makes_a_cursor_invalid() {
        let cursors = Cursors::new(&[7; 32]);
        let cursor = cursors.sign(42, None);
        for at in 0..cursor.len() {
            for character in ["A", "B", "_", "é", ""] {
                let mut forged = cursor.clone();
                forged.replace_range(at..=at, character);
                assert_eq!(cursors.verify(&forged, None).is_some(), forged == cursor, "{forged}");
            }
        }
        assert_eq!(cursors.verify("", None), None);
        assert_eq!(cursors.verify(&"A".repeat(10_000), None), None);
    }
}
