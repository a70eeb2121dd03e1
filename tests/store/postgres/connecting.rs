//! Connections: which host they use, and their settings.

use std::net::TcpListener;
use std::time::Duration;

use animal_store::storage::{PetsQuery, Store, StoreError, StoreOptions, open};
use tokio::time::timeout;

use super::failover::pair;
use super::{Postgres, limited, options};
use crate::conformance::{add, new_pet};
use crate::messages::Messages;
use kit::postgres::{Cluster, shared};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };

/// The time limit of each wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Adds an animal, again until that succeeds.
async fn added(store: &Store, name: &str) -> i64 {
    let adding = async {
        loop {
            match store.add_pet(new_pet(name, 1, None)).await {
                Ok(pet) => return pet.id,
                Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
            }
        }
    };
    timeout(TIMEOUT, adding).await.expect("a host accepts writes")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_address_does_not_hide_the_next_one() {
    let Some(cluster) = shared() else { return };
    // Accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, server) = (silent.local_addr().unwrap(), cluster.address());
    let port = server.split_once(':').unwrap().1;
    let options = StoreOptions {
        postgres: animal_store::storage::PostgresOptions {
            connect_timeout: Duration::from_millis(500),
            ..options().postgres
        },
        ..options()
    };
    // A name with two addresses, of which the first is silent, and two hosts.
    for (hosts, parameters) in [
        (format!("store:{},store:{port}", silent.port()), "hostaddr=127.0.0.1,127.0.0.1"),
        (format!("{silent},{server}"), "sslmode=prefer"),
    ] {
        let name = cluster.database("").await;
        let url = format!("postgres://postgres@{hosts}/{name}?{parameters}");
        let opening = async {
            // A busy machine may need longer than the limit for the other one.
            loop {
                if let Ok(store) = open(&url, &options).await {
                    return store;
                }
            }
        };
        let store = timeout(TIMEOUT, opening).await.expect("the second address is used");
        let id = added(&store, "x").await;
        assert_eq!(store.pet(id).await.unwrap().unwrap().id, id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_with_the_url_is_read_for_each_connection() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let client = database.client().await;
    let role = "DO $$ BEGIN CREATE ROLE rotated LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$; \
         ALTER ROLE rotated PASSWORD 'first'; GRANT CREATE ON SCHEMA public TO rotated";
    client.batch_execute(role).await.unwrap();
    let url = |password: &str| database.url().replace("postgres@", &format!("rotated:{password}@"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{}\n", url("first"))).unwrap();
    let mut options = options();
    options.postgres.url_file = Some(file.path().to_owned());
    let store = open(&url("first"), &options).await.unwrap();
    let first = added(&store, "first").await;
    store.pet(first).await.unwrap();

    client.batch_execute("ALTER ROLE rotated PASSWORD 'second'").await.unwrap();
    std::fs::write(file.path(), format!("{}\n", url("second"))).unwrap();
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'rotated'";
    let ended: i64 = client.query_one(end, &[]).await.unwrap().get(0);
    assert!(ended >= 2, "{ended} connections");
    let second = added(&store, "second").await;
    assert_eq!(store.pet(second).await.unwrap().unwrap().id, second);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_to_an_old_primary_are_closed_and_not_opened_again() {
    let Some((primary, standby, url)) = pair().await else { return };
    let url = url.replace("connect_timeout=60", "connect_timeout=2");
    let messages = Messages::default();
    let store = open(&url, &StoreOptions { log: messages.log(), ..limited() }).await.unwrap();
    let before = added(&store, "before").await;
    store.pet(before).await.unwrap();
    let suspended = primary.suspend().await;
    standby.promote();
    let after = added(&store, "after").await;
    drop(suspended);
    for _ in 0..50 {
        match store.pet(after).await {
            Ok(found) => assert!(found.is_some(), "the old primary was read"),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
    // The old primary is the only one left: it is not used.
    standby.kill();
    let message = "the database failed; further errors with this cause are only counted";
    let refused = async {
        while !messages.contain_with(message, "its timeline is 1, but 2 was seen before") {
            // A connection to the host that was killed may still respond.
            if let Ok(page) = store.pets(ALL).await {
                assert!(page.pets.iter().any(|pet| pet.id == after), "the old primary was read");
            }
        }
    };
    timeout(TIMEOUT, refused).await.expect("the old primary is rejected");
    assert!(store.add_pet(new_pet("x", 1, None)).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_primary_that_waits_for_its_standby_in_vain_is_left() {
    let Some((_primary, standby, url)) = pair().await else { return };
    let store = open(&url, &limited()).await.unwrap();
    let before = added(&store, "before").await;
    store.pet(before).await.unwrap();
    // As when the agent of the primary has ended: the server runs on, and accepts connections.
    standby.promote();
    let after = added(&store, "after").await;
    assert!(store.pet(after).await.unwrap().is_some());
}

/// Makes the store's connection for writing record its settings. Returns those with these names.
async fn settings(cluster: &Cluster, database: &str, store: &Store, names: &[&str]) -> Vec<String> {
    let client = cluster.client(database).await;
    let trigger = "CREATE TABLE seen (name text, setting text);
         CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN INSERT INTO seen SELECT name, setting FROM pg_settings; RETURN NULL; END $$;
         CREATE TRIGGER see AFTER INSERT ON animal EXECUTE FUNCTION see()";
    client.batch_execute(trigger).await.unwrap();
    add(store, "seen").await;
    client.batch_execute("DROP TRIGGER see ON animal").await.unwrap();
    let sql = "SELECT name || ' ' || setting FROM seen WHERE name = ANY($1) ORDER BY 1";
    let seen = client.query(sql, &[&names]).await.unwrap();
    seen.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn the_store_overrides_settings_of_the_database() {
    let Some(cluster) = shared() else { return };
    for (commit, expected) in
        [("off", "on"), ("local", "on"), ("remote_write", "on"), ("remote_apply", "remote_apply")]
    {
        let name = cluster.database("").await;
        let store = open(&cluster.url(&name), &options()).await.unwrap();
        store.close().await;
        let sql = format!(
            "ALTER DATABASE {name} SET synchronous_commit = {commit}; \
             ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'; \
             ALTER DATABASE {name} SET timezone = 'Asia/Tokyo'; \
             ALTER DATABASE {name} SET idle_in_transaction_session_timeout = 0; \
             ALTER DATABASE {name} SET idle_session_timeout = '1h'"
        );
        cluster.client("postgres").await.batch_execute(&sql).await.unwrap();
        let store = open(&cluster.url(&name), &limited()).await.unwrap();
        let names = [
            "synchronous_commit",
            "transaction_isolation",
            "TimeZone",
            "idle_in_transaction_session_timeout",
            "idle_session_timeout",
            "row_security",
            "search_path",
            "statement_timeout",
        ];
        let expected = [
            "TimeZone UTC",
            "idle_in_transaction_session_timeout 3500",
            "idle_session_timeout 0",
            "row_security off",
            "search_path \"public\"",
            "statement_timeout 3500",
            &format!("synchronous_commit {expected}"),
            "transaction_isolation read committed",
        ];
        let mut seen = settings(cluster, &name, &store, &names).await;
        // The order of `ORDER BY` depends on the locale.
        seen.sort();
        assert_eq!(seen, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_hangs_with_the_lock_of_all_writers_is_ended() {
    let Some(cluster) = shared() else { return };
    let name = cluster.database("").await;
    let store = open(&cluster.url(&name), &limited()).await.unwrap();
    let limits = ["idle_in_transaction_session_timeout", "tcp_user_timeout", "tcp_keepalives_idle"];
    let limits = settings(cluster, &name, &store, &limits).await;
    assert_eq!(limits.len(), 3, "{limits:?}");
    // A replica that was stopped in the middle of a batch: it has the settings of the store, and its lock.
    let hanging = cluster.client(&name).await;
    for limit in limits {
        let (name, value) = limit.split_once(' ').unwrap();
        hanging.batch_execute(&format!("SET {name} = {value}")).await.unwrap();
    }
    let lock = "BEGIN; SELECT pg_advisory_xact_lock(1348826227, 'animal_id'::regclass::oid::int4)";
    hanging.batch_execute(lock).await.unwrap();
    added(&store, "after").await;
    let ended = hanging.batch_execute("COMMIT").await.unwrap_err();
    assert!(ended.is_closed() || ended.code().is_some(), "{ended:?}");
}
