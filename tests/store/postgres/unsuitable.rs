//! Databases that look like one of this program and cannot be used, or not as they are.

use animal_store::storage::{StoreOptions, open};

use super::opening::rejected;
use super::{Postgres, options};
use crate::conformance::{Engine as _, add};
use kit::postgres::shared;

fn in_schema(schema: &str) -> StoreOptions {
    let mut options = options();
    options.postgres.schema = Some(schema.to_owned());
    options
}

#[tokio::test]
async fn a_change_of_search_path_makes_no_second_store() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let store = database.open().await;
    let pet = add(&store, "kept").await;
    let client = database.client().await;
    let name: String = client.query_one("SELECT current_database()::text", &[]).await.unwrap().get(0);
    let change = format!("CREATE SCHEMA other; ALTER DATABASE {name} SET search_path = other, public");
    client.batch_execute(&change).await.unwrap();
    // Connections that are opened later use the same tables.
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store'";
    client.query_one(end, &[]).await.unwrap();
    assert_eq!(store.pet(pet.id).await.unwrap().as_ref(), Some(&pet));

    rejected(&database.url(), &["in the schema public, but", "set postgres.schema"]).await;
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'other'::regnamespace";
    assert_eq!(client.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);
    let again = database.with(&in_schema("public")).await;
    assert_eq!(again.pet(pet.id).await.unwrap(), Some(pet));
    // A second store that the setting names is meant.
    assert_eq!(add(&*database.with(&in_schema("other")).await, "first").await.id, 1);
    let missing = open(&database.url(), &in_schema("no such")).await.err().unwrap().to_string();
    assert!(missing.contains(r#"CREATE SCHEMA "no such""#), "{missing}");
}

#[tokio::test]
async fn a_schema_with_an_unusual_name_can_be_used() {
    let Some(database) = Postgres::try_fresh().await else { return };
    database.client().await.batch_execute(r#"CREATE SCHEMA "o'n""e""#).await.unwrap();
    let store = database.with(&in_schema(r#"o'n"e"#)).await;
    let pet = add(&store, "x").await;
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
}

#[tokio::test]
async fn what_differs_from_the_tables_of_this_program_is_named() {
    for (change, texts) in [
        (
            "ALTER TABLE idempotency_key RENAME TO theirs; CREATE VIEW idempotency_key AS SELECT * FROM theirs",
            &["something else in place of a table: idempotency_key"][..],
        ),
        (
            "DROP TABLE idempotency_key; CREATE EXTENSION IF NOT EXISTS file_fdw; \
             CREATE SERVER files FOREIGN DATA WRAPPER file_fdw; \
             CREATE FOREIGN TABLE idempotency_key (animal_id bigint, client text, value text, added bigint) \
             SERVER files OPTIONS (filename '/dev/null')",
            &["something else in place of a table: idempotency_key"],
        ),
        (
            "ALTER TABLE api_key ALTER note TYPE varchar(20); ALTER TABLE animal DROP COLUMN category",
            &["lacks columns", "animal.category of type bigint", "api_key.note of type text"],
        ),
        ("ALTER SEQUENCE animal_id CACHE 10", &["ALTER SEQUENCE animal_id INCREMENT 1 CACHE 1 NO CYCLE"]),
        (
            "INSERT INTO animal VALUES (700, 'restored', 1, NULL)",
            &["an animal 700", r#"SELECT setval('"public".animal_id', 700)"#],
        ),
    ] {
        let Some(database) = Postgres::try_fresh().await else { return };
        database.open().await.close().await;
        let client = database.client().await;
        if let Err(error) = client.batch_execute(change).await {
            // Not every server has this extension.
            assert!(change.contains("EXTENSION"), "{error}");
            continue;
        }
        rejected(&database.url(), texts).await;
        if change.starts_with("INSERT") {
            client.query_one(r#"SELECT setval('"public".animal_id', 700)"#, &[]).await.unwrap();
            assert_eq!(add(&*database.open().await, "next").await.id, 701);
        }
    }
}

#[tokio::test]
async fn row_level_security_that_hides_rows_is_rejected() {
    let Some(database) = Postgres::try_fresh().await else { return };
    database.open().await.close().await;
    let client = database.client().await;
    client
        .batch_execute(
            "DO $$ BEGIN CREATE ROLE limited LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
             GRANT ALL ON ALL TABLES IN SCHEMA public TO limited;
             GRANT ALL ON SEQUENCE animal_id TO limited;
             ALTER TABLE api_key ENABLE ROW LEVEL SECURITY",
        )
        .await
        .unwrap();
    let url = database.url().replace("postgres@", "limited@");
    rejected(&url, &["row-level security", "api_key", "DISABLE ROW LEVEL SECURITY", "BYPASSRLS"]).await;
    // The owner sees all rows.
    database.open().await.close().await;

    // If it is switched on later, a read fails instead of finding nothing.
    client.batch_execute("ALTER TABLE api_key DISABLE ROW LEVEL SECURITY").await.unwrap();
    let store = open(&url, &options()).await.unwrap();
    client.batch_execute("ALTER TABLE api_key ENABLE ROW LEVEL SECURITY").await.unwrap();
    store.key_by_hash(&[1; 32]).await.unwrap_err();
    store.close().await;
    client.batch_execute("DROP OWNED BY limited").await.unwrap();
}

#[tokio::test]
async fn a_read_only_database_names_what_makes_it_so() {
    let Some(cluster) = shared() else { return };
    let name = cluster.database("").await;
    let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    cluster.client("postgres").await.batch_execute(&sql).await.unwrap();
    rejected(&cluster.url(&name), &["default_transaction_read_only is on", "switch it off"]).await;
}
