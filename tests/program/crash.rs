//! `kill -9` under load: acknowledged animals are stored unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Notify;

use kit::program::{Program, WorkDir, patient};

const WRITERS: usize = 16;
const ACKNOWLEDGED: usize = 1000;

#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    acknowledged: Mutex<Vec<Value>>,
    enough: Notify,
}

/// Adds animals with unique names until the service is gone.
async fn write(load: &Load, service: &Program, key: &str) {
    loop {
        let number = load.sent.fetch_add(1, Ordering::Relaxed);
        let mut pet = json!({ "name": format!("animal {number} 🦊"), "categoryId": number });
        if let Some(status) = ["available", "pending", "sold"].get(number % 4) {
            pet["status"] = json!(status);
        }
        let Ok(response) = service.request(Method::POST, key, "/v1/pets").json(&pet).send().await else {
            return;
        };
        assert_eq!(response.status(), 201);
        let Ok(added) = response.json::<Value>().await else { return };
        let acknowledged = {
            let mut acknowledged = load.acknowledged.lock().unwrap();
            acknowledged.push(added);
            acknowledged.len()
        };
        if acknowledged == ACKNOWLEDGED {
            load.enough.notify_one();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_acknowledged_inserts_survive_kill_9_under_load() {
    let directory = WorkDir::new();
    let key = directory.key().await;
    let mut service = directory.serve_with(&[], patient).await;
    let load = Load::default();
    let writers = join_all((0..WRITERS).map(|_| write(&load, &service, &key)));
    let killer = async {
        load.enough.notified().await;
        service.signal(Signal::KILL);
    };
    tokio::join!(writers, killer);
    assert_eq!(service.exit().await.0, None, "the service exited before it was killed");
    let acknowledged = load.acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= ACKNOWLEDGED);

    let service = directory.serve_with(&[], patient).await;
    let all = service.all(&key).await;
    let found: BTreeMap<i64, &Value> = all.iter().map(|pet| (pet["id"].as_i64().unwrap(), pet)).collect();
    assert_eq!(found.len(), all.len(), "an identifier was used twice");
    for pet in &acknowledged {
        let id = pet["id"].as_i64().unwrap();
        assert_eq!(found.get(&id), Some(&pet), "acknowledged, but lost or changed");
    }
    // Other animals may be stored: at most one per writer was sent but not acknowledged.
    let names: BTreeSet<_> = all.iter().map(|pet| pet["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), all.len(), "an animal was stored twice");
    assert!(all.len() <= acknowledged.len() + WRITERS, "{} of {}", all.len(), acknowledged.len());

    let newest = *found.last_key_value().unwrap().0;
    assert!(service.add(&key, 1).await[0] > newest, "an identifier was reused");
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
