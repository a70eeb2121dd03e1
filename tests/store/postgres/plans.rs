//! Query plans: each read uses one index, and is not planned for each request.

use animal_store::schemas::PetStatus;
use animal_store::storage::PetsQuery;
use tokio_postgres::Client;

use super::Postgres;
use crate::conformance::{Engine as _, key, new_pet};

/// Returns a statement from the source code, because `pg_prepared_statements` shows only the statements of the same
/// connection.
fn statement(name: &str) -> String {
    let source = include_str!("../../../src/storage/postgres/animals.rs");
    let (_, rest) = source.split_once(&format!("const {name}: &str = \"")).unwrap();
    rest.split_once("\";").unwrap().0.replace("\\\n", " ")
}

/// Executes a prepared statement and returns its plan.
async fn explain(client: &Client, execute: &str) -> String {
    let sql = format!("EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off) EXECUTE {execute}");
    let plan: Vec<String> = client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    plan.join("\n")
}

/// Finds the statements in the source code, so that a new one needs no line here.
#[tokio::test]
async fn every_statement_that_reads_or_changes_animals_is_bounded_by_an_index() {
    let Some(database) = Postgres::try_fresh().await else { return };
    database.open().await.close().await;
    let client = database.client().await;
    let settings = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; \
         SET plan_cache_mode = force_generic_plan";
    client.batch_execute(settings).await.unwrap();
    let source = include_str!("../../../src/storage/postgres/animals.rs");
    let constants =
        source.split("const ").filter_map(|part| part.split_once(": &str = \"")).map(|(it, _)| it);
    let mut tested = Vec::new();
    for name in constants {
        let text = statement(name);
        if !["SELECT", "UPDATE", "DELETE"].iter().any(|verb| text.starts_with(verb)) {
            continue;
        }
        client.batch_execute(&format!("PREPARE {name} AS {text}")).await.unwrap();
        let count = (1..).take_while(|number| text.contains(&format!("${number}"))).count();
        let nulls = vec!["NULL"; count].join(", ");
        let execute = if nulls.is_empty() { name.to_owned() } else { format!("{name} ({nulls})") };
        let rows = client.query(&format!("EXPLAIN EXECUTE {execute}"), &[]).await.unwrap();
        let plan: String = rows.iter().map(|row| row.get::<_, String>(0) + "\n").collect();
        let is_bounded = ["Index Cond", "Limit"].iter().any(|it| plan.contains(it)) || !plan.contains("Scan");
        let is_direct = !["Seq Scan", "Sort", "Filter"].iter().any(|it| plan.contains(it));
        assert!(is_bounded && is_direct, "{name} may read a whole table:\n{plan}");
        tested.push(name);
    }
    assert!(["GET", "PAGE", "PAGE_OF_STATUS", "FIND"].iter().all(|name| tested.contains(name)), "{tested:?}");
}

#[tokio::test]
async fn reads_use_their_index_whatever_the_statistics() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.open().await;
    let client = database.client().await;
    // The settings of the store's reading connections.
    client
        .batch_execute(
            "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET jit = off",
        )
        .await
        .unwrap();
    client.batch_execute("ALTER TABLE animal SET (autovacuum_enabled = off)").await.unwrap();
    for (name, constant) in [("get", "GET"), ("page", "PAGE"), ("page_of_status", "PAGE_OF_STATUS")] {
        client.batch_execute(&format!("PREPARE {name} AS {}", statement(constant))).await.unwrap();
    }
    let fill = "INSERT INTO animal SELECT n, 'x', 1, CASE WHEN n % 10000 = 0 THEN 'pending' ELSE 'sold' END \
         FROM generate_series((SELECT count(*) + 1 FROM animal), (SELECT count(*) + 50000 FROM animal)) AS n";
    // Not analysed and empty; not analysed and filled; analysed; analysed while all animals had the rare status.
    let stages = [
        "SELECT 1",
        fill,
        "ANALYZE animal",
        "TRUNCATE animal; INSERT INTO animal SELECT n, 'x', 1, 'pending' FROM generate_series(1, 50000) AS n; \
         ANALYZE animal; TRUNCATE animal",
        fill,
    ];
    let reads = [
        ("get(25000)", "animal_pkey"),
        ("page(-9223372036854775808, 21)", "animal_pkey"),
        ("page(49000, 101)", "animal_pkey"),
        ("page(100000, 21)", "animal_pkey"),
        ("page_of_status(1, 21, 'pending')", "animal_by_status"),
        ("page_of_status(49000, 101, 'sold')", "animal_by_status"),
        ("page_of_status(1, 21, 'available')", "animal_by_status"),
    ];
    for stage in stages {
        client.batch_execute(stage).await.unwrap();
        for mode in ["force_generic_plan", "force_custom_plan"] {
            client.batch_execute(&format!("SET plan_cache_mode = {mode}")).await.unwrap();
            for (execute, index) in reads {
                let plan = explain(&client, execute).await;
                assert!(plan.contains(&format!("Index Scan using {index}")), "{stage}, {mode}:\n{plan}");
                assert!(!plan.contains("Filter") && !plan.contains("Sort"), "{stage}, {mode}:\n{plan}");
            }
        }
    }
    let query = PetsQuery { status: Some(PetStatus::Pending), after: None, limit: 100 };
    let ids: Vec<i64> = store.pets(query).await.unwrap().pets.iter().map(|pet| pet.id).collect();
    assert_eq!(ids, [10_000, 20_000, 30_000, 40_000, 50_000]);
}

