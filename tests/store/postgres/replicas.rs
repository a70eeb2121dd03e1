//! Several replicas of the service on one database.

use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{PetsQuery, Store};
use futures::future::join_all;

use super::Postgres;
use crate::conformance::{Engine as _, add, key, second};
use kit::clock::Clock;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn created_and_revoked_keys_are_visible_to_all_immediately() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let stores = [database.open().await, database.open().await, database.open().await];
    for (number, creator) in (1..).zip(&stores) {
        creator.add_key(key(number)).await.unwrap();
        for store in &stores {
            assert_eq!(store.key_by_hash(&key(number).hash).await.unwrap(), Some(key(number)));
        }
        let revoker = &stores[usize::from(number) % 3];
        assert!(revoker.revoke_key(&key(number).id, second(50)).await.unwrap());
        for store in &stores {
            let found = store.key_by_hash(&key(number).hash).await.unwrap().unwrap();
            assert_eq!(found.revoked, Some(second(50)));
        }
    }
}

#[tokio::test]
async fn a_revoked_key_is_invalid_at_all_replicas_within_two_seconds() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let clock = Clock::stopped();
    let (one, two) = (database.open().await, database.open().await);
    for number in [1, 2] {
        assert_eq!(one.key_for_authentication(&key(number).hash).await.unwrap(), None);
        one.add_key(key(number)).await.unwrap();
        for store in [&one, &two] {
            assert_eq!(
                store.key_for_authentication(&key(number).hash).await.unwrap().as_deref(),
                Some(&key(number))
            );
        }
    }
    let revoked = async |store: &Arc<Store>, number: u8| {
        store.key_for_authentication(&key(number).hash).await.unwrap().unwrap().revoked
    };
    assert!(one.revoke_key("key1", second(50)).await.unwrap());
    assert_eq!(revoked(&one, 1).await, Some(second(50)), "the handle that revoked the key still accepts it");
    clock.advance(Duration::from_secs(2)).await;
    assert_eq!(
        revoked(&two, 1).await,
        Some(second(50)),
        "the other handle accepts the key after two seconds"
    );
    assert_eq!(revoked(&two, 2).await, None, "another key was revoked too");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_may_be_followed_across_replicas() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let stores: [Arc<Store>; 3] = [database.open().await, database.open().await, database.open().await];
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let mut added =
        join_all(names.iter().zip(stores.iter().cycle()).map(|(name, store)| add(store, name))).await;
    added.sort_by_key(|pet| pet.id);
    let mut found = Vec::new();
    for store in stores.iter().cycle() {
        let after = found.last().map(|pet: &animal_store::schemas::Pet| pet.id);
        let page = store.pets(PetsQuery { status: None, after, limit: 7 }).await.unwrap();
        found.extend(page.pets);
        if !page.more {
            break;
        }
    }
    assert_eq!(found, added);
}
