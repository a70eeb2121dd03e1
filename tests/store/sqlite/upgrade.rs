//! What happens to a database of 1.2.0, and to its processes that still run.

use animal_store::storage::{AddedOnce, IdempotencyKey, Store};

use super::Sqlite;
use super::opening::older;
use crate::conformance::{Engine as _, idempotency_key, new_pet};

/// The number of the last migration of 1.2.0.
const RELEASED: usize = 8;

async fn add(store: &Store, name: &str, key: IdempotencyKey) -> AddedOnce {
    store.add_pet_once(new_pet(name, 7, None), key).await.unwrap()
}

#[tokio::test]
async fn idempotency_keys_of_1_2_0_are_found() {
    let database: Sqlite = older(RELEASED).await;
    let other_client = IdempotencyKey { client: "key2".to_owned(), value: "a".to_owned() };
    let keys = [(10, idempotency_key("a")), (11, idempotency_key("b")), (12, other_client)];
    let connection = database.connection();
    let animals = "INSERT INTO secret (only, bytes) VALUES (1, randomblob(32));
         INSERT INTO animal (id, name, category_id) VALUES (10, 'Rex', 7), (11, 'Mia \"\n🦊', 7), (12, 'Ada', 7)";
    connection.execute_batch(animals).unwrap();
    let insert = "INSERT INTO idempotency_key (animal_id, client, value, added, hash) \
         VALUES (?1, ?2, ?3, unixepoch() - 3600, ?1)";
    for (animal, IdempotencyKey { client, value }) in &keys {
        connection.execute(insert, (animal, client, value)).unwrap();
    }
    // Its animal was removed.
    connection.execute(insert, (13, "key1", "gone")).unwrap();
    drop(connection);

    let store = database.open().await;
    for ((id, key), name) in keys.iter().zip(["Rex", "Mia \"\n🦊", "Ada"]) {
        let AddedOnce::Before(pet) = add(&store, name, key.clone()).await else { panic!("{name}") };
        assert_eq!((pet.id, pet.name.as_str(), pet.category_id, pet.status), (*id, name, 7, None));
        assert_eq!(add(&store, "other", key.clone()).await, AddedOnce::Differs);
    }
    assert!(matches!(add(&store, "new", idempotency_key("c")).await, AddedOnce::Now(_)));
    assert!(matches!(add(&store, "again", idempotency_key("gone")).await, AddedOnce::Now(_)));
}

#[tokio::test]
async fn a_process_of_1_2_0_cannot_use_the_database_any_more() {
    let database = older(RELEASED).await;
    let running = database.connection();
    // Its statements on animals.
    let statements = [
        "INSERT INTO animal (name, category_id, status) VALUES ('x', 1, NULL)",
        "SELECT id, name, category_id, status FROM animal WHERE id = 1",
        "SELECT id, name, category_id, status FROM animal WHERE id >= 1 ORDER BY id LIMIT 2",
        "SELECT id, name, category_id, status FROM animal INDEXED BY animal_by_status \
         WHERE status = 'sold' AND id >= 1 ORDER BY id LIMIT 2",
    ];
    let mut prepared = statements.map(|sql| running.prepare(sql).unwrap());
    assert!(prepared.iter_mut().skip(1).all(|statement| statement.exists([]).unwrap()));
    database.open().await.close().await;
    for statement in &mut prepared {
        let error = statement.query([]).and_then(|mut rows| rows.next().map(drop)).unwrap_err();
        assert!(error.to_string().contains("category_id"), "{error}");
    }
    let store = database.open().await;
    assert_eq!(store.pet(1).await.unwrap().unwrap().name.as_str(), "old");
}
