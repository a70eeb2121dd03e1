//! PgBouncer between the service and PostgreSQL: its mode `session` works, the others are refused.

use futures::future::join_all;
use serde_json::json;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use kit::postgres::pool::Pool;
use kit::postgres::shared;
use kit::program::WorkDir;

#[tokio::test]
async fn the_service_works_behind_the_mode_session() {
    let Some(cluster) = shared() else { return };
    let Some(pool) = Pool::start(cluster, "session") else { return };
    let database = pool.url(&cluster.database("").await);
    let directory = WorkDir::new();
    let key = directory.run(&["key", "create", "tests", "--database", &database]).await.success();
    let (key, id) =
        (key.trim_end(), directory.run(&["key", "list", "--database", &database]).await.success());
    let id = id.split_whitespace().find(|word| word.starts_with("key_")).expect(&id);
    // Twice: PgBouncer gives the second process the sessions of the first.
    for round in 1..=2 {
        let service = directory.serve(&["--ops-bind", "127.0.0.1:0", "--database", &database]).await;
        service.wait_for_readiness(200).await;
        let animal = json!({ "name": "Rex", "categoryId": 3, "status": "available" });
        let added = join_all((0..20).map(|_| service.post(key, &animal))).await;
        added.iter().for_each(|response| drop(response.expect(201)));
        let found = service.get(key, "/v1/pets?status=available&limit=100").await;
        assert_eq!(found.expect(200).as_array().unwrap().len(), 20 * round);
        service.get(key, "/v1/pets/1").await.expect(200);
        if round == 2 {
            directory.run(&["key", "revoke", id, "--database", &database]).await.success();
            service.wait_for_status(401, key).await;
        }
        service.stop().await;
    }
}

#[tokio::test]
async fn a_mode_that_shares_sessions_is_refused_and_keeps_no_settings() {
    let Some(cluster) = shared() else { return };
    for mode in ["transaction", "statement"] {
        let Some(pool) = Pool::start(cluster, mode) else { return };
        let database = pool.url(&cluster.database("").await);
        let directory = WorkDir::new();
        for command in ["serve", "key"] {
            let arguments: &[&str] =
                if command == "key" { &["create", "shop"] } else { &["--bind", "127.0.0.1:0"] };
            let arguments = [&[command], arguments, &["--database", &database]].concat();
            let line = directory.run(&arguments).await.failure();
            assert!(
                line.contains("shares a session of the server") && line.contains("use its mode session"),
                "{line}"
            );
        }
        // The next client gets the same session.
        let (client, connection) = tokio_postgres::connect(&database, NoTls).await.unwrap();
        tokio::spawn(connection);
        for (setting, value) in [("enable_seqscan", "on"), ("row_security", "on"), ("statement_timeout", "0")]
        {
            let rows = client.simple_query(&format!("SHOW {setting}")).await.unwrap();
            let found = rows.iter().find_map(|row| match row {
                SimpleQueryMessage::Row(row) => row.get(0),
                _ => None,
            });
            assert_eq!(found, Some(value), "{setting}");
        }
    }
}