#[tokio::test]
async fn idempotency_keys_are_found_and_removed_by_an_index_whatever_the_statistics() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let _store = database.open().await;
    let client = database.client().await;
    // The settings of the store's writing connections.
    let settings = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off;
        ALTER TABLE animal SET (autovacuum_enabled = off);
        ALTER TABLE idempotency_key SET (autovacuum_enabled = off)";
    client.batch_execute(settings).await.unwrap();
    for (name, constant) in [("find", "FIND"), ("remove", "REMOVE")] {
        client.batch_execute(&format!("PREPARE {name} AS {}", statement(constant))).await.unwrap();
    }
    let fill = "INSERT INTO animal SELECT n, 'x', 1, NULL FROM generate_series(1, 20000) AS n;
        INSERT INTO idempotency_key (client, value, added, fingerprint, response)
            SELECT 'key1', n, n, sha256(''), '{}' FROM generate_series(1, 20000) AS n";
    let keys = "find(ARRAY['key1', 'key1', 'key2'], ARRAY['700', '90000', '700'])";
    for stage in ["SELECT 1", fill, "ANALYZE animal; ANALYZE idempotency_key"] {
        client.batch_execute(stage).await.unwrap();
        for mode in ["force_generic_plan", "force_custom_plan"] {
            client.batch_execute(&format!("SET plan_cache_mode = {mode}")).await.unwrap();
            for (execute, table) in
                [(keys, "idempotency_key_pkey"), ("remove(0, 256)", "idempotency_key_by_age")]
            {
                let plan = explain(&client, execute).await;
                assert!(plan.contains(table) && !plan.contains("Seq Scan"), "{stage}, {mode}:\n{plan}");
            }
        }
    }
    let found = client.query(&format!("EXECUTE {keys}"), &[]).await.unwrap();
    let found: Vec<(String, String)> = found.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(found, [("key1".to_owned(), "700".to_owned())]);
    for expected in [256, 44, 0] {
        assert_eq!(client.execute("EXECUTE remove(301, 256)", &[]).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn reads_are_not_planned_for_each_request() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.open().await;
    let pet = store.add_pet(new_pet("x", 1, Some(PetStatus::Sold))).await.unwrap();
    // An animal whose name is the number of custom plans that the reading connection has made.
    let rename = "ALTER TABLE animal RENAME TO stored;
        CREATE VIEW animal AS SELECT id, category, status,
            (SELECT sum(custom_plans)::text FROM pg_prepared_statements) AS name FROM stored";
    database.client().await.batch_execute(rename).await.unwrap();
    for _ in 0..20 {
        store.key_by_hash(&key(1).hash).await.unwrap();
        let found = store.pet(pet.id).await.unwrap().unwrap();
        assert_eq!(found.name.as_str(), "0");
        for status in [None, pet.status] {
            let query = PetsQuery { status, after: None, limit: 100 };
            assert_eq!(store.pets(query).await.unwrap().pets, std::slice::from_ref(&found));
        }
    }
}
