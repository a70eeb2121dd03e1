//! What an older database contains beside animals and API keys, after its migration.

use animal_store::storage::{AddedOnce, IdempotencyKey, Store};

use super::Sqlite;
use super::opening::older;
use crate::conformance::{Engine as _, idempotency_key, new_pet, second};

const NOW: i64 = 1_800_000_000;

async fn add(store: &Store, name: &str, key: IdempotencyKey, at: i64) -> AddedOnce {
    store.add_pet_once(new_pet(name, 7, None), key, second(at)).await.unwrap()
}

#[tokio::test]
async fn idempotency_keys_of_an_older_release_are_found() {
    let database: Sqlite = older(6).await;
    let connection = database.connection();
    connection
        .execute_batch(
            "INSERT INTO secret (only, bytes) VALUES (1, randomblob(32));
             INSERT INTO animal (id, name, category_id) VALUES (10, 'Rex', 7), (11, 'Mia', 7), (12, 'Ada', 7)",
        )
        .unwrap();
    let other_client = IdempotencyKey { client: "key2".to_owned(), value: "a".to_owned() };
    let keys = [(10, idempotency_key("a")), (11, idempotency_key("b")), (12, other_client)];
    for (animal, IdempotencyKey { client, value }) in &keys {
        let insert = "INSERT INTO idempotency_key (animal_id, client, value, added) VALUES (?1, ?2, ?3, ?4)";
        // Keys are added later by one second each.
        connection.execute(insert, (animal, client, value, NOW + animal - 10)).unwrap();
    }
    drop(connection);

    let store = database.open().await;
    for ((id, key), name) in keys.iter().zip(["Rex", "Mia", "Ada"]) {
        let AddedOnce::Before(pet) = add(&store, name, key.clone(), NOW + 60).await else { panic!("{name}") };
        assert_eq!((pet.id, pet.name.as_str()), (*id, name));
        assert_eq!(add(&store, "other", key.clone(), NOW + 60).await, AddedOnce::Differs);
    }
    assert!(matches!(add(&store, "new", idempotency_key("c"), NOW + 60).await, AddedOnce::Now(_)));
    // The times were kept, too: of the three, one has expired.
    let later = NOW + IdempotencyKey::LIFETIME.as_secs();
    assert!(matches!(add(&store, "Mia", keys[1].1.clone(), later).await, AddedOnce::Before(_)));
    assert!(matches!(add(&store, "Rex", keys[0].1.clone(), later).await, AddedOnce::Now(_)));
    store.close().await;

    let connection = database.connection();
    let mut kept =
        connection.prepare("SELECT 1 FROM idempotency_key WHERE animal_id = ?1 AND value = ?2").unwrap();
    assert!(keys[1..].iter().all(|(id, key)| kept.exists((id, &key.value)).unwrap()));
}
