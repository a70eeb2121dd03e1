//! The commands `backup` and `copy`.

use rusqlite::Connection;

use kit::postgres;
use kit::program::{WorkDir, patient};

/// The number of animals that are copied; more than one chunk.
const MANY: i64 = 5_000;
/// The identifier of the animal at which a trigger blocks the copy.
const BLOCKED_AT: i64 = 2_500;

/// Creates a database with [`MANY`] animals.
async fn fill(directory: &WorkDir, name: &str) {
    directory.run(&["key", "create", "tests", "--database", &format!("sqlite:{name}")]).await.success();
    let sql = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
         INSERT INTO animal (name, category, status) \
         SELECT 'animal ' || n, n, CASE n % 3 WHEN 0 THEN 'sold' WHEN 1 THEN 'pending' END FROM n";
    Connection::open(directory.path(name)).unwrap().execute(sql, [MANY]).unwrap();
}

#[tokio::test]
async fn a_backup_of_a_running_service_can_be_served() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&[], patient).await;
    service.add(&key, 3).await;
    let before = service.all(&key).await;
    let printed = directory.run(&["backup", "kept.db"]).await.success();
    let bytes = std::fs::metadata(directory.path("kept.db")).unwrap().len();
    assert_eq!(printed, format!("backed up animal-store.db to kept.db, {bytes} bytes\n"));
    service.add(&key, 3).await;
    let line = directory.run(&["backup", "kept.db"]).await.failure();
    assert_eq!(line, "error: kept.db exists; choose another path, or move the file away");
    service.stop().await;

    let restored = directory.serve_with(&["--database", "sqlite:kept.db"], patient).await;
    assert_eq!(restored.all(&key).await, before);
    restored.stop().await;
}

/// Makes system calls of the program fail, as on a file system that cannot execute them, or kill it.
pub(crate) fn with_failing_calls(command: &mut tokio::process::Command, calls: &[&str]) {
    let plain = command.as_std();
    let mut traced = tokio::process::Command::new("strace");
    traced.args(["-f", "-o", "/dev/null"]);
    for call in calls {
        traced.args(["-e", &format!("inject={call}")]);
    }
    traced.arg(plain.get_program()).args(plain.get_args());
    traced.current_dir(plain.get_current_dir().unwrap()).kill_on_drop(true);
    traced.stdin(std::process::Stdio::null());
    traced.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    *command = traced;
}

fn is_unfinished(path: &std::path::Path) -> bool {
    path.to_string_lossy().ends_with(".unfinished-backup")
}

#[tokio::test]
async fn the_next_backup_removes_what_a_killed_one_has_left() {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    directory.key().await;
    let other = directory.write("other.db.unfinished", "not of a backup");
    let running = directory.write("other.db.a1.unfinished-backup", "of a backup that runs");
    let running = std::fs::File::open(running).unwrap();
    running.lock().unwrap();
    let unfinished = || directory.names().iter().filter(|name| is_unfinished(name)).count();
    let kill = |command: &mut tokio::process::Command| {
        with_failing_calls(command, &["fsync:signal=KILL:when=1"]);
    };
    assert_ne!(directory.run_changed(&["backup", "kept.db"], kill).await.code, Some(0));
    assert_eq!(unfinished(), 2, "{:?}", directory.names());
    directory.run(&["backup", "next.db"]).await.success();
    assert_eq!(unfinished(), 1, "{:?}", directory.names());
    drop(running);
    directory.run(&["backup", "last.db"]).await.success();
    assert_eq!(unfinished(), 0, "{:?}", directory.names());
    assert!(directory.path("next.db").exists() && other.exists());
}

#[tokio::test]
async fn an_interrupted_backup_leaves_nothing() {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    fill(&directory, "animal-store.db").await;
    for call in ["pwrite64", "fsync"] {
        for signal in ["INT", "TERM"] {
            let interrupt = |command: &mut tokio::process::Command| {
                with_failing_calls(command, &[&format!("{call}:signal={signal}:when=1")]);
            };
            let finished = directory.run_changed(&["backup", "kept.db"], interrupt).await;
            let names = directory.names();
            assert!(!names.iter().any(|name| is_unfinished(name)), "{names:?}");
            // The signal may arrive too late.
            let exists = directory.path("kept.db").exists();
            assert_eq!(exists, finished.code == Some(0), "{}", finished.stderr);
            if exists {
                std::fs::remove_file(directory.path("kept.db")).unwrap();
            } else {
                assert_eq!(finished.stderr, "error: kept.db was not written: the backup was interrupted\n");
            }
        }
    }
}

#[tokio::test]
async fn a_backup_needs_no_hard_links_and_replaces_no_file() {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    directory.key().await;
    let no_links = "linkat:error=EPERM";
    for (name, calls) in [("1.db", &[no_links][..]), ("2.db", &[no_links, "renameat2:error=EINVAL"])] {
        let backup = ["backup", name];
        directory.run_changed(&backup, |command| with_failing_calls(command, calls)).await.success();
        let list = ["key", "list", "--database", &format!("sqlite:{name}")];
        assert_eq!(directory.run(&list).await.success().lines().count(), 2);
        let before = directory.names();
        let refused = directory.run_changed(&backup, |command| with_failing_calls(command, calls)).await;
        assert!(refused.failure().contains("exists; choose another path"));
        assert_eq!(directory.names(), before);
    }
}

