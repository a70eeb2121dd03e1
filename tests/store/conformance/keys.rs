//! Storing, finding, revoking and rotating keys.

use animal_store::storage::{KeyRecord, Store, StoreError};
use futures::future::join_all;
use jiff::Timestamp;

use crate::conformance::{Engine, key, second};

on_each_engine! {
    a_key_is_stored_unchanged
    a_missing_key_is_none
    keys_are_listed_oldest_first
    identifiers_and_hashes_of_keys_are_unique
    revoking_keeps_the_first_date
    rotating_stores_the_new_key_and_expires_the_old_one
    rotating_keeps_an_earlier_expiry
    rotating_a_revoked_or_missing_key_changes_nothing
    rotating_to_a_key_that_exists_changes_nothing
    the_hour_of_the_last_use_is_stored
    replicas_store_the_uses_of_the_same_keys_concurrently
}

async fn ids(store: &Store) -> Vec<String> {
    store.keys().await.unwrap().into_iter().map(|key| key.id).collect()
}

async fn expiry(store: &Store, number: u8) -> Option<Timestamp> {
    store.key_by_hash(&key(number).hash).await.unwrap().unwrap().expires
}

async fn a_key_is_stored_unchanged(engine: impl Engine) {
    let store = engine.open().await;
    let all = [
        key(1),
        KeyRecord { name: "Zoé's 🔑\n".to_owned(), expires: Some(second(50)), ..key(2) },
        KeyRecord { expires: Some(second(-50)), revoked: Some(second(0)), ..key(3) },
        KeyRecord { created: second(4), expires: Some(second(253_402_207_200)), ..key(4) },
        KeyRecord { note: Some("team 5, \u{1f511}".to_owned()), last_used: Some(second(7200)), ..key(6) },
    ];
    for key in &all {
        store.add_key(key.clone()).await.unwrap();
        assert_eq!(store.key_by_hash(&key.hash).await.unwrap().as_ref(), Some(key));
    }
    assert_eq!(store.keys().await.unwrap(), all);

    let fraction = Timestamp::new(5, 999_999_999).unwrap();
    store.add_key(KeyRecord { created: fraction, ..key(5) }).await.unwrap();
    assert_eq!(store.key_by_hash(&[5; 32]).await.unwrap(), Some(key(5)), "times are truncated to seconds");
}

async fn a_missing_key_is_none(engine: impl Engine) {
    let store = engine.open().await;
    assert_eq!(store.keys().await.unwrap(), []);
    store.add_key(key(1)).await.unwrap();
    let mut nearly = key(1).hash;
    nearly[31] ^= 1;
    assert_eq!(store.key_by_hash(&nearly).await.unwrap(), None);
    assert!(!store.revoke_key("key2", second(9)).await.unwrap());
    assert!(!store.revoke_key("KEY1", second(9)).await.unwrap());
    assert_eq!(store.keys().await.unwrap(), [key(1)]);
}

async fn keys_are_listed_oldest_first(engine: impl Engine) {
    let store = engine.open().await;
    for number in [5, 3, 9, 1] {
        store.add_key(key(number)).await.unwrap();
    }
    // Created in the same second as a key that was stored before.
    store.add_key(KeyRecord { created: second(3), ..key(2) }).await.unwrap();
    assert_eq!(ids(&store).await, ["key1", "key3", "key2", "key5", "key9"]);
}

async fn identifiers_and_hashes_of_keys_are_unique(engine: impl Engine) {
    let store = engine.open().await;
    store.add_key(key(1)).await.unwrap();
    for twin in [key(1), KeyRecord { hash: [9; 32], ..key(1) }, KeyRecord { id: "other".into(), ..key(1) }] {
        let rejected = store.add_key(twin).await;
        assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
    }
    store.add_key(KeyRecord { id: "other".to_owned(), hash: [9; 32], ..key(1) }).await.unwrap();
    assert_eq!(ids(&store).await, ["key1", "other"], "a name need not be unique");
}

