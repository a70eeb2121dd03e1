//! Startup errors with PostgreSQL: an exit status, an error of one line without the password, and an unchanged database.

use std::net::TcpListener;

use tokio_postgres::Client;

use kit::postgres::{self, Cluster};
use kit::program::WorkDir;

/// Checks that every command that opens a store rejects this URL within a time limit.
async fn rejected(url: &str, texts: &[&str]) {
    rejected_by(&[&["serve", "--bind", "127.0.0.1:0", "--database", url]], texts).await;
    rejected_by_commands(url, texts).await;
}

/// Checks the same for the commands other than `serve`.
async fn rejected_by_commands(url: &str, texts: &[&str]) {
    let copy = ["copy", "--from", "sqlite:empty.db", "--to", url];
    rejected_by(&[&["key", "list", "--database", url], &copy], texts).await;
}

async fn rejected_by(commands: &[&[&str]], texts: &[&str]) {
    let directory = WorkDir::new();
    directory.run(&["key", "create", "tests", "--database", "sqlite:empty.db"]).await.success();
    for arguments in commands {
        let line = directory.run(arguments).await.failure();
        assert!(line.starts_with("error: "), "{line}");
        for text in texts {
            assert!(line.contains(text), "{text} is not in: {line}");
        }
        assert!(!line.contains("sesame"), "{line}");
    }
}

/// Returns the tables of a database with their contents.
async fn contents(client: &Client) -> Vec<String> {
    let tables = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'S') \
         AND relnamespace = 'public'::regnamespace ORDER BY relname";
    let mut contents = Vec::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        contents.push(table.clone());
        let rows = format!("SELECT row(t.*)::text FROM {table} t ORDER BY 1");
        contents.extend(client.query(&rows, &[]).await.unwrap().iter().map(|row| row.get(0)));
    }
    contents
}

/// Creates a database with a key in it. Returns `None` if PostgreSQL is not installed.
async fn used() -> Option<(&'static Cluster, String)> {
    let cluster = postgres::shared()?;
    let name = cluster.database("").await;
    WorkDir::new().run(&["key", "create", "tests", "--database", &cluster.url(&name)]).await.success();
    Some((cluster, name))
}

#[tokio::test]
async fn a_wrong_url_is_rejected() {
    for (url, text) in [
        ("postgres://", "it has no host"),
        ("postgres:sesame", "it must be like postgres://user:password@host"),
        ("postgres://u:sesame@h:x/d", "port"),
        ("postgres://u:sesame@h/d?sesame=1", "is unknown"),
        ("postgres://u:sesame@h/d?sslmode=verify-full&sslrootcert=no.pem", "no.pem cannot be read"),
        ("mysql://u:sesame@h/d", "postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
    ] {
        rejected(url, &[text]).await;
    }
}

#[tokio::test]
async fn a_wrong_password_is_rejected() {
    let Some((cluster, name)) = used().await else { return };
    let client = cluster.client(&name).await;
    client.batch_execute("CREATE ROLE strict LOGIN PASSWORD 'right'").await.unwrap();
    let before = contents(&client).await;
    let texts = ["password authentication failed", "check the password of strict"];
    rejected(&cluster.url(&name).replace("postgres@", "strict:sesame@"), &texts).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn an_unreachable_host_is_rejected_by_commands() {
    // Accepts connections and never responds.
    let unresponsive = TcpListener::bind("127.0.0.1:0").unwrap();
    let unresponsive = unresponsive.local_addr().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for host in [unresponsive.to_string(), free.to_string(), "nowhere.invalid".to_owned()] {
        let url = format!("postgres://u:sesame@{host}/d");
        // `serve` waits for it: `waiting.rs`.
        rejected_by_commands(&url, &[&host, "cannot be reached", "check host and port"]).await;
    }
}

#[tokio::test]
async fn a_database_that_accepts_no_connections_is_unavailable_and_awaited() {
    let Some((cluster, name)) = used().await else { return };
    let directory = WorkDir::new();
    let url = cluster.url(&name);
    let key = directory.run(&["key", "create", "shop", "--database", &url]).await.success();
    let service = directory.serve(&["--database", &url]).await;
    service.get(key.trim_end(), "/v1/pets").await.expect(200);
    let admin = cluster.client("postgres").await;
    let change = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS");
    admin.batch_execute(&format!("{change} false")).await.unwrap();
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1";
    admin.query_one(end, &[&name]).await.unwrap();
    service.wait_for_status(503, key.trim_end()).await;
    rejected_by_commands(&url, &["not currently accepting connections", "ALLOW_CONNECTIONS true"]).await;
    admin.batch_execute(&format!("{change} true")).await.unwrap();
    service.wait_for_status(200, key.trim_end()).await;
    service.stop().await;
}

#[tokio::test]
async fn a_missing_database_is_rejected() {
    let Some(cluster) = postgres::shared() else { return };
    rejected(&cluster.url("no_such"), &["does not exist", "createdb no_such"]).await;
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_rejected() {
    let Some((cluster, name)) = used().await else { return };
    let client = cluster.client(&name).await;
    client.batch_execute("INSERT INTO animal_store_migration (number) VALUES (1000)").await.unwrap();
    let before = contents(&client).await;
    rejected(&cluster.url(&name), &[&name, "newer release", "use that release"]).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn a_database_of_another_program_is_rejected() {
    let Some(cluster) = postgres::shared() else { return };
    let name = cluster.database("").await;
    let client = cluster.client(&name).await;
    client.batch_execute("CREATE TABLE animal (theirs text); INSERT INTO animal VALUES ('x')").await.unwrap();
    let before = contents(&client).await;
    rejected(&cluster.url(&name), &[&name, "another program", "use another database"]).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn a_revocation_that_a_trigger_undoes_is_an_error() {
    let Some((cluster, name)) = used().await else { return };
    let client = cluster.client(&name).await;
    let trigger = "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN NEW.revoked = NULL; RETURN NEW; END $$;
         CREATE TRIGGER undo BEFORE UPDATE ON api_key FOR EACH ROW EXECUTE FUNCTION undo()";
    client.batch_execute(trigger).await.unwrap();
    let id: String = client.query_one("SELECT id FROM api_key", &[]).await.unwrap().get(0);
    let directory = WorkDir::new();
    let line = directory.run(&["key", "revoke", &id, "--database", &cluster.url(&name)]).await.failure();
    assert!(line.contains(&format!("the key {id} is still valid")) && line.contains("triggers"), "{line}");
}

#[tokio::test]
async fn a_read_only_database_is_rejected() {
    let Some((cluster, name)) = used().await else { return };
    let read_only = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    cluster.client(&name).await.batch_execute(&read_only).await.unwrap();
    let client = cluster.client(&name).await;
    let before = contents(&client).await;
    rejected(&cluster.url(&name), &[&name, "read-only", "default_transaction_read_only"]).await;
    assert_eq!(contents(&client).await, before);
}
