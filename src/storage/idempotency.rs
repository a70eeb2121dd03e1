//! What is stored with an idempotency key: the fingerprint of its request, and the response.

use aws_lc_rs::digest::{SHA256, digest};

use super::types::{AddedOnce, IdempotencyKey};
use crate::schemas::{NewPet, Pet, PetStatus};

/// The key of an addition, with the fingerprint of the request.
#[derive(Clone, Debug)]
pub(super) struct RequestKey {
    pub(super) key: IdempotencyKey,
    pub(super) fingerprint: [u8; 32],
}

impl RequestKey {
    pub(super) fn of_addition(key: IdempotencyKey, new: &NewPet) -> Self {
        let status = new.status.map(PetStatus::as_str);
        Self { key, fingerprint: fingerprint_of_addition(new.category_id, status, new.name.as_str()) }
    }

    /// Returns the result of a request whose key is stored with `fingerprint` and `response`.
    ///
    /// # Errors
    /// The response is not one of an addition.
    pub(super) fn repeated(&self, fingerprint: &[u8], response: &str) -> serde_json::Result<AddedOnce> {
        if fingerprint == self.fingerprint {
            serde_json::from_str(response).map(AddedOnce::Before)
        } else {
            Ok(AddedOnce::Differs)
        }
    }
}

/// Returns the SHA-256 of `createPet`, the category, the status (empty if there is none) and the name, in lines. Only the
/// name, which comes last, may contain a line break, so two requests have the same text only if they are equal. The
/// migrations of both engines compute it, and databases contain it: it never changes.
pub(super) fn fingerprint_of_addition(category_id: i64, status: Option<&str>, name: &str) -> [u8; 32] {
    let text = format!("createPet\n{category_id}\n{}\n{name}", status.unwrap_or_default());
    let mut fingerprint = [0; 32];
    fingerprint.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
    fingerprint
}

/// Returns the text of an animal in a response.
pub(super) fn response(pet: &Pet) -> String {
    // Neither numbers nor texts can fail to serialize.
    serde_json::to_string(pet).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with `printf 'createPet\n7\nsold\nRex' | sha256sum`.
    #[test]
    fn the_fingerprint_of_an_addition_never_changes() {
        let known = "df2325ea99df9eb398c83ffa8130010751ccc0452aa568216c8e058ff21adbff";
        let found =
            fingerprint_of_addition(7, Some("sold"), "Rex").map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(found, known);
    }

    #[test]
    fn requests_that_differ_have_different_fingerprints() {
        let requests = [
            (7, Some("sold"), "Rex"),
            (7, None, "Rex"),
            (7, None, "sold\nRex"),
            (7, Some("sold"), "rex"),
            (-7, Some("sold"), "Rex"),
        ];
        let mut fingerprints =
            requests.map(|(category, status, name)| fingerprint_of_addition(category, status, name));
        fingerprints.sort_unstable();
        assert!(fingerprints.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