async fn revoking_keeps_the_first_date(engine: impl Engine) {
    let store = engine.open().await;
    store.add_key(key(1)).await.unwrap();
    store.add_key(key(2)).await.unwrap();
    for at in [100, 50, 200] {
        assert!(store.revoke_key("key1", second(at)).await.unwrap());
        let revoked = KeyRecord { revoked: Some(second(100)), ..key(1) };
        assert_eq!(store.keys().await.unwrap(), [revoked, key(2)]);
    }
}

async fn rotating_stores_the_new_key_and_expires_the_old_one(engine: impl Engine) {
    let store = engine.open().await;
    store.add_key(key(1)).await.unwrap();
    assert!(store.rotate_key("key1", second(500), key(2)).await.unwrap());
    let old = KeyRecord { expires: Some(second(500)), ..key(1) };
    assert_eq!(store.keys().await.unwrap(), [old, key(2)]);
}

async fn rotating_keeps_an_earlier_expiry(engine: impl Engine) {
    let store = engine.open().await;
    for (number, expires, expected) in [(10, 499, 499), (20, 500, 500), (30, 501, 500)] {
        store.add_key(KeyRecord { expires: Some(second(expires)), ..key(number) }).await.unwrap();
        assert!(store.rotate_key(&key(number).id, second(500), key(number + 1)).await.unwrap());
        assert_eq!(expiry(&store, number).await, Some(second(expected)));
    }
}

async fn rotating_a_revoked_or_missing_key_changes_nothing(engine: impl Engine) {
    let store = engine.open().await;
    store.add_key(key(1)).await.unwrap();
    store.revoke_key("key1", second(10)).await.unwrap();
    let before = store.keys().await.unwrap();
    assert!(!store.rotate_key("key1", second(500), key(2)).await.unwrap(), "a revoked key was rotated");
    assert!(!store.rotate_key("nobody", second(500), key(2)).await.unwrap(), "a missing key was rotated");
    assert_eq!(store.keys().await.unwrap(), before);
}

async fn rotating_to_a_key_that_exists_changes_nothing(engine: impl Engine) {
    let store = engine.open().await;
    store.add_key(key(1)).await.unwrap();
    store.add_key(key(2)).await.unwrap();
    for twin in [key(2), key(1), KeyRecord { id: "other".to_owned(), ..key(2) }] {
        let rejected = store.rotate_key("key1", second(500), twin).await;
        assert!(matches!(rejected, Err(StoreError::Broken(_))), "{rejected:?}");
        assert_eq!(store.keys().await.unwrap(), [key(1), key(2)]);
    }
}

async fn the_hour_of_the_last_use_is_stored(engine: impl Engine) {
    let store = engine.open().await;
    for number in 1..=3 {
        store.add_key(key(number)).await.unwrap();
    }
    store.note_use(&key(1), second(7199));
    store.note_use(&key(2), second(7200));
    // Unknown: another process may have removed it.
    store.note_use(&key(9), second(7200));
    // Closing finishes the writes.
    store.close().await;
    let store = engine.open().await;
    let used = |at: i64, number: u8| KeyRecord { last_used: Some(second(at)), ..key(number) };
    assert_eq!(store.keys().await.unwrap(), [used(3600, 1), used(7200, 2), key(3)]);
    // The records are of replicas that do not know the last use; the earlier one is not stored.
    store.note_use(&key(2), second(3600));
    store.note_use(&key(1), second(10_800));
    store.close().await;
    let store = engine.open().await;
    assert_eq!(store.keys().await.unwrap(), [used(10_800, 1), used(7200, 2), key(3)]);
}

async fn replicas_store_the_uses_of_the_same_keys_concurrently(engine: impl Engine) {
    let replicas = [engine.open().await, engine.open().await, engine.open().await];
    for number in 0..50 {
        replicas[0].add_key(key(number)).await.unwrap();
    }
    for hour in 1..=5 {
        for (replica, store) in (0..).zip(&replicas) {
            for number in 0..50_u8 {
                let number = if replica % 2 == 0 { number } else { 49 - number };
                store.note_use(&key(number), second(hour * 3600));
            }
        }
    }
    join_all(replicas.iter().map(|store| store.close())).await;
    let store = engine.open().await;
    let keys = store.keys().await.unwrap();
    assert!(keys.iter().all(|key| key.last_used == Some(second(5 * 3600))), "{keys:?}");
}
