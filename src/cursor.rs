//! Cursors of pages.
//!
//! A cursor contains the last identifier of the previous page and its filter, with a MAC of both: clients cannot forge
//! one, and replicas need no state. The MAC is HMAC-SHA-256 (RFC 2104), truncated to 128 bits. A cursor is base64url, and
//! opaque to clients.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::schemas::PetStatus;

/// The first byte of each cursor. Another form of cursors needs another one.
const FORM: u8 = 1;
const CONTENT_BYTES: usize = 1 + 1 + 8;
const MAC_BYTES: usize = 16;
const CURSOR_BYTES: usize = CONTENT_BYTES + MAC_BYTES;

/// Signs and verifies cursors with the secret of the store.
pub struct Cursors(hmac::Key);

impl Cursors {
    /// Creates the cursors of a store with this secret.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns the cursor of the page of animals with `status` that starts after the identifier `after`.
    pub fn sign(&self, after: i64, status: Option<PetStatus>) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.signed(after, status))
    }

    /// Returns the identifier after which the page starts; `None` if the cursor is invalid or for another status.
    pub fn verify(&self, cursor: &str, status: Option<PetStatus>) -> Option<i64> {
        let mut bytes = [0; CURSOR_BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).ok()?;
        let after = i64::from_be_bytes(bytes[2..CONTENT_BYTES].try_into().ok()?);
        // In constant time, so that no client learns a MAC byte by byte.
        let is_equal = verify_slices_are_equal(&self.signed(after, status), &bytes).is_ok();
        (length == CURSOR_BYTES && is_equal).then_some(after)
    }

    /// Returns the content of a cursor and its MAC.
    fn signed(&self, after: i64, status: Option<PetStatus>) -> [u8; CURSOR_BYTES] {
        let mut bytes = [0; CURSOR_BYTES];
        let (content, mac) = bytes.split_at_mut(CONTENT_BYTES);
        content[0] = FORM;
        content[1] = match status {
            None => 0,
            Some(PetStatus::Available) => 1,
            Some(PetStatus::Pending) => 2,
            Some(PetStatus::Sold) => 3,
        };
        content[2..].copy_from_slice(&after.to_be_bytes());
        mac.copy_from_slice(&hmac::sign(&self.0, content).as_ref()[..MAC_BYTES]);
        bytes
    }
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

    /// Computed by another program, with the secret of 32 bytes of value 7.
    #[test]
    fn the_form_of_cursors_stays_the_same() {
        let cursors = Cursors::new(&[7; 32]);
        for (cursor, after, status) in [
            ("AQAAAAAAAAAAKqiSpeLA5ZnWzujPP2UnAu8", 42, None),
            ("AQMAAAAAAAAAB-8wm3HvfArvAJfy-Mllo70", 7, Some(PetStatus::Sold)),
        ] {
            assert_eq!(cursors.sign(after, status), cursor);
            assert_eq!(cursors.verify(cursor, status), Some(after));
        }
        // The form that program 1.2.0 issues with SQLite.
        assert_eq!(cursors.verify("AgAAAAAAAAAAKnEdWOa31MXDCflPRmGDhAw", None), None);
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
