//! Restarts, also after `kill -9`, and several processes on one database.

use rustix::process::Signal;
use serde_json::json;

use kit::program::{WorkDir, patient};

#[tokio::test]
async fn animals_and_keys_survive_a_restart() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&[], patient).await;
    let pet = json!({ "name": "Réx 🦊", "categoryId": i64::MIN, "status": "sold" });
    let pet = service.post(&key, &pet).await.expect(201);
    service.stop().await;
    let service = directory.serve_with(&[], patient).await;
    assert_eq!(service.all(&key).await, [pet]);
}

#[tokio::test]
async fn a_cursor_survives_a_restart() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&[], patient).await;
    let added = service.add(&key, 3).await;
    let page = service.get(&key, "/v1/pets?limit=2").await;
    let target =
        page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
    service.stop().await;
    let service = directory.serve_with(&[], patient).await;
    let last = service.get(&key, &target).await.expect(200);
    assert_eq!(last[0]["id"], added[2]);
}

#[tokio::test]
async fn identifiers_keep_ascending_after_a_restart() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&[], patient).await;
    let before = service.add(&key, 3).await;
    service.stop().await;
    let service = directory.serve_with(&[], patient).await;
    let after = service.add(&key, 3).await;
    assert!(before.last() < after.first() && after.is_sorted(), "{before:?} {after:?}");
}

#[tokio::test]
async fn keys_stay_valid_and_revoked_keys_stay_invalid_after_kill_9() {
    let directory = WorkDir::new();
    let (valid, revoked) = (directory.key().await, directory.key().await);
    let list = directory.run(&["key", "list"]).await.success();
    let ids: Vec<_> = list.lines().skip(1).map(|line| line.split_whitespace().next().unwrap()).collect();
    let mut service = directory.serve_with(&[], patient).await;
    let (first, second) = (service.get(&valid, "/v1/pets").await, service.get(&revoked, "/v1/pets").await);
    assert_eq!((first.status, second.status), (200, 200));
    directory.run_changed(&["key", "revoke", ids[1]], patient).await.success();
    service.signal(Signal::KILL);
    service.exit().await;

    let service = directory.serve_with(&[], patient).await;
    let mut statuses =
        [service.get(&valid, "/v1/pets").await.status, service.get(&revoked, "/v1/pets").await.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
}

#[tokio::test]
async fn two_services_on_one_database_see_each_others_animals_and_cursors() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let (one, two) = (directory.serve_with(&[], patient).await, directory.serve_with(&[], patient).await);
    let added = [one.add(&key, 2).await, two.add(&key, 2).await].concat();
    for service in [&one, &two] {
        let found: Vec<_> = service.all(&key).await.iter().map(|pet| pet["id"].as_i64().unwrap()).collect();
        assert_eq!(found, added);
    }
    let page = one.get(&key, "/v1/pets?limit=3").await;
    let target = page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0;
    assert_eq!(two.get(&key, target).await.expect(200)[0]["id"], added[3]);
}

#[tokio::test]
async fn two_services_may_start_concurrently_on_a_new_database() {
    let directory = WorkDir::new();
    let (one, two) = tokio::join!(directory.serve_with(&[], patient), directory.serve_with(&[], patient));
    let key = directory.key().await;
    assert_eq!(one.add(&key, 1).await.len() + two.add(&key, 1).await.len(), 2);
    assert_eq!(one.all(&key).await, two.all(&key).await);
}

#[tokio::test]
async fn only_the_owner_can_read_the_database() {
    use std::os::unix::fs::PermissionsExt;
    let directory = WorkDir::new();
    let key = directory.key().await;
    let service = directory.serve_with(&[], patient).await;
    service.add(&key, 1).await;
    for (path, _) in directory.files() {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}
