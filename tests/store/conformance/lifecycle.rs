//! Opening, closing, several handles, and dropped futures.

use std::sync::Arc;

use animal_store::storage::{PetsQuery, Store, StoreError};
use futures::FutureExt as _;
use futures::future::join_all;
use tokio::runtime::Handle;

use crate::conformance::{Engine, add, key, new_pet, second};

on_each_engine! {
    acknowledged_writes_exist_after_reopening
    acknowledged_writes_exist_without_closing
    another_handle_sees_writes_immediately
    all_handles_have_the_same_secret
    two_stores_have_different_secrets
    a_new_store_may_be_opened_concurrently
    closing_finishes_accepted_writes
    a_closed_store_is_unavailable
    closing_twice_is_allowed
    dropped_futures_leave_the_store_usable
}

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

async fn acknowledged_writes_exist_after_reopening(engine: impl Engine) {
    let store = engine.open().await;
    let pet = add(&store, "durable").await;
    store.add_key(key(1)).await.unwrap();
    store.revoke_key("key1", second(7)).await.unwrap();
    let keys = store.keys().await.unwrap();
    store.close().await;
    let reopened = engine.open().await;
    assert_eq!(reopened.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
    assert_eq!(reopened.keys().await.unwrap(), keys);
    assert!(add(&reopened, "next").await.id > pet.id);
}

async fn acknowledged_writes_exist_without_closing(engine: impl Engine) {
    let store = engine.open().await;
    let pet = add(&store, "durable").await;
    drop(store);
    assert_eq!(engine.open().await.pet(pet.id).await.unwrap(), Some(pet));
}

async fn another_handle_sees_writes_immediately(engine: impl Engine) {
    let (one, two) = (engine.open().await, engine.open().await);
    for (number, (writer, reader)) in (1..).zip([(&one, &two), (&two, &one), (&one, &two)]) {
        let pet = add(writer, "seen").await;
        assert_eq!(reader.pet(pet.id).await.unwrap().as_ref(), Some(&pet));
        assert_eq!(reader.pets(ALL).await.unwrap().pets.last(), Some(&pet));
        writer.add_key(key(number)).await.unwrap();
        assert_eq!(reader.key_by_hash(&key(number).hash).await.unwrap(), Some(key(number)));
        writer.revoke_key(&key(number).id, second(99)).await.unwrap();
        let revoked = reader.key_by_hash(&key(number).hash).await.unwrap().unwrap().revoked;
        assert_eq!(revoked, Some(second(99)));
    }
}

async fn all_handles_have_the_same_secret(engine: impl Engine) {
    let (one, two) = (engine.open().await, engine.open().await);
    assert_ne!(one.secret(), [0; 32]);
    assert_eq!(one.secret(), two.secret());
    one.close().await;
    two.close().await;
    assert_eq!(one.secret(), engine.open().await.secret());
}

async fn two_stores_have_different_secrets<E: Engine>(engine: E) {
    let other = E::fresh().await;
    assert_ne!(engine.open().await.secret(), other.open().await.secret());
}

async fn a_new_store_may_be_opened_concurrently(engine: impl Engine) {
    let runtime = Handle::current();
    let stores: Vec<Arc<Store>> = std::thread::scope(|scope| {
        let open = || runtime.block_on(engine.open());
        let opening: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let ids = join_all(stores.iter().map(|store| add(store, "first"))).await;
    assert_eq!(stores[0].pets(ALL).await.unwrap().pets.len(), ids.len());
    for store in &stores {
        assert_eq!(store.secret(), stores[0].secret());
    }
}

async fn closing_finishes_accepted_writes(engine: impl Engine) {
    let store = engine.open().await;
    let adding = (0..50).map(|_| store.add_pet(new_pet("accepted", 1, None)));
    let mut adding = join_all(adding);
    // A write is accepted when it has been polled once.
    let results = match (&mut adding).now_or_never() {
        Some(results) => results,
        None => tokio::join!(store.close(), adding).1,
    };
    store.close().await;
    let reopened = engine.open().await;
    for result in results {
        let pet = result.unwrap();
        assert_eq!(reopened.pet(pet.id).await.unwrap(), Some(pet));
    }
}

async fn a_closed_store_is_unavailable(engine: impl Engine) {
    let store = engine.open().await;
    add(&store, "before").await;
    store.add_key(key(1)).await.unwrap();
    store.check_ready().await.unwrap();
    store.close().await;
    assert!(store.failed().now_or_never().is_none(), "a closed store did not fail");
    let errors = [
        store.add_pet(new_pet("after", 1, None)).await.unwrap_err(),
        store.pet(1).await.unwrap_err(),
        store.pets(ALL).await.unwrap_err(),
        store.add_key(key(2)).await.unwrap_err(),
        store.keys().await.unwrap_err(),
        store.key_by_hash(&[1; 32]).await.unwrap_err(),
        store.revoke_key("key1", second(1)).await.unwrap_err(),
        store.rotate_key("key1", second(1), key(2)).await.unwrap_err(),
        store.check_ready().await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    let reopened = engine.open().await;
    assert_eq!(reopened.keys().await.unwrap(), [key(1)]);
    assert_eq!(reopened.pets(ALL).await.unwrap().pets.len(), 1);
}

async fn closing_twice_is_allowed(engine: impl Engine) {
    let store = engine.open().await;
    add(&store, "x").await;
    tokio::join!(store.close(), store.close());
    store.close().await;
    assert_eq!(engine.open().await.pets(ALL).await.unwrap().pets.len(), 1);
}

async fn dropped_futures_leave_the_store_usable(engine: impl Engine) {
    let store = engine.open().await;
    let mut acknowledged = 0;
    for number in 0..100 {
        let dropped = store.add_pet(new_pet(&number.to_string(), 1, None)).now_or_never();
        acknowledged += usize::from(dropped.is_some_and(|done| done.is_ok()));
        drop(store.pets(ALL));
        let _ = store.add_key(key(number)).now_or_never();
        if number % 10 == 0 {
            add(&store, "kept").await;
            acknowledged += 1;
        }
    }
    let last = add(&store, "last").await;
    store.close().await;
    let reopened = engine.open().await;
    let mut found = Vec::new();
    let mut query = ALL;
    loop {
        let page = reopened.pets(query).await.unwrap();
        query.after = page.pets.last().map(|pet| pet.id);
        found.extend(page.pets);
        if !page.more {
            break;
        }
    }
    assert!((acknowledged + 1..=111).contains(&found.len()), "{} animals", found.len());
    assert!(found.contains(&last), "{last:?} is missing");
}
