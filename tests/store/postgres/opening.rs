//! Opening databases: migrations, and errors of one line that contain no password and change nothing.

use std::sync::Arc;
use std::time::Duration;

use animal_store::schemas::PetStatus;
use animal_store::storage::{AddedOnce, Migrate, PetsQuery, Store, StoreOptions, open};
use futures::future::join_all;
use tokio::time::timeout;
use tokio_postgres::Client;

use super::{Postgres, options};
use crate::conformance::{Engine as _, add, idempotency_key, key, new_pet};
use crate::messages::Messages;
use kit::postgres::{Cluster, shared};

const ALL: PetsQuery = PetsQuery { status: None, after: None, limit: 100 };
const MIGRATIONS: [&str; 6] = [
    include_str!("../../../src/storage/postgres/0001_animals.sql"),
    include_str!("../../../src/storage/postgres/0002_api_keys.sql"),
    include_str!("../../../src/storage/postgres/0003_secret.sql"),
    include_str!("../../../src/storage/postgres/0004_key_use.sql"),
    include_str!("../../../src/storage/postgres/0005_idempotency_keys.sql"),
    include_str!("../../../src/storage/postgres/0006_responses.sql"),
];

/// Returns the error of opening `url`. Checks that it is one line with all of `texts` and without the password.
pub(super) async fn rejected(url: &str, texts: &[&str]) -> String {
    let line = open(url, &options()).await.err().expect("an error").to_string();
    for text in texts {
        assert!(line.contains(text), "{text} is not in: {line}");
    }
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(!line.contains("sesame"), "{line}");
    line
}

/// Returns every table with its columns, and every row of a database.
async fn contents(client: &Client) -> Vec<String> {
    let columns = "SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns \
         WHERE table_schema = current_schema() ORDER BY 1";
    let mut all: Vec<String> =
        client.query(columns, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    let tables = "SELECT DISTINCT table_name::text FROM information_schema.columns \
         WHERE table_schema = current_schema() ORDER BY 1";
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let rows = format!("SELECT t::text FROM {table} AS t ORDER BY 1");
        all.extend(client.query(&rows, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)));
    }
    all
}

