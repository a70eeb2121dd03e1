//! Adding an animal once, with an idempotency key.

use animal_store::schemas::{Pet, PetStatus};
use animal_store::storage::{AddedOnce, IdempotencyKey, PetsQuery, Store};
use futures::future::join_all;

use crate::conformance::{Engine, add, idempotency_key, new_pet};

on_each_engine! {
    a_key_adds_one_animal
    every_field_of_an_animal_is_compared
    concurrent_additions_with_a_key_add_one_animal
    additions_with_and_without_a_key_can_be_mixed
    a_key_survives_closing_the_store
    a_repeated_addition_returns_the_response_whatever_happened_to_its_animal
    every_animal_is_returned_as_it_was
}

async fn once(store: &Store, name: &str, key: IdempotencyKey) -> AddedOnce {
    store.add_pet_once(new_pet(name, 1, Some(PetStatus::Sold)), key).await.unwrap()
}

fn added(result: AddedOnce) -> Pet {
    match result {
        AddedOnce::Now(pet) => pet,
        other => panic!("{other:?} instead of a new animal"),
    }
}

async fn count(store: &Store) -> usize {
    store.pets(PetsQuery { status: None, after: None, limit: 100 }).await.unwrap().pets.len()
}

async fn a_key_adds_one_animal(engine: impl Engine) {
    let (store, other) = (engine.open().await, engine.open().await);
    let rex = added(once(&store, "Rex", idempotency_key("a")).await);
    assert_eq!(store.pet(rex.id).await.unwrap().as_ref(), Some(&rex));
    for handle in [&store, &other, &store] {
        let again = once(handle, "Rex", idempotency_key("a")).await;
        assert_eq!(again, AddedOnce::Before(rex.clone()));
    }
    assert_eq!(once(&other, "Mia", idempotency_key("a")).await, AddedOnce::Differs);
    assert_eq!(count(&store).await, 1);
    added(once(&store, "Rex", idempotency_key("b")).await);
    let other_client = IdempotencyKey { client: "key2".to_owned(), value: "a".to_owned() };
    added(once(&store, "Rex", other_client).await);
    assert_eq!(count(&store).await, 3);
}

async fn every_field_of_an_animal_is_compared(engine: impl Engine) {
    let store = engine.open().await;
    let add = async |name, category, status| {
        store.add_pet_once(new_pet(name, category, status), idempotency_key("a")).await.unwrap()
    };
    let rex = added(add("Rex", 1, None).await);
    assert_eq!(add("Rex", 1, None).await, AddedOnce::Before(rex));
    assert_eq!(add("rex", 1, None).await, AddedOnce::Differs);
    assert_eq!(add("Rex", 2, None).await, AddedOnce::Differs);
    assert_eq!(add("Rex", 1, Some(PetStatus::Sold)).await, AddedOnce::Differs);
}

async fn concurrent_additions_with_a_key_add_one_animal(engine: impl Engine) {
    let handles = join_all((0..3).map(|_| engine.open())).await;
    // Every key is used by all handles, each in another order, so that their batches meet.
    let adding = (0..240).map(|number: usize| {
        let (store, round) = (&handles[number % 3], number / 3);
        let key = [round, 79 - round, (round * 7) % 80][number % 3] % 20;
        async move { (key, once(store, "Rex", idempotency_key(&key.to_string())).await) }
    });
    let mut animals: [Option<Pet>; 20] = Default::default();
    let mut new = 0;
    for (key, result) in join_all(adding).await {
        new += usize::from(matches!(result, AddedOnce::Now(_)));
        let (AddedOnce::Now(pet) | AddedOnce::Before(pet)) = result else { panic!("{result:?}") };
        assert_eq!(*animals[key].get_or_insert_with(|| pet.clone()), pet);
    }
    assert_eq!((new, count(&handles[0]).await), (20, 20));
}

async fn additions_with_and_without_a_key_can_be_mixed(engine: impl Engine) {
    let store = engine.open().await;
    let adding = (0..40).map(|number| {
        let store = store.clone();
        async move {
            let name = number.to_string();
            match number % 2 {
                0 => add(&store, &name).await,
                _ => added(once(&store, &name, idempotency_key(&name)).await),
            }
        }
    });
    for (number, pet) in join_all(adding).await.into_iter().enumerate() {
        assert_eq!(pet.name.as_str(), number.to_string());
        assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
    }
}

async fn a_key_survives_closing_the_store(engine: impl Engine) {
    let store = engine.open().await;
    let rex = added(once(&store, "Rex", idempotency_key("a")).await);
    store.close().await;
    let store = engine.open().await;
    assert_eq!(once(&store, "Rex", idempotency_key("a")).await, AddedOnce::Before(rex));
}

async fn a_repeated_addition_returns_the_response_whatever_happened_to_its_animal(engine: impl Engine) {
    let store = engine.open().await;
    let rex = added(once(&store, "Rex", idempotency_key("a")).await);
    let mia = added(once(&store, "Mia", idempotency_key("b")).await);
    engine.execute(&format!("DELETE FROM animal WHERE id = {}", rex.id)).await;
    engine
        .execute(&format!("UPDATE animal SET name = 'Ada', status = 'pending' WHERE id = {}", mia.id))
        .await;
    assert_eq!(once(&store, "Rex", idempotency_key("a")).await, AddedOnce::Before(rex));
    assert_eq!(once(&store, "Mia", idempotency_key("b")).await, AddedOnce::Before(mia));
    for (name, key) in [("Ada", "b"), ("other", "a")] {
        assert_eq!(once(&store, name, idempotency_key(key)).await, AddedOnce::Differs);
    }
    assert_eq!(count(&store).await, 1);
}

async fn every_animal_is_returned_as_it_was(engine: impl Engine) {
    let store = engine.open().await;
    let animals = [
        ("\"\\\n\t\u{1}🦊\u{2028}", i64::MIN, None),
        ("é", i64::MAX, Some(PetStatus::Available)),
        ("{}", 0, Some(PetStatus::Pending)),
    ];
    for (number, (name, category, status)) in animals.into_iter().enumerate() {
        let key = idempotency_key(&number.to_string());
        let add = || store.add_pet_once(new_pet(name, category, status), key.clone());
        let pet = added(add().await.unwrap());
        assert_eq!(add().await.unwrap(), AddedOnce::Before(pet));
    }
}
