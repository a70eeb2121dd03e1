//! The commands `backup` and `copy`, and the way back.

use rusqlite::Connection;

use crate::postgres_cluster;
use crate::program::Place;

/// How many animals are copied, in several chunks.
const MANY: i64 = 5_000;
/// The animal at which a copy is held up.
const HELD_UP_AT: i64 = 2_500;

/// Fills a database that the program has made.
async fn fill(place: &Place, name: &str) {
    place.run(&["key", "create", "tests", "--database", &format!("sqlite:{name}")]).await.printed();
    let sql = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
         INSERT INTO animal (name, category_id, status) \
         SELECT 'animal ' || n, n, CASE n % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'pending' END FROM n";
    Connection::open(place.path(name)).unwrap().execute(sql, [MANY]).unwrap();
}

#[tokio::test]
async fn a_backup_of_a_running_service_is_restored_by_its_path_or_in_its_place() {
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&[]).await;
    service.add(&key, 3).await;
    let before = service.all(&key).await;
    assert_eq!(place.run(&["backup", "kept.db"]).await.printed(), "");
    service.add(&key, 3).await;
    let line = place.run(&["backup", "kept.db"]).await.failed();
    assert_eq!(line, "error: kept.db exists; choose another path, or move the file away");
    service.stop().await;

    let restored = place.serve(&["--database", "sqlite:kept.db"]).await;
    assert_eq!(restored.all(&key).await, before);
    restored.stop().await;

    // In the place of a database whose process was killed, and left its log behind.
    let mut killed = place.serve(&[]).await;
    killed.add(&key, 1).await;
    killed.signal(rustix::process::Signal::KILL);
    killed.exit().await;
    for left in ["animal-store.db-wal", "animal-store.db-shm"] {
        std::fs::remove_file(place.path(left)).unwrap();
    }
    std::fs::rename(place.path("kept.db"), place.path("animal-store.db")).unwrap();
    let restored = place.serve(&[]).await;
    assert_eq!(restored.all(&key).await, before);
    assert_eq!(restored.add(&key, 1).await, [4]);
}

#[tokio::test]
async fn a_backup_of_postgresql_is_left_to_its_own_tools() {
    let place = Place::new();
    let line = place.run(&["backup", "kept.db", "--database", "postgres://u:sesame@h/d"]).await.failed();
    assert!(line.contains("pg_dump") && !line.contains("sesame"), "{line}");
    assert_eq!(place.files(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copied_store_serves_the_same_to_the_same_keys() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let target = cluster.url(&cluster.database("").await);
    let place = Place::new();
    let key = place.key().await;
    let service = place.serve(&["--database", "sqlite:from.db"]).await;
    let made = place.run(&["key", "create", "tests", "--database", "sqlite:from.db"]).await.printed();
    let made = made.trim_end();
    service.add(made, 25).await;
    let before = service.all(made).await;
    service.stop().await;

    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let line = place.run(&copy).await.printed();
    assert!(line.starts_with("25 animals (0 of them from an earlier run) and 1 key are the same"), "{line}");
    let again = place.run(&copy).await.printed();
    assert!(again.starts_with("25 animals (25 of them from an earlier run)"), "{again}");
    assert_eq!(line.rsplit(' ').next(), again.rsplit(' ').next());

    let service = place.serve(&["--database", &target]).await;
    assert_eq!(service.all(made).await, before);
    assert!(service.add(made, 1).await[0] > 25);
    assert_eq!(service.get(&key, "/v1/pets").await.status, 401, "that key is of another store");
    let line = place.run(&copy).await.failed();
    assert_eq!(line, "error: the target contains animals that are not in the source; use an empty database");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_was_killed_goes_on_where_it_was() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let database = cluster.database("").await;
    let target = cluster.url(&database);
    let place = Place::new();
    fill(&place, "from.db").await;
    // Makes the tables.
    place.run(&["key", "list", "--database", &target]).await.printed();
    let client = cluster.client(&database).await;
    let copied =
        async || -> i64 { client.query_one("SELECT count(*) FROM animal", &[]).await.unwrap().get(0) };
    // Holds the copy up in the middle, at this animal, until the lock is released.
    let stop = format!(
        "CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN new; END';
         CREATE TRIGGER hold_up BEFORE INSERT ON animal FOR EACH ROW WHEN (new.id = {HELD_UP_AT})
             EXECUTE FUNCTION hold_up();
         SELECT pg_advisory_lock(1)"
    );
    client.batch_execute(&stop).await.unwrap();

    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let held_up = "SELECT EXISTS (SELECT FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store' AND wait_event = 'advisory')";
    loop {
        let mut first = place.start(&copy);
        while !client.query_one(held_up, &[]).await.unwrap().get::<_, bool>(0) {
            if first.try_wait().unwrap().is_some() {
                break;
            }
        }
        // An error means that it ended.
        let _ = first.start_kill();
        if first.wait().await.unwrap().code().is_none() {
            break;
        }
        // It gives up after a while, on a busy machine before it is killed: then again, from where it was.
        assert!(copied().await > 0, "it ended before it copied anything");
    }
    // The server is still at the chunk.
    let end = "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store'";
    client.query_one(end, &[]).await.unwrap();
    client.batch_execute("SELECT pg_advisory_unlock(1); DROP TRIGGER hold_up ON animal").await.unwrap();
    let before = copied().await;
    assert!(before > 0 && before < HELD_UP_AT, "{before}");

    let line = place.run(&copy).await.printed();
    let expected = format!("{MANY} animals ({before} of them from an earlier run) and 1 key are the same");
    assert!(line.starts_with(&expected), "{line}");
    assert_eq!(copied().await, MANY);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_verified() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let database = cluster.database("").await;
    let target = cluster.url(&database);
    let place = Place::new();
    fill(&place, "from.db").await;
    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    place.run(&copy).await.printed();
    let client = cluster.client(&database).await;
    client.batch_execute("UPDATE animal SET name = name || '.' WHERE id = 1234").await.unwrap();
    let line = place.run(&copy).await.failed();
    assert!(line.starts_with("error: the target differs from the source"), "{line}");
}

#[tokio::test]
async fn a_copy_shows_on_a_terminal_how_far_it_is() {
    let place = Place::new();
    fill(&place, "from.db").await;
    let copy = ["copy", "--from", "sqlite:from.db", "--to", "sqlite:to.db"];
    // `script` gives it a terminal, and prints what it prints there.
    let on_a_terminal = |command: &mut tokio::process::Command| {
        let program = command.as_std().get_program().to_str().unwrap().to_owned();
        let line = format!("stty cols 80; {program} {}", copy.join(" "));
        let directory = command.as_std().get_current_dir().unwrap().to_owned();
        *command = tokio::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(directory).kill_on_drop(true);
        command.env("TERM", "xterm").stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    };
    let ran = place.run_changed(&copy, on_a_terminal).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for words in ["copying", "/5,000", "checking 2/2", "5000 animals (0 of them from an earlier run)"] {
        assert!(ran.stdout.contains(words), "{words} is not in: {}", ran.stdout);
    }
}
