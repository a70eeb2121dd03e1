//! Cursors of pages.
//!
//! A cursor contains the last identifier of the previous page and its filter, with a MAC of both: clients cannot forge
//! one, and replicas need no state. It is base64url, and opaque to clients.
//!
//! The MAC is SipHash-2-4 with a result of 128 bits, which RFC 9018 uses for the same purpose. Program 1.1.0 and older
//! ones know only HMAC-SHA-256:
//!
//! - A store with replicas still issues it, because replicas of 1.1.0 would refuse the other during a rolling upgrade.
//!   1.3.0 issues SipHash there too. Until then a page takes 6k instructions more (`xtask/RECORDS.md`), a tenth
//!   of that on a processor with SHA instructions.
//! - It is accepted until 2.0.0, because clients keep cursors for polling.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use siphasher::sip128::SipHasher24;

use crate::schemas::PetStatus;

/// The version of cursors with HMAC-SHA-256, truncated to [`MAC_BYTES`].
const HMAC: u8 = 1;
/// The version of cursors with SipHash-2-4-128.
const SIPHASH: u8 = 2;
const MAC_BYTES: usize = 16;
const CONTENT_BYTES: usize = 1 + 1 + 8;

/// Signs and verifies cursors with the secret of the store.
pub struct Cursors {
    hmac: hmac::Key,
    siphash: SipHasher24,
    /// The version that is issued.
    issued: u8,
}

impl Cursors {
    /// `is_replicated`: whether replicas of 1.1.0 must accept the cursors.
    pub fn new(secret: &[u8; 32], is_replicated: bool) -> Self {
        let hmac = hmac::Key::new(hmac::HMAC_SHA256, secret);
        // Longer than the content of a cursor, so that no cursor of version 1 contains the key.
        let derived = hmac::sign(&hmac, b"cursor, SipHash-2-4-128");
        let siphash = SipHasher24::new_with_key(&first_16(derived.as_ref()));
        Self { hmac, siphash, issued: if is_replicated { HMAC } else { SIPHASH } }
    }

    /// Returns the cursor of the page of animals with `status` that starts after the identifier `after`.
    pub fn sign(&self, after: i64, status: Option<PetStatus>) -> String {
        let content = content_of(self.issued, after, status);
        let mac = self.mac(&content).unwrap_or_default();
        BASE64_URL_SAFE_NO_PAD.encode([&content[..], &mac].concat())
    }

    /// Returns the identifier after which the page starts; `None` if the cursor is invalid or for another status.
    pub fn verify(&self, cursor: &str, status: Option<PetStatus>) -> Option<i64> {
        let mut bytes = [0; CONTENT_BYTES + MAC_BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).ok()?;
        let (content, mac) = bytes.split_at(CONTENT_BYTES);
        // In constant time, so that no forger learns a MAC byte by byte.
        if length != bytes.len() || verify_slices_are_equal(&self.mac(content)?, mac).is_err() {
            return None;
        }
        let after = i64::from_be_bytes(content[2..].try_into().ok()?);
        (content == content_of(content[0], after, status)).then_some(after)
    }

    /// Returns the MAC of its version; `None` if there is no such version.
    fn mac(&self, content: &[u8]) -> Option<[u8; MAC_BYTES]> {
        match content[0] {
            HMAC => Some(first_16(hmac::sign(&self.hmac, content).as_ref())),
            SIPHASH => Some(self.siphash.hash(content).as_bytes()),
            _ => None,
        }
    }
}

fn first_16(hash: &[u8]) -> [u8; MAC_BYTES] {
    std::array::from_fn(|index| hash[index])
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
