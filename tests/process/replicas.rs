//! Three replicas on one PostgreSQL database: mixed load over all, one killed, and nothing lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::postgres_cluster::{self, Cluster};
use crate::program::{Place, Program};

const WRITERS: usize = 12;
const BEFORE: usize = 300;
const AFTER: usize = 300;

/// The arguments that give a fresh database. `None` where there is no server.
async fn database() -> Option<[String; 2]> {
    let cluster: &Cluster = postgres_cluster::shared()?;
    Some(["--database".to_owned(), cluster.url(&cluster.database("").await)])
}

#[derive(Default)]
struct Load {
    sent: AtomicUsize,
    failed: AtomicUsize,
    is_over: AtomicBool,
    acknowledged: Mutex<Vec<Value>>,
    more: Notify,
}

impl Load {
    fn acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    async fn reaches(&self, count: usize) {
        while self.acknowledged() < count {
            self.more.notified().await;
        }
    }
}

/// Adds and reads at the replicas in turn; one that does not answer is left out from then on.
async fn work(load: &Load, replicas: &[Program; 3], first: usize, key: &str) {
    let mut alive: Vec<&Program> = replicas.iter().collect();
    for turn in first.. {
        if load.is_over.load(Ordering::Relaxed) {
            return;
        }
        let replica = turn % alive.len();
        let number = load.sent.fetch_add(1, Ordering::Relaxed);
        let pet = json!({ "name": format!("animal {number}"), "categoryId": number });
        let added = alive[replica].request(Method::POST, key, "/v1/pets").json(&pet).send().await;
        let added = match added {
            Ok(answer) if answer.status() == 201 => answer.json::<Value>().await.ok(),
            Ok(answer) => panic!("answered {}", answer.status()),
            Err(_) => None,
        };
        let Some(added) = added else {
            load.failed.fetch_add(1, Ordering::Relaxed);
            alive.remove(replica);
            continue;
        };
        // What one has acknowledged, another one has.
        let other = alive[(replica + 1) % alive.len()];
        let target = format!("/v1/pets/{}", added["id"]);
        match other.request(Method::GET, key, &target).send().await {
            Ok(answer) => assert_eq!(answer.json::<Value>().await.ok().as_ref(), Some(&added)),
            Err(_) => alive.retain(|replica| !std::ptr::eq(*replica, other)),
        }
        load.acknowledged.lock().unwrap().push(added);
        load.more.notify_one();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_three_is_killed_under_load_and_nothing_is_lost() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let place = Place::new();
    // All make the tables at once.
    let (a, b, c) = tokio::join!(place.serve(&database), place.serve(&database), place.serve(&database));
    let mut replicas = [a, b, c];
    let create = [&["key", "create", "tests"], &*database].concat();
    let key = place.run(&create).await.printed().trim_end().to_owned();

    let load = Load::default();
    let workers = join_all((0..WRITERS).map(|first| work(&load, &replicas, first, &key)));
    let killer = async {
        load.reaches(BEFORE).await;
        replicas[2].signal(Signal::KILL);
        load.reaches(BEFORE + AFTER).await;
        load.is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(workers, killer);
    assert_eq!(replicas[2].exit().await.0, None, "it ended by itself");

    let all = replicas[0].all(&key).await;
    assert_eq!(all, replicas[1].all(&key).await);
    let found: BTreeMap<i64, &Value> = all.iter().map(|pet| (pet["id"].as_i64().unwrap(), pet)).collect();
    assert_eq!(found.len(), all.len(), "an identifier was given twice");
    let acknowledged = load.acknowledged.into_inner().unwrap();
    let (sent, failed) = (load.sent.into_inner(), load.failed.into_inner());
    println!("sent {sent}, acknowledged {}, found {}, cut off {failed}", acknowledged.len(), all.len());
    assert_eq!(sent, acknowledged.len() + failed);
    for pet in &acknowledged {
        assert_eq!(found.get(&pet["id"].as_i64().unwrap()), Some(&pet), "acknowledged, and lost or changed");
    }
    let names: BTreeSet<_> = all.iter().map(|pet| pet["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), all.len(), "an animal was stored twice");
    assert!(all.len() <= acknowledged.len() + failed, "{} of {sent}", all.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_and_cursors_are_good_at_every_replica() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let place = Place::new();
    let (here, there) = (place.serve(&database).await, place.serve(&database).await);
    let create = [&["key", "create", "tests"], &*database].concat();
    let (kept, revoked) = (place.run(&create).await.printed(), place.run(&create).await.printed());
    let (kept, revoked) = (kept.trim_end(), revoked.trim_end());
    let added = here.add(kept, 3).await;
    let page = here.get(kept, "/v1/pets?limit=2").await;
    let target =
        page.header("link").unwrap().strip_prefix('<').unwrap().split_once('>').unwrap().0.to_owned();
    assert_eq!(there.get(kept, &target).await.expect(200)[0]["id"], added[2]);

    for replica in [&here, &there] {
        replica.get(revoked, "/v1/pets").await.expect(200);
    }
    let list = place.run(&[&["key", "list"], &*database].concat()).await.printed();
    let id = list.lines().nth(2).unwrap().split_whitespace().next().unwrap();
    place.run(&[&["key", "revoke", id], &*database].concat()).await.printed();
    let start = Instant::now();
    for replica in [&here, &there] {
        replica.until(401, revoked).await;
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    here.stop().await;
    there.stop().await;
}
