//! Several replicas of the service on one database.

use std::sync::Arc;
use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, open};
use futures::future::join_all;
use tokio::runtime::Runtime;

use super::load::Load;
use super::{Postgres, options};
use crate::battery::{Engine as _, add, key, second};
use crate::clock::Clock;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_three_may_die_in_the_middle() {
    let Some(place) = Postgres::try_fresh().await else { return };
    // A replica whose tasks end wherever they are, as those of a killed process do.
    let doomed = Runtime::new().unwrap();
    let url = place.url();
    let third = doomed.spawn(async move { open(&url, &options()).await.unwrap() }).await.unwrap();
    let stores = [place.open().await, place.open().await, third];
    let load = Load::start(&stores);
    load.more(1_000).await;
    doomed.shutdown_background();
    load.more(1_000).await;
    let account = load.finish(&*stores[0]).await;
    assert!(account.acknowledged >= 2_000 && account.unavailable > 0, "{account:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_made_or_revoked_on_one_are_known_to_all_at_once() {
    let Some(place) = Postgres::try_fresh().await else { return };
    let stores = [place.open().await, place.open().await, place.open().await];
    for (number, maker) in (1..).zip(&stores) {
        maker.add_key(key(number)).await.unwrap();
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
async fn a_revoked_key_opens_no_replica_for_longer_than_promised() {
    let Some(place) = Postgres::try_fresh().await else { return };
    let clock = Clock::stopped();
    let (here, there) = (place.open().await, place.open().await);
    for number in [1, 2] {
        assert_eq!(here.key_for_authentication(&key(number).hash).await.unwrap(), None);
        here.add_key(key(number)).await.unwrap();
        for store in [&here, &there] {
            assert_eq!(store.key_for_authentication(&key(number).hash).await.unwrap(), Some(key(number)));
        }
    }
    let revoked = async |store: &Arc<dyn Store>, number: u8| {
        store.key_for_authentication(&key(number).hash).await.unwrap().unwrap().revoked
    };
    assert!(here.revoke_key("key1", second(50)).await.unwrap());
    assert_eq!(revoked(&here, 1).await, Some(second(50)), "the handle that revokes knows at once");
    clock.advance(Duration::from_secs(2)).await;
    assert_eq!(revoked(&there, 1).await, Some(second(50)), "after two seconds all know");
    assert_eq!(revoked(&there, 2).await, None, "another key is as good as before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_may_be_followed_across_replicas() {
    let Some(place) = Postgres::try_fresh().await else { return };
    let stores: [Arc<dyn Store>; 3] = [place.open().await, place.open().await, place.open().await];
    let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
    let mut added =
        join_all(names.iter().zip(stores.iter().cycle()).map(|(name, store)| add(&**store, name))).await;
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
