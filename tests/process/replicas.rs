//! Three replicas on one PostgreSQL database: mixed load over all, one killed, and nothing lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::future::join_all;
use reqwest::Method;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::postgres_cluster::{self, Cluster};
use crate::program::{Place, Program};

const WRITERS: usize = 24;
const BEFORE: usize = 600;
const AFTER: usize = 600;

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
            Ok(answer) => {
                // The server of a busy machine may not do it in time; it may be done all the same.
                assert_eq!(answer.status(), 503);
                load.failed.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            Err(_) => None,
        };
        let Some(added) = added else {
            load.failed.fetch_add(1, Ordering::Relaxed);
            alive.remove(replica);
            continue;
        };
        // What one has acknowledged, another one has, and a third lists animals meanwhile.
        let other = alive[(replica + 1) % alive.len()];
        let target = format!("/v1/pets/{}", added["id"]);
        match other.request(Method::GET, key, &target).send().await {
            Ok(answer) if answer.status() == 503 => {}
            Ok(answer) => assert_eq!(answer.json::<Value>().await.ok().as_ref(), Some(&added)),
            Err(_) => alive.retain(|replica| !std::ptr::eq(*replica, other)),
        }
        let third = alive[(replica + 2) % alive.len()];
        match third.request(Method::GET, key, "/v1/pets?status=sold&limit=5").send().await {
            Ok(answer) => assert!([200, 503].contains(&answer.status().as_u16()), "{}", answer.status()),
            Err(_) => alive.retain(|replica| !std::ptr::eq(*replica, third)),
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
async fn keys_made_and_revoked_are_honoured_and_refused_by_all() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let place = Place::new();
    let replicas = [place.serve(&database).await, place.serve(&database).await, place.serve(&database).await];
    let create = [&["key", "create", "tests"], &*database].concat();
    let (kept, revoked) = (place.run(&create).await.printed(), place.run(&create).await.printed());
    let (kept, revoked) = (kept.trim_end(), revoked.trim_end());
    for replica in &replicas {
        replica.get(revoked, "/v1/pets").await.expect(200);
        replica.get(kept, "/v1/pets").await.expect(200);
    }

    let list = place.run(&[&["key", "list"], &*database].concat()).await.printed();
    let id = list.lines().nth(2).unwrap().split_whitespace().next().unwrap();
    place.run(&[&["key", "revoke", id], &*database].concat()).await.printed();
    // How soon is measured with a clock that the test moves, in `../store/postgres/replicas.rs`.
    let refused = join_all(replicas.iter().map(|replica| replica.until(401, revoked))).await;
    println!("refused by all three {:.1?} after the revocation", refused.iter().max().unwrap());
    // For good, and no other key with it.
    for replica in &replicas {
        replica.get(revoked, "/v1/pets").await.refused(401, "unauthorized");
        replica.get(kept, "/v1/pets").await.expect(200);
    }

    // Of two keys that replace each other, both are good everywhere.
    let rotate =
        [&["key", "rotate", list.lines().nth(1).unwrap().split_whitespace().next().unwrap()], &*database];
    let new = place.run(&rotate.concat()).await.printed();
    for replica in replicas {
        replica.get(new.trim_end(), "/v1/pets").await.expect(200);
        replica.get(kept, "/v1/pets").await.expect(200);
        replica.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cursor_is_good_at_every_replica() {
    let Some(database) = database().await else { return };
    let database: Vec<&str> = database.iter().map(String::as_str).collect();
    let place = Place::new();
    let replicas = [place.serve(&database).await, place.serve(&database).await, place.serve(&database).await];
    let key = place.run(&[&["key", "create", "tests"], &*database].concat()).await.printed();
    let key = key.trim_end();
    let mut added = Vec::new();
    for replica in &replicas {
        added.extend(replica.add(key, 5).await);
    }
    added.sort_unstable();
    let (mut found, mut target) = (Vec::new(), Some("/v1/pets?limit=2".to_owned()));
    for replica in replicas.iter().cycle() {
        let Some(page) = target else { break };
        let page = replica.get(key, &page).await;
        found.extend(page.expect(200).as_array().unwrap().iter().map(|pet| pet["id"].as_i64().unwrap()));
        let next = page.header("link").and_then(|link| link.strip_prefix('<')?.split_once('>'));
        target = next.map(|(target, _)| target.to_owned());
    }
    assert_eq!(found, added);
}
