//! What the tests of every engine share: the trait that an engine implements for them, and sample data.
//!
//! `promises.rs` and the files it names hold one test for each promise of `Store`.

use std::sync::Arc;

use animal_store::schemas::{NewPet, Pet, PetName, PetStatus};
use animal_store::storage::{KeyRecord, Store};
use jiff::Timestamp;

/// A place that holds one store of an engine, and is removed when dropped.
pub(crate) trait Engine: Sized + Sync {
    /// Whether what the engine needs is there. If not, this says so loudly, and nothing is tested.
    fn is_there() -> bool {
        true
    }

    /// A place of its own, with nothing stored.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// Opens the store at this place. Opened twice, the handles share nothing but the place, as two
    /// processes would.
    fn open(&self) -> impl Future<Output = Arc<dyn Store>> + Send;
}

pub(crate) fn new_pet(name: &str, category_id: i64, status: Option<PetStatus>) -> NewPet {
    NewPet { name: PetName::new(name.to_owned()).unwrap(), category_id, status }
}

pub(crate) async fn add(store: &dyn Store, name: &str) -> Pet {
    store.add_pet(new_pet(name, 1, None)).await.unwrap()
}

pub(crate) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A key whose identifier and hash follow from `number`, made at that second.
pub(crate) fn key(number: u8) -> KeyRecord {
    KeyRecord {
        id: format!("key{number}"),
        name: "a key".to_owned(),
        hash: [number; 32],
        created: second(i64::from(number)),
        expires: None,
        revoked: None,
    }
}
