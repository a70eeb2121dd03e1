//! The files of an SQLite database are moved, removed, linked or mounted by others.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use kit::program::{Program, WorkDir, program};
use kit::{Need, skip};
use rustix::process::Signal;
use serde_json::json;

const DATABASE: &str = "animal-store.db";

/// Changes one of the files beside the database of a running service. It answers with 503 until it is restarted, commands
/// refuse to write, and the restart has all that was acknowledged.
async fn is_noticed(suffix: &str, change: impl Fn(&WorkDir, &str)) {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let added = service.add(&key, 3).await;
    let name = format!("{DATABASE}{suffix}");
    change(&directory, &name);

    service.wait_for_unreadiness(&format!("its file {name} was replaced or removed")).await;
    let pet = json!({ "name": "Rex", "categoryId": 3 });
    let message = service.post(&key, &pet).await.expect_error(503, "unavailable");
    assert!(!message.contains(DATABASE), "{message}");
    for command in [&["key", "create", "shop"][..], &["key", "revoke", "key_1"], &["backup", "copy.db"]] {
        let line = directory.run(command).await.failure();
        let process = format!("is in use by process {}, ", service.pid().as_raw_nonzero());
        assert!(line.contains(&process), "{command:?}: {line}");
    }
    service.wait_for_log("restart the service").await;
    service.stop().await;

    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let stored: Vec<_> = service.all(&key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert_eq!(stored, added);
    service.wait_for_readiness(200).await;
    assert_eq!(service.add(&key, 1).await.len(), 1);
    service.stop().await;
}

fn remove(directory: &WorkDir, name: &str) {
    fs::remove_file(directory.path(name)).unwrap();
}

fn replace(directory: &WorkDir, name: &str) {
    fs::rename(directory.path(name), directory.path("aside")).unwrap();
    fs::copy(directory.path("aside"), directory.path(name)).unwrap();
}

#[tokio::test]
async fn a_removed_wal() {
    is_noticed("-wal", remove).await;
}

#[tokio::test]
async fn a_replaced_wal() {
    is_noticed("-wal", replace).await;
}

#[tokio::test]
async fn a_removed_index() {
    is_noticed("-shm", remove).await;
}

#[tokio::test]
async fn a_replaced_index() {
    is_noticed("-shm", replace).await;
}

/// Moves the database of a running service away.
async fn moved() -> (WorkDir, Program, String, Vec<i64>) {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    let added = service.add(&key, 3).await;
    fs::rename(directory.path(DATABASE), directory.path("moved.db")).unwrap();
    let why = format!("its file {DATABASE} was replaced or removed; put it back, then restart the service");
    service.wait_for_unreadiness(&why).await;
    (directory, service, key, added)
}

/// Puts the database back, and checks that everything is there.
async fn is_complete(directory: &WorkDir, key: &str, added: &[i64]) {
    fs::rename(directory.path("moved.db"), directory.path(DATABASE)).unwrap();
    let service = directory.serve(&[]).await;
    let stored: Vec<_> = service.all(key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
    assert_eq!(stored, added);
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_stops_completes_a_database_that_was_moved() {
    let (directory, service, key, added) = moved().await;
    service.stop().await;
    // Without the WAL.
    let elsewhere = WorkDir::new();
    fs::rename(directory.path("moved.db"), elsewhere.path("moved.db")).unwrap();
    is_complete(&elsewhere, &key, &added).await;
}

/// SQLite would remove the WAL.
#[tokio::test]
async fn no_database_is_created_beside_a_wal() {
    let (directory, mut service, key, added) = moved().await;
    service.signal(Signal::KILL);
    service.exit().await;
    directory.run(&["key", "create", "shop", "--database", "sqlite:backup.db"]).await.success();
    let refused = async || {
        for command in [&["serve"][..], &["key", "create", "shop"]] {
            let line = directory.run(command).await.failure();
            assert!(line.contains("is missing, and its WAL (-wal) has what was not copied"), "{line}");
        }
    };
    refused().await;
    let line = directory.run(&["restore", "backup.db"]).await.failure();
    assert!(line.contains("animal-store.db-wal is the WAL of a database that is missing"), "{line}");
    // As `touch` makes it.
    fs::write(directory.path(DATABASE), "").unwrap();
    refused().await;
    is_complete(&directory, &key, &added).await;
}

/// It would be read with the WAL of the other one.
#[tokio::test]
async fn a_database_in_the_place_of_another_one_in_use_is_refused() {
    let (directory, service, key, added) = moved().await;
    directory.run(&["key", "create", "shop", "--database", "sqlite:other.db"]).await.success();
    fs::copy(directory.path("other.db"), directory.path(DATABASE)).unwrap();
    for command in [&["serve", "--bind", "127.0.0.1:0"][..], &["key", "list"], &["backup", "copy.db"]] {
        let line = directory.run(command).await.failure();
        let process = format!("is not the database of process {}, ", service.pid().as_raw_nonzero());
        assert!(line.contains(&process), "{command:?}: {line}");
    }
    service.stop().await;
    // The other one is as it was, and the first one complete.
    assert_eq!(fs::read(directory.path(DATABASE)).unwrap(), fs::read(directory.path("other.db")).unwrap());
    is_complete(&directory, &key, &added).await;
}

#[tokio::test]
async fn the_files_beside_the_target_of_a_symbolic_link_are_those_of_the_database() {
    let directory = WorkDir::new();
    fs::create_dir(directory.path("disk")).unwrap();
    symlink("disk/animals.db", directory.path(DATABASE)).unwrap();
    let created = directory.run(&["key", "create", "shop", "--database", "sqlite:disk/animals.db"]).await;
    let key = created.success().trim_end().to_owned();
    let service = directory.serve(&["--ops-bind", "127.0.0.1:0"]).await;
    service.add(&key, 1).await;
    directory.run(&["key", "create", "other"]).await.success();
    service.wait_for_readiness(200).await;
    fs::remove_file(directory.path("disk/animals.db-wal")).unwrap();
    service.wait_for_unreadiness("its file animals.db-wal was replaced or removed").await;
    service.stop().await;
}

#[tokio::test]
async fn a_file_with_two_names_is_refused() {
    let directory = WorkDir::new();
    directory.key().await;
    fs::hard_link(directory.path(DATABASE), directory.path("same.db")).unwrap();
    for command in [&["serve"][..], &["key", "list"], &["backup", "copy.db"]] {
        let line = directory.run(command).await.failure();
        assert!(line.contains("has 2 names (hard links); remove the others, or use a copy"), "{line}");
    }
    fs::remove_file(directory.path("same.db")).unwrap();
    directory.run(&["key", "list"]).await.success();
}

#[tokio::test]
async fn a_file_that_is_mounted_by_itself_is_refused() {
    let directory = WorkDir::new();
    directory.key().await;
    fs::write(directory.path("mounted.db"), "").unwrap();
    let namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(program());
        command.current_dir(directory.path("")).output().unwrap()
    };
    let mount = format!("mount --bind {DATABASE} mounted.db");
    if !kit::is_installed("unshare", "util-linux") {
        return;
    }
    let mounted = namespace(&mount);
    if !mounted.status.success() {
        return skip(Need::Tool, &format!("a mount fails: {}", String::from_utf8_lossy(&mounted.stderr)));
    }
    let output = namespace(&format!("{mount} && \"$0\" key list --database sqlite:mounted.db"));
    let line = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{line}");
    assert!(
        line.contains("mounted.db is mounted by itself") && line.contains("mount its directory"),
        "{line}"
    );
}

#[tokio::test]
async fn an_empty_file_is_reported_as_a_new_database() {
    let directory = WorkDir::new();
    directory.write("animal-store.db", "");
    let service = directory.serve(&[]).await;
    service.wait_for_log("created a new database").await;
    service.stop().await;
}