#[tokio::test]
async fn a_backup_of_postgresql_is_rejected_with_a_hint_to_pg_dump() {
    let directory = WorkDir::new();
    let line = directory.run(&["backup", "kept.db", "--database", "postgres://u:sesame@h/d"]).await.failure();
    assert!(line.contains("pg_dump") && !line.contains("sesame"), "{line}");
    assert_eq!(directory.files(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copied_store_has_the_same_animals_and_keys() {
    let Some(cluster) = postgres::shared() else { return };
    let target = cluster.url(&cluster.database("").await).replace("postgres@", "postgres:sesame@");
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&["--database", "sqlite:from.db"], patient).await;
    let copied_key =
        directory.run(&["key", "create", "tests", "--database", "sqlite:from.db"]).await.success();
    let copied_key = copied_key.trim_end();
    service.add(copied_key, 25).await;
    let before = service.all(copied_key).await;

    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let line = directory.run(&copy).await.failure();
    assert!(line.contains("from.db is locked by another process; stop that process"), "{line}");
    service.stop().await;
    let copied = directory.run(&copy).await;
    assert!(
        copied.stderr.starts_with("warning: --to: every user of this machine can read"),
        "{}",
        copied.stderr
    );
    assert_eq!(
        (copied.code, &*copied.stdout),
        (Some(0), "copied 25 animals and 1 key\n"),
        "{}",
        copied.stderr
    );
    let line = directory.run(&copy).await.failure();
    assert_eq!(line, "error: the target is not empty: it has rows in animal; use a new database");

    let service = directory.serve_with(&["--database", &target], patient).await;
    assert_eq!(service.all(copied_key).await, before);
    assert!(service.add(copied_key, 1).await[0] > 25);
    assert_eq!(service.get(&key, "/v1/pets").await.status, 401, "a key of another store is valid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_copy_leaves_the_target_empty() {
    let Some(cluster) = postgres::shared() else { return };
    let database = cluster.database("").await;
    let target = cluster.url(&database);
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    // Creates the tables.
    directory.serve_with(&["--database", &target], patient).await.stop().await;
    let client = cluster.client(&database).await;
    let copied =
        async || -> i64 { client.query_one("SELECT count(*) FROM animal", &[]).await.unwrap().get(0) };
    // Blocks the copy at this animal until the lock is released.
    let block = format!(
        "CREATE FUNCTION block_copy() RETURNS trigger LANGUAGE plpgsql AS \
             'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN new; END';
         CREATE TRIGGER block_copy BEFORE INSERT ON animal FOR EACH ROW WHEN (new.id = {BLOCKED_AT})
             EXECUTE FUNCTION block_copy();
         SELECT pg_advisory_lock(1)"
    );
    client.batch_execute(&block).await.unwrap();

    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let blocked = "SELECT EXISTS (SELECT FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store' AND wait_event = 'advisory')";
    let mut first = directory.start(&copy);
    while !client.query_one(blocked, &[]).await.unwrap().get::<_, bool>(0) {
        assert_eq!(first.try_wait().unwrap(), None, "it ended before the lock");
    }
    first.kill().await.unwrap();
    // The server still executes the statement of the killed process.
    let end = "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store'";
    client.query_one(end, &[]).await.unwrap();
    client.batch_execute("SELECT pg_advisory_unlock(1); DROP TRIGGER block_copy ON animal").await.unwrap();
    assert_eq!(copied().await, 0);
    let line = directory.run(&copy).await.success();
    assert_eq!(line, format!("copied {MANY} animals and 1 key\n"));
    assert_eq!(copied().await, MANY);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_reads_the_url_of_the_target_from_a_file() {
    let Some(cluster) = postgres::shared() else { return };
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    directory.write("to.url", cluster.url(&cluster.database("").await));
    let copy = ["copy", "--from", "sqlite:from.db", "--to-file", "to.url"];
    assert_eq!(directory.run(&copy).await.success(), format!("copied {MANY} animals and 1 key\n"));
}

#[tokio::test]
async fn copy_never_prints_a_url() {
    const URL: &str = "postgres://u:sesame@127.0.0.1:1/d";
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    directory.write("good.url", URL);
    directory.write("scheme.url", "postgress://u:sesame@h/d");
    directory.write("lines.url", "postgres://u:sesame@h/d\nsesame\n");
    directory.write("empty.url", "\n");
    let before = directory.names();
    for (arguments, expected) in [
        (["--from", "sqlite:from.db", "--to-file", "good.url"], "127.0.0.1:1"),
        (["--from", "sqlite:from.db", "--to", URL], "127.0.0.1:1"),
        (["--from", "sqlite:from.db", "--to-file", "lines.url"], "--to-file"),
        (["--from", "sqlite:from.db", "--to-file", "empty.url"], "--to-file"),
        (["--from", "sqlite:from.db", "--to-file", "missing.url"], "--to-file"),
        (["--from", "sqlite:from.db", "--to-file", "scheme.url"], "postgres://USER"),
        (["--from", "sqlite:from.db", "--to", "sqlite:to.db"], "there is no other direction"),
        (["--from", "postgress://u:sesame@h/d", "--to", URL], "sqlite:PATH"),
        (["--from", URL, "--to", URL], "there is no other direction"),
        (["--to", URL, "--to-file", "missing.url"], "--to"),
    ] {
        let line = directory.run(&[&["copy"][..], &arguments].concat()).await.failure();
        assert!(line.contains(expected) && !line.contains("sesame"), "{line}");
        assert_eq!(directory.names(), before);
    }
}
