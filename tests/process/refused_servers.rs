//! What the program refuses of PostgreSQL: an exit status, one line without the password, nothing changed.

use std::net::TcpListener;

use tokio_postgres::Client;

use crate::postgres_cluster::{self, Cluster};
use crate::program::Place;

/// Every command that opens a store refuses the database at `url`, and waits without end for none.
async fn refused(url: &str, words: &[&str]) {
    let place = Place::new();
    place.run(&["key", "create", "tests", "--database", "sqlite:empty.db"]).await.printed();
    for arguments in [
        &["serve", "--bind", "127.0.0.1:0", "--database", url][..],
        &["key", "list", "--database", url],
        &["copy", "--from", "sqlite:empty.db", "--to", url],
    ] {
        let line = place.run(arguments).await.failed();
        assert!(line.starts_with("error: "), "{line}");
        for words in words {
            assert!(line.contains(words), "{words} is not in: {line}");
        }
        assert!(!line.contains("sesame"), "{line}");
    }
}

/// The tables of a database, with their contents.
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

/// A database with a key in it. `None` where there is no server.
async fn used() -> Option<(&'static Cluster, String)> {
    let cluster = postgres_cluster::shared()?;
    let name = cluster.database("").await;
    Place::new().run(&["key", "create", "tests", "--database", &cluster.url(&name)]).await.printed();
    Some((cluster, name))
}

#[tokio::test]
async fn a_wrong_url_is_refused() {
    for (url, words) in [
        ("postgres://", "it has no host"),
        ("postgres:sesame", "it must be like postgres://user:password@host"),
        ("postgres://u:sesame@h:x/d", "port"),
        ("postgres://u:sesame@h/d?sesame=1", "is unknown"),
        ("postgres://u:sesame@h/d?sslmode=verify-full&sslrootcert=no.pem", "no.pem cannot be read"),
        ("mysql://u:sesame@h/d", "postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
    ] {
        refused(url, &[words]).await;
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let Some((cluster, name)) = used().await else { return };
    let client = cluster.client(&name).await;
    client.batch_execute("CREATE ROLE strict LOGIN PASSWORD 'right'").await.unwrap();
    let before = contents(&client).await;
    let words = ["password authentication failed", "check the password of strict"];
    refused(&cluster.url(&name).replace("postgres@", "strict:sesame@"), &words).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn an_unreachable_host_is_refused() {
    // Takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for host in [silent.to_string(), free.to_string(), "nowhere.invalid".to_owned()] {
        let url = format!("postgres://u:sesame@{host}/d");
        refused(&url, &[&host, "cannot be reached", "check host and port"]).await;
    }
}

#[tokio::test]
async fn a_missing_database_is_refused() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    refused(&cluster.url("no_such"), &["does not exist", "createdb no_such"]).await;
}

#[tokio::test]
async fn a_database_of_a_newer_release_is_refused() {
    let Some((cluster, name)) = used().await else { return };
    let client = cluster.client(&name).await;
    client.batch_execute("INSERT INTO animal_store_migration (number) VALUES (1000)").await.unwrap();
    let before = contents(&client).await;
    refused(&cluster.url(&name), &[&name, "newer release", "use that release"]).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let name = cluster.database("").await;
    let client = cluster.client(&name).await;
    client.batch_execute("CREATE TABLE animal (theirs text); INSERT INTO animal VALUES ('x')").await.unwrap();
    let before = contents(&client).await;
    refused(&cluster.url(&name), &[&name, "another program", "use another database"]).await;
    assert_eq!(contents(&client).await, before);
}

#[tokio::test]
async fn a_database_that_only_reads_is_refused() {
    let Some((cluster, name)) = used().await else { return };
    let read_only = format!("ALTER DATABASE {name} SET default_transaction_read_only = on");
    cluster.client(&name).await.batch_execute(&read_only).await.unwrap();
    let client = cluster.client(&name).await;
    let before = contents(&client).await;
    refused(&cluster.url(&name), &[&name, "read-only", "name the primary"]).await;
    assert_eq!(contents(&client).await, before);
}
