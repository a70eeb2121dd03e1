//! One test for each promise of `Store`, written against the trait.

use std::sync::Arc;

use animal_store::schemas::{NewPet, Pet, PetName, PetStatus};
use animal_store::storage::{KeyRecord, Store};
use jiff::Timestamp;

pub(crate) mod animals;
pub(crate) mod keys;
pub(crate) mod life;
pub(crate) mod pages;

/// What an engine gives to the battery: a place that holds one store, and is removed when dropped.
pub(crate) trait Engine: Sync {
    /// A place of its own, with nothing stored.
    fn fresh() -> Self;

    /// Opens the store at this place. Opened twice, the handles share nothing but the place, as two
    /// processes would.
    fn open(&self) -> Arc<dyn Store>;
}

/// Makes one test of each promise for an engine.
macro_rules! battery {
    ($engine:ty) => {
        $crate::battery::battery! { $engine;
            animals {
                an_animal_comes_back_exactly_as_it_was_given
                an_animal_that_is_not_there_is_none
                identifiers_ascend
                identifiers_are_unique_among_64_writers
                identifiers_are_unique_among_two_handles
            }
            pages {
                every_page_is_what_a_model_says
                pages_hold_each_animal_once_while_others_add
                the_last_page_says_so_exactly_at_the_end
                an_animal_without_a_status_matches_none
                a_page_may_begin_anywhere
                a_page_without_bounds_is_refused
            }
            keys {
                a_key_comes_back_as_it_was_given
                a_key_that_is_not_there_is_none
                keys_are_listed_oldest_first
                a_key_must_have_a_new_identifier_and_a_new_hash
                a_refused_key_does_not_fail_its_neighbours
                revoking_keeps_the_first_date
                rotating_stores_the_new_key_and_expires_the_old_one
                rotating_keeps_an_earlier_expiry
                rotating_what_is_gone_changes_nothing
                rotating_to_a_key_that_exists_changes_nothing
            }
            life {
                what_was_acknowledged_is_there_after_reopening
                what_was_acknowledged_is_there_without_closing
                another_handle_sees_writes_at_once
                the_secret_is_one_for_all_who_open
                two_stores_have_different_secrets
                many_may_open_a_fresh_store_at_once
                closing_finishes_what_was_accepted
                a_closed_store_is_unavailable
                closing_twice_is_harmless
                dropped_futures_leave_the_store_usable
            }
        }
    };
    ($engine:ty; $($concern:ident { $($promise:ident)+ })+) => {
        $(mod $concern {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    $crate::battery::$concern::$promise(<$engine as $crate::battery::Engine>::fresh())
                        .await;
                }
            )+
        })+
    };
}
pub(crate) use battery;

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
