//! Cursors of pages.
//!
//! A cursor contains the last identifier of the previous page and its filter, with a MAC of both: clients cannot forge
//! one, and replicas need no state. It is base64url, and opaque to clients.
//!
//! The MAC is SipHash-2-4 with a result of 128 bits. It keeps out forged input; the content of a cursor is public. A
//! forger who knows many cursors has to find a key of 128 bits, or to send 2^127 guesses. RFC 9018 uses SipHash-2-4 for
//! the same purpose. HMAC-SHA-256, which releases up to 1.1.0 used, takes 6.5k instructions more for a list
//! (`xtask/src/bench/README.md`). Clients keep cursors for polling, so those of earlier releases stay valid. A replica
//! of an earlier release refuses a SipHash, so a store with replicas still issues cursors with HMAC-SHA-256. A later
//! release can change that.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use siphasher::sip128::{Hash128, SipHasher24};

use crate::schemas::PetStatus;

/// The version of cursors with HMAC-SHA-256, truncated to [`MAC_BYTES`].
const HMAC: u8 = 1;
/// The version of cursors with SipHash-2-4-128.
const SIPHASH: u8 = 2;
const MAC_BYTES: usize = 16;
const CONTENT_BYTES: usize = 1 + 1 + 8;
const BYTES: usize = CONTENT_BYTES + MAC_BYTES;

/// Signs and verifies cursors with the secret of the store.
pub(crate) struct Cursors {
    hmac: hmac::Key,
    siphash: SipHasher24,
    /// The version that is issued.
    issued: u8,
}

impl Cursors {
    /// `is_replicated`: whether replicas of an older release must accept the cursors.
    pub(crate) fn new(secret: &[u8; 32], is_replicated: bool) -> Self {
        let hmac = hmac::Key::new(hmac::HMAC_SHA256, secret);
        // Longer than the content of a cursor, so that no cursor of version 1 contains the key.
        let derived = hmac::sign(&hmac, b"cursor, SipHash-2-4-128");
        let mut key = [0; 16];
        key.copy_from_slice(&derived.as_ref()[..16]);
        let issued = if is_replicated { HMAC } else { SIPHASH };
        Self { hmac, siphash: SipHasher24::new_with_key(&key), issued }
    }

    /// Returns the cursor of the page of animals with `status` that starts after the identifier `after`.
    pub(crate) fn sign(&self, after: i64, status: Option<PetStatus>) -> String {
        let mut bytes = [0; BYTES];
        let (content, mac) = bytes.split_at_mut(CONTENT_BYTES);
        content.copy_from_slice(&content_of(self.issued, after, status));
        match self.issued {
            HMAC => mac.copy_from_slice(&hmac::sign(&self.hmac, content).as_ref()[..MAC_BYTES]),
            _ => mac.copy_from_slice(&self.siphash.hash(content).as_bytes()),
        }
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns the identifier after which the page starts; `None` if the cursor is invalid or for another status.
    pub(crate) fn verify(&self, cursor: &str, status: Option<PetStatus>) -> Option<i64> {
        let mut bytes = [0; BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).ok()?;
        let (content, mac) = bytes.split_at(CONTENT_BYTES);
        if length != BYTES || !self.is_signed(content, mac.try_into().ok()?) {
            return None;
        }
        let after = i64::from_be_bytes(content[2..].try_into().ok()?);
        (content == content_of(content[0], after, status)).then_some(after)
    }

    /// Compares in constant time, so that no forger learns a MAC byte by byte.
    fn is_signed(&self, content: &[u8], mac: [u8; MAC_BYTES]) -> bool {
        match content[0] {
            HMAC => {
                let signed = hmac::sign(&self.hmac, content);
                verify_slices_are_equal(&signed.as_ref()[..MAC_BYTES], &mac).is_ok()
            }
            // The comparison of `Hash128` takes constant time.
            SIPHASH => self.siphash.hash(content) == Hash128::from(u128::from_le_bytes(mac)),
            _ => false,
        }
    }
}

fn content_of(version: u8, after: i64, status: Option<PetStatus>) -> [u8; CONTENT_BYTES] {
    let mut content = [0; CONTENT_BYTES];
    content[0] = version;
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
        let cursors = Cursors::new(&[7; 32], false);
        let filters = [None, Some(PetStatus::Available), Some(PetStatus::Pending), Some(PetStatus::Sold)];
        for after in [i64::MIN, -1, 0, 1, 42, i64::MAX] {
            for signed_for in filters {
                let cursor = cursors.sign(after, signed_for);
                for requested in filters {
                    let expected = (signed_for == requested).then_some(after);
                    assert_eq!(cursors.verify(&cursor, requested), expected);
                }
                assert_eq!(Cursors::new(&[8; 32], false).verify(&cursor, signed_for), None);
            }
        }
    }

    /// Computed by another program, with the secret of 32 bytes of value 7.
    #[test]
    fn cursors_of_this_and_of_earlier_releases_are_valid() {
        let cursors = Cursors::new(&[7; 32], false);
        for (hmac, siphash, after, status) in [
            ("AQAAAAAAAAAAKqiSpeLA5ZnWzujPP2UnAu8", "AgAAAAAAAAAAKnEdWOa31MXDCflPRmGDhAw", 42, None),
            (
                "AQMAAAAAAAAAB-8wm3HvfArvAJfy-Mllo70",
                "AgMAAAAAAAAAB2yaV-1saT9N7S3isgFVRFQ",
                7,
                Some(PetStatus::Sold),
            ),
        ] {
            assert_eq!(cursors.sign(after, status), siphash);
            assert_eq!(Cursors::new(&[7; 32], true).sign(after, status), hmac);
            for cursor in [hmac, siphash] {
                assert_eq!(cursors.verify(cursor, status), Some(after));
                assert_eq!(cursors.verify(cursor, Some(PetStatus::Pending)), None);
                assert_eq!(Cursors::new(&[8; 32], false).verify(cursor, status), None);
            }
            // The MAC of one version is invalid in another.
            for (of, other) in [(hmac, "Ag"), (siphash, "AQ"), (hmac, "AA"), (siphash, "Aw")] {
                assert_eq!(cursors.verify(&of.replacen(&of[..2], other, 1), status), None);
            }
        }
    }

    #[test]
    fn a_changed_character_makes_a_cursor_invalid() {
        let cursors = Cursors::new(&[7; 32], false);
        for cursor in [cursors.sign(42, None), "AQAAAAAAAAAAKqiSpeLA5ZnWzujPP2UnAu8".to_owned()] {
            for at in 0..cursor.len() {
                for character in ["A", "B", "_", "é", ""] {
                    let mut forged = cursor.clone();
                    forged.replace_range(at..=at, character);
                    assert_eq!(cursors.verify(&forged, None).is_some(), forged == cursor, "{forged}");
                }
            }
        }
        assert_eq!(cursors.verify("", None), None);
        assert_eq!(cursors.verify(&"A".repeat(10_000), None), None);
    }
}
