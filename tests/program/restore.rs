//! The command `restore`: the files that it replaces and keeps, and what it refuses.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::transfer::with_failing_calls;
use kit::program::WorkDir;

/// Returns the names of the animals in a database that is not damaged.
fn animals(database: &Path) -> Vec<String> {
    let database = Connection::open(database).unwrap();
    let damage: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(damage, "ok");
    let mut names = database.prepare("SELECT name FROM animal ORDER BY id").unwrap();
    names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Adds an animal to the database in a directory.
fn add(directory: &WorkDir, name: &str) {
    let database = Connection::open(directory.path("animal-store.db")).unwrap();
    database.execute("INSERT INTO animal (name, category) VALUES (?1, 1)", [name]).unwrap();
}

/// Returns the path of the replaced database in the output of `restore`.
fn kept(output: &str) -> &str {
    output.trim_end().rsplit_once(" is in ").expect(output).1
}

#[tokio::test]
async fn a_backup_replaces_the_database_of_a_killed_service() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory.serve(&[]).await;
    service.add(&key, 3).await;
    let before = service.all(&key).await;
    directory.run(&["backup", "kept.db"]).await.success();
    service.add(&key, 2).await;
    let line =
        directory.run_with(&["restore", "kept.db"], &[("ANIMAL_STORE_LOCK_TIMEOUT", "1ms")]).await.failure();
    assert!(line.contains("is locked by another process; stop that process"), "{line}");
    service.signal(rustix::process::Signal::KILL);
    service.exit().await;
    assert!(fs::metadata(directory.path("animal-store.db-wal")).unwrap().len() > 0);

    let output = directory.run(&["restore", "kept.db"]).await.success();
    assert!(
        output.starts_with("restored kept.db to animal-store.db, animals: ")
            && output.contains("; the database before it"),
        "{output}"
    );
    assert_eq!(animals(&directory.path(kept(&output))).len(), 5);
    let restored = directory.serve(&[]).await;
    assert_eq!(restored.all(&key).await, before);
    assert_eq!(restored.add(&key, 1).await, [6], "an identifier was used twice");
}

#[tokio::test]
async fn a_restored_key_stays_revoked_and_expired() {
    let directory = WorkDir::new();
    let list = async || directory.run(&["key", "list"]).await.success();
    for name in ["kept", "revoked", "rotated"] {
        directory.run(&["key", "create", name]).await.success();
    }
    directory.run(&["backup", "kept.db"]).await.success();
    let keys = list().await;
    let id = |row: usize| keys.lines().nth(row).unwrap().split(' ').next().unwrap();
    directory.run(&["key", "revoke", id(2)]).await.success();
    directory.run(&["key", "rotate", id(3)]).await.success();
    let before = list().await;
    directory.run(&["restore", "kept.db"]).await.success();
    // All but the key that was created by the rotation.
    let expected: Vec<_> = before.lines().take(4).collect();
    assert_eq!(list().await.lines().collect::<Vec<_>>(), expected);
    assert!(expected[1].contains(" valid ") && expected[2].contains(" revoked "), "{before}");
    assert_ne!(keys.lines().nth(3), Some(expected[3]), "the rotated key does not expire");
}

#[tokio::test]
async fn a_missing_database_is_restored_unless_its_log_is_left() {
    let directory = WorkDir::new();
    directory.key().await;
    add(&directory, "Rex");
    directory.run(&["backup", "kept.db"]).await.success();
    fs::remove_file(directory.path("animal-store.db")).unwrap();
    let log = directory.write("animal-store.db-wal", "frames");
    let line = directory.run(&["restore", "kept.db"]).await.failure();
    assert!(
        line.contains("animal-store.db-wal is the WAL of a database that is missing; put that back"),
        "{line}"
    );
    fs::remove_file(log).unwrap();
    let output = directory.run(&["restore", "kept.db"]).await.success();
    assert_eq!(output, "restored kept.db to animal-store.db, animals: 1\n");
    assert_eq!(animals(&directory.path("animal-store.db")), ["Rex"]);
}

#[tokio::test]
async fn what_cannot_be_restored_changes_nothing() {
    let directory = WorkDir::new();
    directory.key().await;
    for number in 0..1000 {
        add(&directory, &format!("{number} {}", "x".repeat(200)));
    }
    directory.run(&["backup", "kept.db"]).await.success();
    let backup = fs::read(directory.path("kept.db")).unwrap();
    directory.write("cut.db", &backup[..backup.len() / 2]);
    let mut flipped = backup.clone();
    flipped[backup.len() / 2..backup.len() / 2 + 4096].fill(0xff);
    directory.write("flipped.db", &flipped);
    directory.write("notes.db", "a text that is longer than the header of an SQLite file".repeat(2));
    Connection::open(directory.path("other.db")).unwrap().execute_batch("CREATE TABLE other (id)").unwrap();
    let before = directory.files();
    for (file, problem) in [
        ("missing.db", "missing.db does not exist"),
        ("cut.db", "cut.db is damaged"),
        ("flipped.db", "flipped.db is damaged"),
        ("notes.db", "notes.db is not an SQLite database"),
        ("other.db", "other.db is an SQLite database of another program"),
    ] {
        let line = directory.run(&["restore", file]).await.failure();
        assert!(line.contains(problem), "{line}");
        assert!(directory.files() == before, "{file} changed something");
    }
    let line = directory.run(&["restore", "x.db", "--database", "postgres://u:sesame@h/d"]).await.failure();
    assert!(line.contains("pg_restore") && !line.contains("sesame"), "{line}");
}

