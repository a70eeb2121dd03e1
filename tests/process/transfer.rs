//! The commands `backup` and `copy`.

use rusqlite::Connection;

use crate::postgres_cluster;
use crate::program::{WorkDir, patient};

/// The number of animals that are copied; more than one chunk.
const MANY: i64 = 5_000;
/// The identifier of the animal at which a trigger blocks the copy.
const BLOCKED_AT: i64 = 2_500;

/// Creates a database with [`MANY`] animals.
async fn fill(directory: &WorkDir, name: &str) {
    directory.run(&["key", "create", "tests", "--database", &format!("sqlite:{name}")]).await.success();
    let sql = "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < ?1) \
         INSERT INTO animal (name, category_id, status) \
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
    assert_eq!(directory.run(&["backup", "kept.db"]).await.success(), "");
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

#[tokio::test]
async fn a_backup_needs_no_hard_links_and_replaces_no_file() {
    if std::process::Command::new("strace").arg("--version").output().is_err() {
        eprintln!("SKIPPED: strace is not installed");
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
    let Some(cluster) = postgres_cluster::shared() else { return };
    let target = cluster.url(&cluster.database("").await);
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&["--database", "sqlite:from.db"], patient).await;
    let copied_key =
        directory.run(&["key", "create", "tests", "--database", "sqlite:from.db"]).await.success();
    let copied_key = copied_key.trim_end();
    service.add(copied_key, 25).await;
    let before = service.all(copied_key).await;

    // The source is in use.
    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let line = directory.run(&copy).await.success();
    assert_eq!(line, "25 animals and 1 key are the same in both\n");
    service.stop().await;
    let line = directory.run(&copy).await.failure();
    assert_eq!(line, "error: the target is not empty; use a new database");

    let service = directory.serve_with(&["--database", &target], patient).await;
    assert_eq!(service.all(copied_key).await, before);
    assert!(service.add(copied_key, 1).await[0] > 25);
    assert_eq!(service.get(&key, "/v1/pets").await.status, 401, "a key of another store is valid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_copy_leaves_the_target_empty() {
    let Some(cluster) = postgres_cluster::shared() else { return };
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
    loop {
        let mut first = directory.start(&copy);
        while !client.query_one(blocked, &[]).await.unwrap().get::<_, bool>(0) {
            if first.try_wait().unwrap().is_some() {
                break;
            }
        }
        // Fails if the process has exited.
        let _ = first.start_kill();
        if first.wait().await.unwrap().code().is_none() {
            break;
        }
        // On a busy machine the copy may reach its time limit before it is killed; then it is started again.
    }
    // The server still executes the statement of the killed process.
    let end = "SELECT count(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND application_name = 'animal-store'";
    client.query_one(end, &[]).await.unwrap();
    client.batch_execute("SELECT pg_advisory_unlock(1); DROP TRIGGER block_copy ON animal").await.unwrap();
    assert_eq!(copied().await, 0);
    let line = directory.run(&copy).await.success();
    assert_eq!(line, format!("{MANY} animals and 1 key are the same in both\n"));
    assert_eq!(copied().await, MANY);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_fails_leaves_the_target_empty() {
    let Some(cluster) = postgres_cluster::shared() else { return };
    let database = cluster.database("").await;
    let target = cluster.url(&database);
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    // Creates the tables.
    directory.serve_with(&["--database", &target], patient).await.stop().await;
    let client = cluster.client(&database).await;
    client.batch_execute("ALTER TABLE animal ADD CHECK (id <> 2500)").await.unwrap();
    let copy = ["copy", "--from", "sqlite:from.db", "--to", &target];
    let line = directory.run(&copy).await.failure();
    assert_eq!(line, "error: the target: the store is broken: it rejected a statement");
    client.batch_execute("ALTER TABLE animal DROP CONSTRAINT animal_id_check").await.unwrap();
    directory.run(&copy).await.success();
}

#[tokio::test]
async fn a_copy_shows_its_progress_on_a_terminal() {
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    let copy = ["copy", "--from", "sqlite:from.db", "--to", "sqlite:to.db"];
    // `script` runs the command in a terminal and prints its output.
    let on_a_terminal = |command: &mut tokio::process::Command| {
        let program = command.as_std().get_program().to_str().unwrap().to_owned();
        let line = format!("stty cols 80; {program} {}", copy.join(" "));
        let directory = command.as_std().get_current_dir().unwrap().to_owned();
        *command = tokio::process::Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(directory).kill_on_drop(true);
        command.env("TERM", "xterm").stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    };
    let ran = directory.run_changed(&copy, on_a_terminal).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    for words in ["copying", "/5,000", "5000 animals and 1 key"] {
        assert!(ran.stdout.contains(words), "{words} is not in: {}", ran.stdout);
    }
}

#[tokio::test]
async fn copy_reads_the_urls_from_files() {
    let directory = WorkDir::new();
    fill(&directory, "from.db").await;
    directory.write("from.url", "sqlite:from.db\n");
    directory.write("to.url", "sqlite:to.db");
    let line = directory.run(&["copy", "--from-file", "from.url", "--to-file", "to.url"]).await.success();
    assert!(line.starts_with("5000 animals"), "{line}");
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
    for (arguments, source) in [
        (["--from-file", "good.url", "--to", "sqlite:to.db"], "--from-file"),
        (["--from", "sqlite:from.db", "--to-file", "good.url"], "--to-file"),
        (["--from-file", "scheme.url", "--to", "sqlite:to.db"], "--from-file"),
        (["--from", "sqlite:from.db", "--to-file", "lines.url"], "--to-file"),
        (["--from", "sqlite:from.db", "--to-file", "empty.url"], "--to-file"),
        (["--from", "sqlite:from.db", "--to-file", "missing.url"], "--to-file"),
        (["--from", "postgress://u:sesame@h/d", "--to", "sqlite:to.db"], "--from"),
        (["--from", "postgres://u:sesame@h:sesame/d", "--to", "sqlite:to.db"], "--from"),
        (["--from", URL, "--from-file", "good.url"], "--from"),
        (["--from", URL, "--to-file", "missing.url"], "--to-file"),
    ] {
        let line = directory.run(&[&["copy"][..], &arguments].concat()).await.failure();
        assert!(line.contains(source) && !line.contains("sesame"), "{line}");
        assert_eq!(directory.names(), before);
    }
}