/// Creates a role with the right to log in. Returns the URL of the database for it.
async fn role(cluster: &Cluster, database: &Postgres, name: &str) -> String {
    let client = cluster.client("postgres").await;
    let sql =
        format!("DO $$ BEGIN CREATE ROLE {name} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    client.batch_execute(&sql).await.unwrap();
    database.url().replace("postgres@", &format!("{name}@"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_replicas_may_start_concurrently() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let stores = join_all((0..8).map(|_| {
        tokio::spawn({
            let url = database.url();
            async move { open(&url, &options()).await.unwrap() }
        })
    }))
    .await;
    let stores: Vec<Arc<Store>> = stores.into_iter().map(Result::unwrap).collect();
    assert!(stores.iter().all(|store| store.secret() == stores[0].secret()));
    let numbers =
        database.client().await.query("SELECT number FROM animal_store_migration ORDER BY 1", &[]).await;
    let numbers: Vec<i64> = numbers.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(numbers, Vec::from_iter(1..=MIGRATIONS.len() as i64));
}

#[tokio::test]
async fn older_databases_are_migrated() {
    for applied in 1..MIGRATIONS.len() {
        let Some(database) = Postgres::try_fresh().await else { return };
        let client = database.client().await;
        client
            .batch_execute("CREATE TABLE animal_store_migration (number bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())")
            .await
            .unwrap();
        for (number, sql) in (1_i64..).zip(&MIGRATIONS[..applied]) {
            client.batch_execute(sql).await.unwrap();
            client.execute("INSERT INTO animal_store_migration VALUES ($1)", &[&number]).await.unwrap();
        }
        let old = "INSERT INTO animal VALUES (nextval('animal_id'), 'old', 7, 'sold')";
        client.batch_execute(old).await.unwrap();

        let messages = Messages::default();
        let store = database.with(&StoreOptions { log: messages.log(), ..options() }).await;
        assert!(messages.contain("upgraded the database"));
        let animals = store.pets(ALL).await.unwrap().pets;
        assert_eq!(animals.len(), 1);
        assert_eq!((animals[0].name.as_str(), animals[0].status), ("old", Some(PetStatus::Sold)));
        store.add_key(key(1)).await.unwrap();
        assert!(add(&store, "new").await.id > animals[0].id);
        let secret = store.secret();
        store.close().await;
        assert_eq!(database.open().await.secret(), secret);
    }
}

/// A new version of the library that orders texts would make the server overlook rows in an index with another collation than
/// `C`, and an idempotency key would be stored twice. A table that is published for replication needs a primary key.
#[tokio::test]
async fn no_index_depends_on_a_locale_and_each_table_has_a_primary_key() {
    let Some(database) = Postgres::try_fresh().await else { return };
    database.open().await;
    let sql = "SELECT relname::text, bool_or(indisprimary), bool_or(coalesce(sorted, 0) NOT IN (0, 950)) \
         FROM pg_class LEFT JOIN pg_index ON indrelid = pg_class.oid LEFT JOIN unnest(indcollation) AS sorted ON true \
         WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace GROUP BY relname";
    let rows = database.client().await.query(sql, &[]).await.unwrap();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let (table, has_key, has_locale): (String, bool, bool) = (row.get(0), row.get(1), row.get(2));
        assert!(has_key && !has_locale, "{table}");
    }
}

/// Those of 1.2.0 are found, and its replicas that still run are not ready.
#[tokio::test]
async fn idempotency_keys_of_1_2_0_are_found_and_its_statements_fail() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let client = database.client().await;
    let table = "CREATE TABLE animal_store_migration \
         (number bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())";
    client.batch_execute(table).await.unwrap();
    for (number, sql) in (1_i64..).zip(&MIGRATIONS[..5]) {
        client.batch_execute(sql).await.unwrap();
        client.execute("INSERT INTO animal_store_migration VALUES ($1)", &[&number]).await.unwrap();
    }
    let old = "INSERT INTO animal VALUES (nextval('animal_id'), 'Rex', 7, 'sold'), (nextval('animal_id'), 'é🦊', -7, NULL);
        INSERT INTO idempotency_key (animal_id, client, value, added)
            SELECT n, 'key1', n, extract(epoch FROM now())::bigint - 3600 FROM generate_series(1, 3) AS n";
    client.batch_execute(old).await.unwrap();
    let get = client.prepare("SELECT id, name, category_id, status FROM animal WHERE id = $1").await.unwrap();
    assert!(client.query_opt(&get, &[&1_i64]).await.unwrap().is_some());

    let store = database.open().await;
    let add = async |name: &str, category, status, value| {
        store.add_pet_once(new_pet(name, category, status), idempotency_key(value)).await.unwrap()
    };
    let pet = async |id| store.pet(id).await.unwrap().unwrap();
    assert_eq!(add("Rex", 7, Some(PetStatus::Sold), "1").await, AddedOnce::Before(pet(1).await));
    assert_eq!(add("é🦊", -7, None, "2").await, AddedOnce::Before(pet(2).await));
    assert_eq!(add("Mia", 7, None, "1").await, AddedOnce::Differs);
    // Its animal was removed.
    assert!(matches!(add("gone", 7, None, "3").await, AddedOnce::Now(_)));
    assert!(client.query_opt(&get, &[&1_i64]).await.is_err(), "a replica of 1.2.0 still reads");
}

#[tokio::test]
async fn a_command_that_only_reads_changes_no_database() {
    let never = StoreOptions { migrate: Migrate::Never, ..options() };
    for applied in 0..=MIGRATIONS.len() {
        let Some(database) = Postgres::try_fresh().await else { return };
        let client = database.client().await;
        if applied > 0 {
            let table = "CREATE TABLE animal_store_migration \
                 (number bigint PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())";
            client.batch_execute(table).await.unwrap();
        }
        for (number, sql) in (1_i64..).zip(&MIGRATIONS[..applied]) {
            client.batch_execute(sql).await.unwrap();
            client.execute("INSERT INTO animal_store_migration VALUES ($1)", &[&number]).await.unwrap();
        }
        let before = contents(&client).await;
        // After all migrations, only the secret is missing.
        let line = open(&database.url(), &never).await.err().expect("an error").to_string();
        let problem = match applied {
            0 => "has no tables of this program".to_owned(),
            _ if applied == MIGRATIONS.len() => "was not set up completely".to_owned(),
            _ => format!("has format {applied}, but this command needs {}", MIGRATIONS.len()),
        };
        assert!(line.contains(&problem), "{line}");
        assert!(line.contains("`animal-store serve` or `animal-store key create NAME`"), "{line}");
        assert_eq!(contents(&client).await, before);

        let secret = database.open().await.secret();
        let before = contents(&client).await;
        assert_eq!(open(&database.url(), &never).await.unwrap().secret(), secret);
        assert_eq!(contents(&client).await, before);
    }
}

#[tokio::test]
async fn a_newer_database_is_rejected_and_unchanged() {
    let Some(database) = Postgres::try_fresh().await else { return };
    add(&*database.open().await, "kept").await;
    let client = database.client().await;
    let newest = MIGRATIONS.len() as i64;
    let next = newest + 1;
    client.execute("INSERT INTO animal_store_migration (number) VALUES ($1)", &[&next]).await.unwrap();
    let before = contents(&client).await;
    rejected(&database.url(), &["by a newer release", &format!("format {next}"), &format!("up to {newest}")])
        .await;
    assert_eq!(contents(&client).await, before);
    let record = "UPDATE animal_store_migration SET program = '2.0.0' WHERE number = $1";
    client.execute(record, &[&next]).await.unwrap();
    rejected(&database.url(), &["use release 2.0.0 or a later one"]).await;
}

#[tokio::test]
async fn tables_of_another_program_are_rejected_and_unchanged() {
    for table in ["animal", "api_key", "secret"] {
        let Some(database) = Postgres::try_fresh().await else { return };
        let client = database.client().await;
        client.batch_execute(&format!("CREATE TABLE {table} (theirs text)")).await.unwrap();
        let before = contents(&client).await;
        rejected(&database.url(), &["of another program", table]).await;
        assert_eq!(contents(&client).await, before);
    }
}

#[tokio::test]
async fn a_wrong_url_is_rejected() {
    for (url, text) in [
        ("postgres://", "no host"),
        ("postgres:sesame", "it must be like"),
        ("postgres://u:sesame@h:x/d", "port"),
        ("postgres://u:sesame@127.0.0.1/d?sesame=1", "is unknown"),
        ("postgresql://u:sesame@127.0.0.1/d?sslmode=maybe", "verify-full"),
        ("mysql://u:sesame@127.0.0.1/d", "postgres://USER"),
    ] {
        rejected(url, &[text]).await;
    }
}

#[tokio::test]
async fn a_wrong_password_is_rejected() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let client = database.client().await;
    let role = "DO $$ BEGIN CREATE ROLE strict LOGIN PASSWORD 'right'; \
         EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT CREATE ON SCHEMA public TO strict";
    client.batch_execute(role).await.unwrap();
    let url = database.url().replace("postgres@", "strict:sesame@");
    rejected(&url, &["password", "strict"]).await;
    let url = database.url().replace("postgres@", "strict@");
    rejected(&url, &["password"]).await;
    let store = open(&url.replace("strict@", "strict:right@"), &options()).await.unwrap();
    assert_eq!(add(&store, "first").await.id, 1);
}