#[tokio::test]
async fn a_damaged_database_is_moved_away_before_a_restore() {
    let directory = WorkDir::new();
    directory.key().await;
    add(&directory, "Rex");
    directory.run(&["backup", "kept.db"]).await.success();
    let database = directory.path("animal-store.db");
    let mut bytes = fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0xff);
    fs::write(&database, &bytes).unwrap();
    let before = directory.files();
    for command in ["restore", "backup"] {
        let file = if command == "restore" { "kept.db" } else { "new.db" };
        let line = directory.run(&[command, file]).await.failure();
        let advice = "move it and the files that end with -wal and -shm away and restore an intact backup";
        assert!(line.contains("animal-store.db is damaged") && line.contains(advice), "{line}");
        assert!(directory.files() == before, "{command} changed something");
    }
    fs::rename(&database, directory.path("damaged.db")).unwrap();
    directory.run(&["restore", "kept.db"]).await.success();
    assert_eq!(animals(&database), ["Rex"]);
}

#[tokio::test]
async fn a_hostile_schema_is_not_restored() {
    let directory = WorkDir::new();
    directory.key().await;
    directory.run(&["backup", "kept.db"]).await.success();
    let before = fs::read(directory.path("animal-store.db")).unwrap();
    for (statement, problem) in [
        (
            "CREATE TRIGGER back AFTER UPDATE ON api_key WHEN new.revoked IS NOT NULL
             BEGIN UPDATE api_key SET revoked = NULL WHERE id = new.id; END",
            "has a trigger `back`",
        ),
        ("DROP TABLE secret", "has no table `secret`"),
        ("ALTER TABLE api_key RENAME COLUMN revoked TO gone", "has another table `api_key`"),
        ("DROP TABLE api_key; CREATE VIEW api_key AS SELECT 1 AS id", "has no table `api_key`"),
        ("DROP INDEX idempotency_key_by_age", "has no index `idempotency_key_by_age`"),
    ] {
        fs::copy(directory.path("kept.db"), directory.path("hostile.db")).unwrap();
        let hostile = Connection::open(directory.path("hostile.db")).unwrap();
        hostile.execute_batch(statement).unwrap();
        drop(hostile);
        let line = directory.run(&["restore", "hostile.db"]).await.failure();
        assert!(line.contains("hostile.db ") && line.contains(problem), "{line}");
        assert!(fs::read(directory.path("animal-store.db")).unwrap() == before, "{statement} was restored");
        fs::remove_file(directory.path("hostile.db")).unwrap();
    }
    // What an operator may add to find animals faster, or a tool for replication.
    let kept = Connection::open(directory.path("kept.db")).unwrap();
    let more = "CREATE INDEX by_name ON animal (name); CREATE TABLE _litestream_seq (id INTEGER); ANALYZE";
    kept.execute_batch(more).unwrap();
    drop(kept);
    directory.run(&["restore", "kept.db"]).await.success();
    directory.serve(&[]).await.stop().await;
}

/// Kills the program at the first, the sixth, ... write until it is not killed any more.
#[tokio::test]
async fn a_killed_restore_leaves_the_database_or_the_backup() {
    if !kit::is_installed("strace", "strace") {
        return;
    }
    let directory = WorkDir::new();
    directory.key().await;
    add(&directory, "in the backup");
    directory.run(&["backup", "kept.db"]).await.success();
    add(&directory, "since");
    let database = directory.path("animal-store.db");
    let (old, new) = (animals(&database), animals(&directory.path("kept.db")));
    for write in (1..).step_by(5) {
        let kill = format!("pwrite64:signal=KILL:when={write}");
        let ran =
            directory.run_changed(&["restore", "kept.db"], |command| with_failing_calls(command, &[&kill]));
        let is_complete = ran.await.code == Some(0);
        let found = animals(&database);
        assert!(found == new || !is_complete && found == old, "killed at write {write}: {found:?}");
        if is_complete {
            assert!(write > 1, "no restore was killed");
            // A restore removes the temporary files of killed ones.
            let names = directory.names();
            let names: Vec<_> =
                names.iter().map(|name| name.file_name().unwrap().to_string_lossy()).collect();
            let is_expected = |name: &str| {
                let kept = name.starts_with("animal-store.db.replaced-") && name.ends_with('Z');
                kept || ["animal-store.db", "animal-store.db-wal", "animal-store.db-shm", "kept.db"]
                    .contains(&name)
            };
            assert!(names.iter().all(|name| is_expected(name)), "{names:?}");
            break;
        }
    }
}
