//! The files of an SQLite database are moved, removed, linked or mounted by others.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use kit::program::{WorkDir, program};
use kit::{Need, skip};
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
    assert!(service.log().contains("restart the service"), "{}", service.log());
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