#[tokio::test]
async fn an_unreachable_host_is_an_error_within_a_time_limit() {
    // Accepts connections and never responds.
    let unresponsive = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = unresponsive.local_addr().unwrap().port();
    let url = format!("postgres://u:sesame@127.0.0.1:{port},127.0.0.1:1,nowhere.invalid/d?connect_timeout=5");
    let texts = [
        &format!("127.0.0.1:{port} cannot be reached: no response in time"),
        "127.0.0.1:1 cannot be reached",
        "refused",
        "nowhere.invalid:5432 cannot be reached",
        "check host and port",
    ];
    // Without a time limit, the store would wait forever for the unresponsive host.
    timeout(Duration::from_secs(60), rejected(&url, &texts)).await.expect("an error within the time limit");
}

#[tokio::test]
async fn a_missing_database_is_rejected() {
    let Some(cluster) = shared() else { return };
    rejected(&cluster.url("no_such"), &["does not exist", "createdb no_such"]).await;
}

#[tokio::test]
async fn an_encoding_other_than_utf_8_is_rejected() {
    let Some(cluster) = shared() else { return };
    let name = cluster.database("ENCODING 'LATIN1' TEMPLATE template0").await;
    rejected(&cluster.url(&name), &["encoding LATIN1", "UTF8"]).await;
    assert!(contents(&cluster.client(&name).await).await.is_empty());
}

