//! Cursors: where the next page begins.
//!
//! A cursor is the last identifier of the page before and the filter it was made for, with an
//! HMAC-SHA-256 over both, so that nobody can make one up and no page depends on state in a replica. It
//! is base64url, and opaque to everybody else.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::schemas::PetStatus;

const VERSION: u8 = 1;
const MAC_BYTES: usize = 16;
const BYTES: usize = 1 + 1 + 8 + MAC_BYTES;

/// Signs and reads cursors with a store's secret.
pub(crate) struct Cursors(Hmac<Sha256>);

impl Cursors {
    pub(crate) fn new(secret: &[u8; 32]) -> Self {
        // HMAC fills a key up to the block of its hash with zeros (RFC 2104); done here, it cannot fail.
        let mut key = [0; 64];
        key[..secret.len()].copy_from_slice(secret);
        Self(Hmac::new(&key.into()))
    }

    /// The cursor of the page that begins after the animal `after`, among those with `status`.
    pub(crate) fn sign(&self, after: i64, status: Option<PetStatus>) -> String {
        let mut bytes = [0; BYTES];
        let (content, mac) = bytes.split_at_mut(BYTES - MAC_BYTES);
        content.copy_from_slice(&content_of(after, status));
        mac.copy_from_slice(&self.mac(content).finalize().into_bytes()[..MAC_BYTES]);
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The identifier after which the page begins, if `cursor` is one that was made for `status`.
    pub(crate) fn read(&self, cursor: &str, status: Option<PetStatus>) -> Option<i64> {
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
    fn a_cursor_is_read_back_for_its_own_filter_only() {
        let cursors = Cursors::new(&[7; 32]);
        let filters = [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];
        for after in [i64::MIN, -1, 0, 1, 42, i64::MAX] {
            for made_for in filters {
                let cursor = cursors.sign(after, made_for);
                for asked_with in filters {
                    let expected = (made_for == asked_with).then_some(after);
                    assert_eq!(cursors.read(&cursor, asked_with), expected);
                }
                assert_eq!(Cursors::new(&[8; 32]).read(&cursor, made_for), None);
            }
        }
    }

    #[test]
    fn no_changed_character_goes_unnoticed() {
        let cursors = Cursors::new(&[7; 32]);
        let cursor = cursors.sign(42, None);
        for at in 0..cursor.len() {
            for character in ["A", "B", "_", "é", ""] {
                let mut forged = cursor.clone();
                forged.replace_range(at..=at, character);
                assert_eq!(cursors.read(&forged, None).is_some(), forged == cursor, "{forged}");
            }
        }
        assert_eq!(cursors.read("", None), None);
        assert_eq!(cursors.read(&"A".repeat(10_000), None), None);
    }
}