#[tokio::test]
async fn the_error_names_missing_privileges() {
    let Some(database) = Postgres::try_fresh().await else { return };
    let url = role(shared().unwrap(), &database, "weak").await;
    // Before PostgreSQL 15, everybody could create tables in this schema.
    let client = database.client().await;
    client.batch_execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await.unwrap();
    rejected(&url, &["does not grant weak", "permission denied for schema public"]).await;
    assert!(contents(&client).await.is_empty());

    let store = database.open().await;
    let all = "run GRANT SELECT, INSERT, UPDATE, DELETE ON public.animal, public.animal_store_migration, \
         public.api_key, public.idempotency_key, public.secret TO weak; \
         GRANT USAGE ON SEQUENCE public.animal_id TO weak, or connect as the owner";
    rejected(&url, &["does not grant weak", all]).await;
    // The statements of the page are enough, and so are those of the message.
    let page = include_str!("../../../src/storage/README.md").lines();
    let grants: Vec<&str> = page.filter(|line| line.starts_with("GRANT ")).collect();
    client.batch_execute(&grants.concat().replace(" TO service", " TO weak")).await.unwrap();
    open(&url, &options()).await.unwrap().close().await;
    let revoke = "REVOKE UPDATE, DELETE ON animal FROM weak; REVOKE INSERT ON api_key FROM weak; \
         REVOKE UPDATE, DELETE ON secret FROM weak; REVOKE USAGE ON SEQUENCE animal_id FROM weak";
    client.batch_execute(revoke).await.unwrap();
    let missing = "run GRANT INSERT ON public.api_key TO weak; \
         GRANT UPDATE, DELETE ON public.animal, public.secret TO weak; \
         GRANT USAGE ON SEQUENCE public.animal_id TO weak, or connect as the owner";
    let line = rejected(&url, &[missing]).await;
    let (_, statements) = line.split_once(": run ").unwrap();
    let (statements, _) = statements.split_once(", or connect").unwrap();
    client.batch_execute(statements).await.unwrap();

    // An existing database needs no privilege to create tables.
    let weak = open(&url, &options()).await.unwrap();
    let pet = add(&weak, "mine").await;
    assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
    weak.add_key(key(1)).await.unwrap();
    weak.revoke_key("key1", key(1).created).await.unwrap();
    let once = weak.add_pet_once(new_pet("once", 1, None), idempotency_key("a")).await.unwrap();
    assert!(matches!(once, AddedOnce::Now(_)));
    client.batch_execute("DROP OWNED BY weak").await.unwrap();
}

#[tokio::test]
async fn a_command_that_only_reads_needs_no_privilege_to_write() {
    let Some(database) = Postgres::try_fresh().await else { return };
    database.open().await.add_key(key(1)).await.unwrap();
    let url = role(shared().unwrap(), &database, "reading").await;
    let client = database.client().await;
    let never = StoreOptions { migrate: Migrate::Never, ..options() };
    client
        .batch_execute("GRANT SELECT ON animal_store_migration, animal, api_key, secret TO reading")
        .await
        .unwrap();
    let line = open(&url, &never).await.err().expect("an error").to_string();
    assert!(line.contains("run GRANT SELECT ON public.idempotency_key TO reading, or"), "{line}");
    client.batch_execute("GRANT SELECT ON idempotency_key TO reading").await.unwrap();
    assert_eq!(open(&url, &never).await.unwrap().keys().await.unwrap(), [key(1)]);
    client.batch_execute("DROP OWNED BY reading").await.unwrap();
}

#[tokio::test]
async fn tls_is_verified_as_the_url_requires() {
    let Some(cluster) = Cluster::start() else { return };
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let root = cluster.put("server.crt", &signed.cert.pem());
    let wrong = cluster.put("other.crt", &other.cert.pem());
    cluster.put("server.key", &signed.signing_key.serialize_pem());
    let url =
        |host: &str, parameters: &str| cluster.url("postgres").replace("127.0.0.1", host) + "&" + parameters;
    let (root, wrong) = (root.display(), wrong.display());

    rejected(&url("localhost", "sslmode=require"), &["server does not support TLS"]).await;
    assert!(open(&url("localhost", "sslmode=prefer"), &options()).await.is_ok());
    cluster.configure("ssl = on\n").await;
    cluster.stop();
    cluster.start_server();
    for (host, parameters) in [
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}")),
        ("127.0.0.1", "sslmode=disable".to_owned()),
    ] {
        let store = open(&url(host, &parameters), &options()).await.unwrap();
        let pet = store.add_pet(new_pet("x", 1, None)).await.unwrap();
        assert_eq!(store.pet(pet.id).await.unwrap(), Some(pet));
        let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
             WHERE application_name = 'animal-store'";
        let encrypted: bool =
            cluster.client("postgres").await.query_one(encrypted, &[]).await.unwrap().get(0);
        assert_eq!(encrypted, !parameters.contains("disable"), "{parameters}");
        store.close().await;
    }
    for (host, parameters) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}")),
        ("localhost", format!("sslmode=verify-full&sslrootcert={wrong}")),
        ("localhost", format!("sslmode=require&sslrootcert={wrong}")),
        ("localhost", "sslmode=verify-full&sslrootcert=system".to_owned()),
    ] {
        rejected(&url(host, &parameters), &["TLS", "certificate"]).await;
    }
}
